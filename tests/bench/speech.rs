//! What dictation costs, one figure a line: `name value unit`.
//!
//! `cargo bench --bench speech` runs all, `cargo bench --bench speech -- joint` those whose name holds the word. Times
//! are the best of several runs on two threads; CPU seconds are of all threads together. The weights of Parakeet are
//! random numbers in the shape of the 0.6B models: nothing that is measured depends on what they are.
//!
//! | variable | what it adds |
//! |---|---|
//! | `MYNAH_TEST_WHISPER` | a folder with Whisper tiny.en: its time, whether rounded weights hear the same, and the whole program |
//! | `MYNAH_BENCH_PYTHON` | a Python for the two below |
//! | `MYNAH_BENCH_ONNX` | a folder with `encoder.onnx` and `encoder.int8.onnx` of the same shape: ONNX Runtime beside us |
//! | `MYNAH_BENCH_CT2` | a folder with tiny.en for CTranslate2 (faster-whisper): the same for Whisper |

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench fails by stopping and tells by printing"
)]

mod figures;
mod goals;
#[path = "speech/program.rs"]
mod program;

use candle_core::Tensor;
use figures::{Bench, tell};
use goals::Goals;
use mynah::dictation::log_mel::parakeet::{FrontEnd, FrontEndConfig};
use mynah::dictation::nn::int8::Int8Matrix;
use mynah::dictation::nn::{Linear, Threads};
use mynah::dictation::parakeet::Parakeet;
use mynah::dictation::parakeet::config::{Config, EncoderConfig, HeadConfig, TransducerConfig};
use mynah::dictation::parakeet::encoder::Encoder;
use mynah::dictation::parakeet::joint::Joint;
use mynah::dictation::parakeet::prediction::Prediction;
use mynah::dictation::parakeet::tokenizer::Tokenizer;
use mynah::dictation::transcriber::{Ask, Cancel, Transcriber};
use mynah::dictation::vad::{FRAME, Vad};
use mynah::dictation::weights::random::RandomWeights;
use mynah::dictation::weights::{Make, ModelError, Weights};
use mynah::dictation::whisper;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

static GOALS: Goals = Goals::new();

const BENCHES: &[Bench] = &[
    ("linear", linear),
    ("log_mel", log_mel),
    ("vad", vad),
    ("transducer", transducer),
    ("encoder_int8", || encoder("int8")),
    ("encoder_f32", || encoder("f32")),
    ("parakeet_int8", || parakeet("int8", 0.15)),
    // Not the default, and decoding is bound by memory: each of so many symbols reads 47 MB of weights.
    ("parakeet_f32", || parakeet("f32", 0.6)),
    ("whisper", whisper_tiny),
    ("program_stop_to_text", || program::stop_to_text(sentence_seconds())),
    ("program_keys_while_decoding", program::keys_while_decoding),
    ("program_while_speaking", program::while_speaking),
    ("program_memory_after_unload", program::memory_after_unload),
];

/// Seconds of sound.
const LENGTH: usize = 10;
const THREADS: usize = 2;
const WEIGHTS: RandomWeights = RandomWeights { seed: 1, has_biases: false };

fn main() -> ExitCode {
    figures::run(BENCHES);
    GOALS.verdict()
}

/// Wall and CPU seconds, each the least of some runs.
fn best(runs: usize, mut work: impl FnMut()) -> (f64, f64) {
    work();
    (0..runs).fold((f64::MAX, f64::MAX), |(wall, cpu), _run| {
        let (begun, before) = (Instant::now(), cpu_seconds());
        work();
        (wall.min(begun.elapsed().as_secs_f64()), cpu.min(cpu_seconds() - before))
    })
}

/// CPU seconds of this process, in steps of 10 ms; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// A figure that the system tells of a process's memory, in megabytes; 0 where it does not tell.
fn memory(process: &str, figure: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or_default()
        / 1000.0
}

fn noise(count: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(1);
    (0..count).map(|_| random.f32() - 0.5).collect()
}

fn threads() -> Threads {
    Threads::new(Some(THREADS)).expect("threads")
}

/// Rounds the layers of other weights.
struct Rounded<'a>(&'a dyn Weights);

impl Rounded<'_> {
    fn round(layer: &Linear) -> Result<Linear, ModelError> {
        let (weight, bias) = layer.numbers()?.expect("weights in F32");
        let (outputs, inputs) = weight.dims2()?;
        let values: Vec<f32> = weight.flatten_all()?.to_vec1()?;
        Ok(Linear::int8(Int8Matrix::pack(&values, inputs, outputs).expect("a whole matrix"), bias)?)
    }
}

impl Weights for Rounded<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        self.0.tensor(name, shape)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        Self::round(&self.0.linear(name, inputs, outputs)?)
    }

    fn made(&self, name: &str, inputs: usize, outputs: usize, make: &Make<'_>) -> Result<Linear, ModelError> {
        Self::round(&self.0.made(name, inputs, outputs, make)?)
    }

    fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }
}

/// The shape of Parakeet TDT 0.6B v3.
fn config() -> Config {
    Config {
        front_end: FrontEndConfig { mels: 128, ..FrontEndConfig::default() },
        encoder: EncoderConfig {
            mels: 128,
            hidden: 1024,
            layers: 24,
            heads: 8,
            intermediate: 4096,
            kernel: 9,
            subsampling: 8,
            subsampling_channels: 256,
            subsampling_kernel: 3,
            subsampling_stride: 2,
            scales_input: false,
        },
        head: HeadConfig::Transducer(head()),
    }
}

fn head() -> TransducerConfig {
    TransducerConfig {
        vocabulary: 8193,
        blank: 8192,
        hidden: 640,
        layers: 2,
        joint: 640,
        durations: vec![0, 1, 2, 3, 4],
        most_symbols: 10,
    }
}

/// A feed-forward layer of the encoder on ten seconds.
fn linear() {
    let rows = Tensor::from_vec(noise(126 * 1024), (126, 1024), &candle_core::Device::Cpu).expect("rows");
    let plain = WEIGHTS.linear("layer", 1024, 4096).expect("a layer");
    let rounded = Rounded::round(&plain).expect("a layer");
    let [plain, rounded] = [plain, rounded].map(|layer| {
        threads().run(|| best(20, || drop(black_box(layer.forward(&rows).expect("a product")))).0 * 1000.0)
    });
    tell("linear_f32", plain, "ms");
    tell("linear_int8", rounded, "ms");
    GOALS.judge("linear_int8_to_f32", rounded / plain, 0.75, "x");
}

fn log_mel() {
    let front_end = FrontEnd::new(config().front_end);
    let samples = noise(LENGTH * 16_000);
    let (wall, _cpu) = best(5, || drop(black_box(front_end.features(&samples).expect("features"))));
    GOALS.judge("log_mel_rtf", wall / LENGTH as f64, 0.01, "x");
}

fn vad() {
    let samples = noise(LENGTH * 16_000);
    let (wall, _cpu) = best(3, || {
        let mut vad = Vad::default();
        black_box(samples.chunks(FRAME).filter(|frame| vad.judge(frame)).count());
    });
    GOALS.judge("vad_rtf", wall / LENGTH as f64, 0.01, "x");
}

/// A step of the LSTM and a call of the joint network.
fn transducer() {
    let rounded = Rounded(&WEIGHTS);
    for (name, weights) in [("f32", &WEIGHTS as &dyn Weights), ("int8", &rounded)] {
        let prediction = Prediction::new(weights, &head()).expect("a network");
        let joint = Joint::new(weights, &head(), 1024).expect("a network");
        let (frame, mut state) = (noise(640), prediction.start());
        threads().run(|| {
            let (step, _cpu) = best(50, || {
                black_box(prediction.step(&mut state, 7).expect("a step"));
            });
            // In F32 both are bound by memory: 26 and 21 MB are read for each.
            let (step_goal, call_goal) = if name == "f32" { (3.0, 2.5) } else { (0.5, 0.3) };
            GOALS.judge(&format!("lstm_step_{name}"), step * 1000.0, step_goal, "ms");
            let (call, _cpu) = best(50, || {
                black_box(joint.scores(&frame, &frame).expect("scores"));
            });
            GOALS.judge(&format!("joint_call_{name}"), call * 1000.0, call_goal, "ms");
        });
    }
}

/// The encoder; ONNX Runtime's before and after it, so that neither gains by a quiet moment.
fn encoder(precision: &str) {
    let rounded = Rounded(&WEIGHTS);
    let weights: &dyn Weights = if precision == "int8" { &rounded } else { &WEIGHTS };
    let before = onnx(precision);
    let config = config().encoder;
    let mut encoder = Encoder::new(weights, &config).expect("an encoder");
    let frames = LENGTH * 100 + 1;
    let features = Tensor::from_vec(noise(frames * 128), (frames, 128), &candle_core::Device::Cpu);
    let (features, cancel) = (features.expect("features"), Cancel::default());
    let (wall, cpu) =
        threads().run(|| best(5, || drop(black_box(must(encoder.forward(&features, &cancel))))));
    drop(encoder);
    tell(&format!("encoder_{precision}_wall"), wall, "s");
    tell(&format!("encoder_{precision}_cpu"), cpu, "s");
    if let Some((before, after)) = before.zip(onnx(precision)) {
        let peer = before.min(after);
        tell(&format!("onnxruntime_{precision}_cpu"), peer, "s");
        GOALS.judge(&format!("encoder_{precision}_to_onnxruntime_cpu"), cpu / peer, 1.3, "x");
    }
}

/// The whole model. Of random weights it hears as many symbols as it may, ten times those of a person who talks.
fn parakeet(precision: &str, goal: f64) {
    let rounded = Rounded(&WEIGHTS);
    let weights: &dyn Weights = if precision == "int8" { &rounded } else { &WEIGHTS };
    let mut model = Parakeet::new(&config(), Tokenizer::from_vocabulary(""), weights).expect("a model");
    let (samples, ask) = (noise(LENGTH * 16_000), Ask::default());
    let (wall, cpu) = threads().run(|| best(5, || drop(black_box(must(model.transcribe(&samples, &ask))))));
    drop(model);
    tell(&format!("parakeet_{precision}_wall"), wall, "s");
    tell(&format!("parakeet_{precision}_cpu"), cpu, "s");
    tell(&format!("parakeet_{precision}_peak_memory"), memory("self", "VmHWM:"), "MB");
    GOALS.judge(&format!("parakeet_{precision}_rtf"), wall / LENGTH as f64, goal, "x");
}

/// Prints the least CPU seconds of five runs of an encoder: file, threads, frames.
const ONNX: &str = "
import sys, time, numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads = int(sys.argv[2]), 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
x = numpy.random.default_rng(1).standard_normal((1, int(sys.argv[3]), 128), dtype=numpy.float32)
def run():
    begun = time.process_time()
    session.run(None, {session.get_inputs()[0].name: x})
    return time.process_time() - begun
print(min(run() for _ in range(6)))
";

fn onnx(precision: &str) -> Option<f64> {
    let folder = PathBuf::from(std::env::var_os("MYNAH_BENCH_ONNX")?);
    let file = folder.join(if precision == "int8" { "encoder.int8.onnx" } else { "encoder.onnx" });
    python(ONNX, &file, &[&THREADS.to_string(), &(LENGTH * 100 + 1).to_string()])
}

/// What a script prints: one number.
fn python(script: &str, file: &Path, arguments: &[&str]) -> Option<f64> {
    let python = std::env::var_os("MYNAH_BENCH_PYTHON")?;
    let output = Command::new(python).args(["-c", script]).arg(file).args(arguments).output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.trim().parse().ok();
    if number.is_none() {
        eprintln!("the peer failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    number
}

const SENTENCE: &str = "Please open the file and rename the function.";

/// The sentence as a recording.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/speech/dictation.wav")
}

/// Whisper tiny.en and the sentence; nothing where no folder of it is named.
fn tiny() -> Option<(whisper::Files, Vec<f32>)> {
    let folder = std::env::var_os("MYNAH_TEST_WHISPER")?;
    let samples = samples(&std::fs::read(fixture()).expect("a recording"));
    let files = whisper::Files::find(Path::new(&folder)).ok().flatten().expect("a Whisper model");
    Some((files, samples))
}

/// How long the sentence is decoded, with rounded weights. 0 without a model.
fn sentence_seconds() -> f64 {
    let Some((files, samples)) = tiny() else { return 0.0 };
    let source = must(files.weights());
    let mut model = must(files.model(&Rounded(source.as_ref())));
    let ask = Ask::default();
    threads().run(|| best(3, || drop(must(model.transcribe(&samples, &ask))))).0
}

/// Whisper tiny.en on a sentence.
fn whisper_tiny() {
    let Some((files, samples)) = tiny() else {
        println!("whisper skipped: MYNAH_TEST_WHISPER names no folder");
        return;
    };
    let file = fixture();
    let source = must(files.weights());
    let rounded = Rounded(source.as_ref());
    let peer = std::env::var_os("MYNAH_BENCH_CT2").map(PathBuf::from);
    let peer = peer.and_then(|folder| python(CT2, &folder, &[&file.to_string_lossy(), &THREADS.to_string()]));
    for (name, weights) in [("f32", source.as_ref()), ("int8", &rounded)] {
        let mut model = must(files.model(weights));
        let (ask, mut text) = (Ask::default(), String::new());
        let (wall, cpu) = threads().run(|| best(5, || text = must(model.transcribe(&samples, &ask)).text));
        tell(&format!("whisper_{name}_wall"), wall, "s");
        tell(&format!("whisper_{name}_cpu"), cpu, "s");
        let wrong = if text == SENTENCE { 0.0 } else { 1.0 };
        GOALS.judge(&format!("whisper_{name}_wrong_sentences"), wrong, 0.0, "");
        if let Some(peer) = peer {
            GOALS.judge(&format!("whisper_{name}_to_ctranslate2_f32_cpu"), cpu / peer, 1.0, "x");
        }
    }
    if let Some(peer) = peer {
        tell("ctranslate2_f32_cpu", peer, "s");
    }
}

/// Prints the least CPU seconds of five runs of Whisper: folder, recording, threads.
const CT2: &str = "
import sys, time, wave, numpy
from faster_whisper import WhisperModel
model = WhisperModel(sys.argv[1], device='cpu', compute_type='float32', cpu_threads=int(sys.argv[3]))
sound = wave.open(sys.argv[2])
x = numpy.frombuffer(sound.readframes(sound.getnframes()), numpy.int16).astype(numpy.float32) / 32768
def run():
    begun = time.process_time()
    list(model.transcribe(x, language='en', beam_size=1, without_timestamps=True)[0])
    return time.process_time() - begun
print(min(run() for _ in range(6)))
";

/// Samples of a WAV file of 16-bit mono.
fn samples(file: &[u8]) -> Vec<f32> {
    let data = file.windows(4).position(|bytes| bytes == b"data").expect("samples");
    let bytes = file.get(data + 8..).unwrap_or_default();
    bytes.as_chunks().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes)) / 32_768.0).collect()
}

/// What must be there for the bench to mean anything. What was said has no `Debug`, so that `expect` is not to be had.
fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}
