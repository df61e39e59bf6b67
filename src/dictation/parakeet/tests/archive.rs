//! NeMo's archives, written here as NeMo and torch write them: a tar with YAML, a SentencePiece model, and a checkpoint
//! of a pickled table and stored numbers.

use super::*;
use std::io::{Cursor, Write};

const SETTINGS: &str = "
sample_rate: 16000
preprocessor:
  _target_: nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor
  sample_rate: ${sample_rate}
  normalize: per_feature
  window_size: 0.025
  window_stride: 0.01
  window: hann
  features: 128
  n_fft: 512
  dither: 1.0e-05
model_defaults:
  tdt_durations: [0, 1, 2, 3, 4]
  pred_hidden: 32
  joint_hidden: 32
encoder:
  feat_in: ${preprocessor.features}
  n_layers: 2
  d_model: 64
  use_bias: false
  subsampling: dw_striding
  subsampling_factor: 8
  subsampling_conv_channels: 16
  causal_downsampling: false
  ff_expansion_factor: 2
  self_attention_model: rel_pos
  n_heads: 4
  att_context_size: [-1, -1]
  xscaling: false
  untie_biases: true
  conv_kernel_size: 9
  conv_norm_type: batch_norm
decoder:
  blank_as_pad: true
  prednet: {pred_hidden: '${model_defaults.pred_hidden}', pred_rnn_layers: 2}
  vocab_size: 60
joint:
  jointnet: {joint_hidden: '${model_defaults.joint_hidden}', activation: relu}
  num_extra_outputs: 5
  num_classes: 60
decoding:
  durations: ${model_defaults.tdt_durations}
  greedy: {max_symbols: 10}
";

/// The program that makes Python build a table of tensors.
struct Pickle(Vec<u8>);

impl Pickle {
    fn text(&mut self, text: &str) {
        self.0.push(b'X');
        self.0.extend((text.len() as u32).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.0.push(b'J');
        self.0.extend((number as i32).to_le_bytes());
    }

    fn tuple(&mut self, numbers: &[usize]) {
        self.0.push(b'(');
        numbers.iter().for_each(|number| self.number(*number));
        self.0.push(b't');
    }

    fn class(&mut self, module: &str, name: &str) {
        self.0.extend(format!("c{module}\n{name}\n").into_bytes());
    }

    fn table(&mut self) {
        self.class("collections", "OrderedDict");
        self.0.extend(b")R");
    }

    fn tensor(&mut self, part: usize, shape: &[usize]) {
        let numbers: usize = shape.iter().product();
        self.class("torch._utils", "_rebuild_tensor_v2");
        self.0.extend(b"((");
        self.text("storage");
        self.class("torch", "FloatStorage");
        self.text(&part.to_string());
        self.text("cpu");
        self.number(numbers);
        self.0.extend(b"tQ");
        self.number(0);
        self.tuple(shape);
        let strides: Vec<usize> = (0..shape.len()).map(|at| shape[at + 1..].iter().product()).collect();
        self.tuple(&strides);
        self.0.push(0x89);
        self.table();
        self.0.extend(b"tR");
    }
}

fn theirs(name: &str) -> String {
    [
        ("encoder.subsampling.layers.", "encoder.pre_encode.conv."),
        ("encoder.subsampling.linear.", "encoder.pre_encode.out."),
        (".conv.norm.", ".conv.batch_norm."),
        (".q_proj.", ".linear_q."),
        (".relative_k_proj.", ".linear_pos."),
        (".k_proj.", ".linear_k."),
        (".v_proj.", ".linear_v."),
        (".o_proj.", ".linear_out."),
        (".bias_u", ".pos_bias_u"),
        (".bias_v", ".pos_bias_v"),
        ("decoder.embedding.", "decoder.prediction.embed."),
        ("decoder.lstm.", "decoder.prediction.dec_rnn.lstm."),
        ("decoder.decoder_projector.", "joint.pred."),
        ("encoder_projector.", "joint.enc."),
        ("joint.head.", "joint.joint_net.2."),
    ]
    .iter()
    .fold(name.to_owned(), |name, (ours, theirs)| name.replace(ours, theirs))
}

fn checkpoint() -> Vec<u8> {
    let tensors =
        candle_core::safetensors::load(folder("parakeet-tdt-tiny").join("model.safetensors"), &Device::Cpu);
    let tensors = tensors.unwrap();
    let mut pickle = Pickle(vec![0x80, 2]);
    pickle.table();
    pickle.0.push(b'(');
    let mut parts = Vec::new();
    for (name, tensor) in tensors.iter().filter(|(_, tensor)| tensor.dtype() == candle_core::DType::F32) {
        pickle.text(&theirs(name));
        pickle.tensor(parts.len(), tensor.dims());
        let numbers: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
        parts.push(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>());
    }
    pickle.0.push(b'u');
    // What torch notes of versions is kept as an attribute of the table.
    pickle.0.push(b'}');
    pickle.text("_metadata");
    pickle.table();
    pickle.0.extend(b"sb.");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let parts = parts.iter().enumerate().map(|(part, bytes)| (format!("model_weights/data/{part}"), bytes));
    for (name, bytes) in std::iter::once(("model_weights/data.pkl".to_owned(), &pickle.0)).chain(parts) {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The tiny model's vocabulary as a SentencePiece model.
fn sentencepiece() -> Vec<u8> {
    let json = std::fs::read(folder("parakeet-tdt-tiny").join("tokenizer.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let mut pieces: Vec<(&String, u64)> = json["model"]["vocab"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(piece, number)| (piece, number.as_u64().unwrap()))
        .collect();
    pieces.sort_by_key(|(_, number)| *number);
    let message = |(piece, number): (&String, u64)| {
        let kind = if number < 3 { 3 } else { 1 };
        let mut message = vec![0x0a, piece.len() as u8];
        message.extend(piece.as_bytes());
        message.extend([0x18, kind]);
        [vec![0x0a, message.len() as u8], message].concat()
    };
    pieces.into_iter().flat_map(message).collect()
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in parts {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn whole() -> Vec<u8> {
    archive(&[
        ("./model_config.yaml", SETTINGS.as_bytes()),
        ("./5f4d_tokenizer.model", &sentencepiece()),
        ("./model_weights.ckpt", &checkpoint()),
    ])
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn an_archive_says_the_same_as_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let samples = speech();
    let reference = transcribe(&mut tdt(), &samples);
    for (name, bytes) in [("plain.nemo", whole()), ("packed.nemo", packed(&whole()))] {
        let file = home.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let files = Files::find(&file).unwrap().unwrap();
        assert_eq!(files.config(), Files::find(&folder("parakeet-tdt-tiny")).unwrap().unwrap().config());
        let scratch = tempfile::tempdir().unwrap();
        let weights = files.weights(scratch.path()).unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "{name} left something behind");
        let mut model = files.model(weights.as_ref()).unwrap();
        assert!(transcribe(&mut model, &samples) == reference, "{name}");
    }
}

#[test]
fn what_an_archive_lacks_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("a.nemo");
    let settings = ("model_config.yaml", SETTINGS.as_bytes());
    let checkpoint = checkpoint();
    for (parts, missing) in [
        (vec![settings], "model_weights.ckpt"),
        (vec![("model_weights.ckpt", checkpoint.as_slice())], "model_config.yaml"),
        (vec![settings, ("model_weights.ckpt", &checkpoint)], "tokenizer.model"),
    ] {
        std::fs::write(&file, archive(&parts)).unwrap();
        let model = Files::find(&file).and_then(|files| {
            let files = files.unwrap();
            files.model(files.weights(home.path())?.as_ref()).map(drop)
        });
        let error = model.unwrap_err().to_string();
        assert!(error.contains(missing), "{error}");
    }
}

#[test]
fn damaged_archives_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("a.nemo");
    let open = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let files = Files::find(&file)?.unwrap();
        files.model(files.weights(home.path())?.as_ref()).map(drop)
    };
    let whole = whole();
    open(&whole).unwrap();
    for length in [0, 100, 512, 5000, whole.len() / 2] {
        assert!(open(&whole[..length]).is_err(), "{length}");
    }
    assert!(open(&packed(&whole)[..9000]).is_err());
    let broken = archive(&[("model_config.yaml", b"a: ["), ("model_weights.ckpt", b"")]);
    assert!(open(&broken).is_err());
}

#[test]
fn settings_of_other_kinds() {
    use config::{Config, HeadConfig};
    let ctc = SETTINGS.replace("joint:", "unused:").replace("  vocab_size: 60", "  num_classes: 1024");
    let ctc = Config::from_nemo(&ctc).unwrap();
    assert_eq!(ctc.head, HeadConfig::Ctc { vocabulary: 1025, blank: 1024 });
    let rnnt = Config::from_nemo(&SETTINGS.replace("  num_extra_outputs: 5\n", "")).unwrap();
    assert_eq!(rnnt.kind(), "parakeet-rnnt");
    for (known, other) in [
        ("dw_striding", "vggnet"),
        ("rel_pos", "rel_pos_local_attn"),
        ("batch_norm", "layer_norm"),
        ("per_feature", "all_features"),
        ("d_model: 64", "d_model: ${nowhere}"),
        ("d_model: 64", "d_model: ${encoder.d_model}"),
        ("num_extra_outputs: 5", "num_extra_outputs: 4"),
        ("window_size: 0.025", "window_size: .nan"),
    ] {
        assert!(Config::from_nemo(&SETTINGS.replace(known, other)).is_err(), "{other}");
    }
}
