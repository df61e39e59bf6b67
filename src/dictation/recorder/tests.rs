use super::take::DRAIN;
use super::*;
use crate::dictation::capture::fixtures::{fixture, fixture_path};
use crate::dictation::capture::{Pace, Reader, WavSource, Writer, ring};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

const ONE: RecordingId = RecordingId(1);
const TWO: RecordingId = RecordingId(2);

/// What happened to sources: opened with this number, closed.
type Log = Rc<RefCell<Vec<String>>>;

struct FakeOpener(Log, VecDeque<CaptureError>);
struct FakeTap(u64, Log);

impl Drop for FakeTap {
    fn drop(&mut self) {
        self.1.borrow_mut().push(format!("closed {}", self.0));
    }
}

impl Open<FakeTap> for FakeOpener {
    fn open(&mut self, rules: &Rules, number: u64) -> Result<FakeTap, CaptureError> {
        if let Some(error) = self.1.pop_front() {
            return Err(error);
        }
        self.0.borrow_mut().push(format!("opened {number} {}", rules.microphone).trim().to_owned());
        Ok(FakeTap(number, Rc::clone(&self.0)))
    }
}

/// A desk with a clock that is moved by hand and sources that the test plays.
struct Studio {
    desk: Desk<FakeTap, FakeOpener>,
    log: Log,
    now: Instant,
    writer: Option<Writer>,
    rate: u32,
    told: Vec<Heard>,
}

fn rules() -> Rules {
    Rules {
        source: SoundSource::Auto,
        microphone: String::new(),
        longest: Duration::from_secs(600),
        pre_roll: Duration::ZERO,
    }
}

fn studio(rules: Rules) -> Studio {
    let log = Log::default();
    let desk = Desk::new(FakeOpener(Rc::clone(&log), VecDeque::new()), rules);
    Studio { desk, log, now: Instant::now(), writer: None, rate: 16_000, told: Vec::new() }
}

impl Studio {
    fn order(&mut self, order: Order) {
        self.desk.order(order, self.now, &mut |heard| self.told.push(heard));
    }

    fn note(&mut self, number: u64, note: Note) {
        self.desk.note(number, note, self.now, &mut |heard| self.told.push(heard));
    }

    fn opens(&mut self, number: u64) {
        let (writer, samples): (Writer, Reader) = ring(self.rate as usize * 8);
        self.writer = Some(writer);
        self.note(number, Note::Opened { name: "Studio".to_owned(), rate: self.rate, samples });
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.desk.tick(self.now, &mut |heard| self.told.push(heard));
    }

    /// Sound that arrives in real time, in blocks of 10 ms and a rest.
    fn sound(&mut self, samples: &[f32]) {
        for block in samples.chunks(self.rate as usize / 100) {
            self.writer.as_mut().unwrap().write(block.iter().copied());
            self.wait(10);
        }
    }

    fn record(&mut self, recording: RecordingId) {
        self.order(Order::Record(recording));
    }

    fn stop(&mut self, recording: RecordingId, may_resume: u64) {
        self.order(Order::Stop { recording, may_resume: Duration::from_millis(may_resume) });
    }

    /// What was told, without levels and growing chunks.
    fn told(&mut self) -> Vec<Told> {
        let told = std::mem::take(&mut self.told).into_iter().map(|heard| heard.told);
        told.filter(|told| !matches!(told, Told::Level { .. } | Told::Filling { .. })).collect()
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.borrow_mut())
    }
}

fn listening(milliseconds: u64) -> Told {
    Told::Listening { microphone: "Studio".to_owned(), latency: Duration::from_millis(milliseconds) }
}

fn finished(milliseconds: u64) -> Told {
    Told::Finished { recorded: Duration::from_millis(milliseconds) }
}

/// A second of something that is no speech, nor silence.
fn hum(seconds: f32) -> Vec<f32> {
    (0..(seconds * 16_000.0) as usize).map(|index| 0.02 * (index as f32 * 0.02).sin()).collect()
}

fn chunks(told: &[Told]) -> Vec<&Chunk> {
    told.iter().filter_map(|told| if let Told::Chunk(chunk) = told { Some(chunk) } else { None }).collect()
}

#[test]
fn nothing_is_open_before_and_after_a_recording() {
    let mut studio = studio(rules());
    assert_eq!(studio.desk.pause(studio.now), None);
    assert!(studio.log().is_empty());
    studio.record(ONE);
    assert_eq!(studio.log(), ["opened 1"]);
    assert_eq!(studio.desk.pause(studio.now), Some(Duration::from_secs(3)));
    studio.wait(400);
    studio.opens(1);
    studio.wait(25);
    studio.sound(&hum(1.0));
    studio.stop(ONE, 0);
    studio.sound(&hum(0.2));
    assert_eq!(studio.told(), [listening(435), finished(1_120)]);
    assert_eq!(studio.log(), ["closed 1"]);
    assert_eq!(studio.desk.pause(studio.now), None, "nothing wakes it");
}

#[test]
fn a_stop_drains_120_ms_and_a_cancel_does_not() {
    for rate in [16_000, 44_100, 48_000] {
        let mut studio = studio(rules());
        studio.rate = rate;
        studio.record(ONE);
        studio.opens(1);
        let second: Vec<f32> = vec![0.1; rate as usize];
        studio.sound(&second);
        // What waits in the queue counts as recorded.
        studio.writer.as_mut().unwrap().write(second[..rate as usize / 50].iter().copied());
        studio.stop(ONE, 0);
        assert!(studio.log().len() == 1, "still open");
        studio.sound(&second[..rate as usize / 2]);
        assert_eq!(studio.told(), [listening(10), finished(1_000 + 20 + DRAIN.as_millis() as u64)]);

        studio.record(TWO);
        studio.opens(2);
        studio.sound(&second);
        studio.told();
        studio.log();
        studio.order(Order::Cancel(TWO));
        assert_eq!(studio.log(), ["closed 2"]);
        studio.wait(5_000);
        assert_eq!(studio.told(), []);
    }
}

#[test]
fn a_stop_whose_rest_never_arrives() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&hum(1.0));
    studio.stop(ONE, 0);
    studio.wait(300);
    studio.told();
    studio.wait(400);
    assert_eq!(studio.told(), [finished(1_000)]);
}

#[test]
fn a_stop_is_taken_back_without_a_gap() {
    let speech = fixture("dictation.wav");
    let whole = {
        let mut studio = studio(rules());
        studio.record(ONE);
        studio.opens(1);
        studio.sound(&speech);
        studio.stop(ONE, 0);
        studio.sound(&hum(0.5));
        studio.told()
    };
    for stopped_at in [16_000, 20_000, 33_333] {
        let mut studio = studio(rules());
        studio.record(ONE);
        studio.opens(1);
        studio.sound(&speech[..stopped_at]);
        studio.stop(ONE, 700);
        studio.sound(&speech[stopped_at..stopped_at + 8_000]);
        assert!(studio.told.iter().all(|heard| !matches!(heard.told, Told::Finished { .. })), "no sooner");
        studio.order(Order::Resume(ONE));
        studio.sound(&speech[stopped_at + 8_000..]);
        studio.stop(ONE, 0);
        studio.sound(&hum(0.5));
        let told = studio.told();
        assert_eq!(chunks(&told), chunks(&whole), "{stopped_at}");
        assert!(!chunks(&told).is_empty());
    }
}

#[test]
fn a_stop_that_stands_drops_what_came_after_it() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&hum(1.0));
    studio.stop(ONE, 700);
    studio.sound(&hum(0.69));
    assert_eq!(studio.told(), [listening(10)]);
    studio.order(Order::Resume(TWO));
    studio.sound(&hum(0.05));
    assert_eq!(studio.told(), [finished(1_120)]);
    studio.order(Order::Resume(ONE));
    assert_eq!(studio.told(), []);
}

#[test]
fn stopped_before_any_sound() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.stop(ONE, 0);
    assert_eq!(studio.told(), [finished(0)]);
    assert_eq!(studio.log(), ["opened 1", "closed 1"]);
    studio.record(TWO);
    studio.stop(TWO, 600);
    studio.wait(200);
    studio.opens(2);
    studio.sound(&hum(0.1));
    studio.order(Order::Resume(TWO));
    studio.sound(&hum(0.9));
    studio.stop(TWO, 0);
    studio.sound(&hum(0.2));
    assert_eq!(studio.told(), [listening(210), finished(1_120)], "and taken back");
}

#[test]
fn the_longest_recording_ends_itself_by_the_same_path() {
    let mut studio = studio(Rules { longest: Duration::from_millis(1_995), ..rules() });
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&hum(2.5));
    let why = "The longest recording, 1 s, is reached.".to_owned();
    assert_eq!(studio.told(), [listening(10), Told::StoppedItself(why), finished(1_995 + 120)]);
    assert_eq!(studio.log(), ["opened 1", "closed 1"]);
}

#[test]
fn no_sound_within_three_seconds() {
    let mut studio = studio(Rules { microphone: "Headset".to_owned(), ..rules() });
    studio.record(ONE);
    studio.wait(2_990);
    assert_eq!(studio.told(), []);
    studio.wait(20);
    let told = studio.told();
    let [Told::Failed { failure: VoiceFailure::Timeout, text }] = told.as_slice() else { panic!("{told:?}") };
    assert!(text.contains("“Headset” within 3 s"), "{text}");
    studio.record(TWO);
    studio.opens(2);
    studio.wait(3_000);
    let told = studio.told();
    let [Told::Failed { failure: VoiceFailure::Timeout, text }] = told.as_slice() else { panic!("{told:?}") };
    assert!(text.contains("“Studio” within 3 s"), "open, but without sound: {text}");
    assert_eq!(studio.log(), ["opened 1 Headset", "closed 1", "opened 2 Headset", "closed 2"]);
}

#[test]
fn a_microphone_that_vanishes() {
    // By an error, by an end, and by giving nothing any more.
    for way in 0..3 {
        let mut studio = studio(rules());
        studio.record(ONE);
        studio.opens(1);
        studio.sound(&fixture("dictation.wav")[..24_000]);
        match way {
            0 => studio.note(1, Note::Ended(Err(CaptureError::Lost("Studio".to_owned())))),
            1 => studio.note(1, Note::Ended(Ok(()))),
            _ => studio.wait(3_000),
        }
        let told = studio.told();
        let [Told::Listening { .. }, Told::StoppedItself(why), Told::Chunk(chunk), end] = told.as_slice()
        else {
            panic!("{way}: {} things", told.len())
        };
        assert_eq!(why.contains("Studio"), way != 1, "{why}");
        assert_eq!((chunk.start + chunk.samples.len(), end), (24_000, &finished(1_500)));
        assert_eq!(studio.log(), ["opened 1", "closed 1"]);
    }
}

#[test]
fn one_that_cannot_be_opened() {
    let mut studio = studio(rules());
    studio.record(ONE);
    let refused = CaptureError::Permission("Studio".to_owned());
    studio.note(1, Note::Ended(Err(refused.clone())));
    let failed = Told::Failed { failure: VoiceFailure::PermissionDenied, text: refused.to_string() };
    assert_eq!(studio.told(), [failed]);
    let mut studio = super::tests::studio(rules());
    studio.desk = Desk::new(
        FakeOpener(Rc::clone(&studio.log), [CaptureError::NoAudio("None here.".to_owned())].into()),
        rules(),
    );
    studio.record(ONE);
    let failed = Told::Failed { failure: VoiceFailure::NoMicrophone, text: "None here.".to_owned() };
    assert_eq!(studio.told(), [failed]);
    studio.record(TWO);
    studio.opens(2);
    studio.sound(&hum(0.1));
    assert_eq!(studio.told(), [listening(10)], "the next one may work");
}

#[test]
fn what_a_closed_source_tells_is_late() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.order(Order::Cancel(ONE));
    studio.record(TWO);
    studio.note(1, Note::Ended(Err(CaptureError::Lost("old".to_owned()))));
    studio.note(1, Note::Notice("old".to_owned()));
    assert_eq!(studio.told(), []);
    studio.opens(2);
    studio.sound(&hum(0.1));
    assert_eq!(studio.told(), [listening(10)]);
}

#[test]
fn a_notice_and_lost_sound() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.note(1, Note::Notice("The microphone “x” is not there.".to_owned()));
    studio.opens(1);
    studio.sound(&hum(0.1));
    let losses = studio.writer.as_ref().unwrap().losses();
    losses.add(5);
    studio.sound(&hum(0.2));
    let notice = Told::Notice("The microphone “x” is not there.".to_owned());
    assert_eq!(studio.told(), [notice, listening(10), Told::Warning(VoiceWarning::Dropped)]);
}

#[test]
fn pre_roll_only_when_asked_for() {
    let mut studio = studio(Rules { pre_roll: Duration::from_millis(300), ..rules() });
    assert_eq!(studio.desk.pause(studio.now), None, "not before the first recording");
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&hum(1.0));
    studio.stop(ONE, 0);
    studio.sound(&hum(0.2));
    assert_eq!(studio.log(), ["opened 1"], "stays open");
    assert!(studio.desk.pause(studio.now).is_some());
    studio.sound(&hum(2.0));
    studio.told();
    studio.record(TWO);
    studio.sound(&hum(1.0));
    studio.stop(TWO, 0);
    studio.sound(&hum(0.2));
    assert_eq!(studio.told(), [listening(0), finished(300 + 1_000 + 120)]);
    studio.order(Order::Configure(rules()));
    assert_eq!(studio.log(), ["closed 1"], "other rules close it");
    studio.record(ONE);
    studio.order(Order::Configure(Rules { microphone: "Other".to_owned(), ..rules() }));
    assert_eq!(studio.log(), ["opened 2"], "a running recording keeps its microphone");
    studio.order(Order::Cancel(ONE));
    studio.record(TWO);
    assert_eq!(studio.log(), ["closed 2", "opened 3 Other"]);
}

#[test]
fn a_second_recording_finishes_the_first() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&hum(1.0));
    studio.stop(ONE, 700);
    studio.sound(&hum(0.3));
    studio.record(TWO);
    studio.record(TWO);
    studio.sound(&hum(0.5));
    let heard: Vec<RecordingId> = studio.told.iter().map(|heard| heard.recording).collect();
    assert!(heard.is_sorted());
    assert_eq!(studio.told(), [listening(10), finished(1_120), listening(10)]);
    assert_eq!(studio.log(), ["opened 1"], "the open source is taken over");
}

#[test]
fn levels_and_growing_chunks() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.opens(1);
    studio.sound(&fixture("dictation.wav"));
    let levels: Vec<Duration> = studio
        .told
        .iter()
        .filter_map(|heard| if let Told::Level { recorded, .. } = heard.told { Some(recorded) } else { None })
        .collect();
    let expected = fixture("dictation.wav").len() / 1_600;
    assert_eq!(levels.len(), expected);
    assert!(levels.iter().enumerate().all(|(index, at)| at.as_millis() as usize == (index + 1) * 100));
    let fillings: Vec<Duration> = studio
        .told
        .iter()
        .filter_map(
            |heard| if let Told::Filling { number: 0, length } = heard.told { Some(length) } else { None },
        )
        .collect();
    assert!(fillings.len() > 10 && fillings.is_sorted(), "{fillings:?}");
    studio.told();
    studio.order(Order::Peek(ONE));
    let told = studio.told();
    let [Told::Open(chunk)] = told.as_slice() else { panic!("{} things", told.len()) };
    assert!(chunk.samples.len() > 16_000);
}

#[test]
fn twenty_key_presses() {
    let mut studio = studio(rules());
    for press in 1..=10 {
        studio.record(RecordingId(press));
        studio.wait(50);
        studio.stop(RecordingId(press), 0);
        studio.wait(50);
    }
    assert_eq!(studio.told().len(), 10);
    assert_eq!(studio.log().len(), 20);
    assert_eq!(studio.desk.pause(studio.now), None);
}

#[test]
fn a_long_silence_keeps_nothing() {
    let mut studio = studio(rules());
    studio.record(ONE);
    studio.opens(1);
    let silence = vec![0.0; 16_000];
    for _second in 0..60 {
        studio.writer.as_mut().unwrap().write(silence.iter().copied());
        studio.wait(1_000);
        studio.told.retain(|heard| matches!(heard.told, Told::Chunk(_) | Told::StoppedItself(_)));
    }
    assert_eq!(studio.told(), []);
    studio.stop(ONE, 0);
    studio.wait(700);
    assert_eq!(studio.told(), [finished(60_000)]);
}

#[test]
fn the_thread_brings_a_file_from_beginning_to_end() {
    let (sender, heard) = mpsc::channel();
    let choose: Choose = Box::new(|_rules| {
        Ok(Box::new(WavSource::new(fixture_path("dictation.wav"), Pace::AtOnce)) as Box<dyn Source>)
    });
    let recorder = Recorder::start(rules(), choose, move |heard| sender.send(heard).unwrap()).unwrap();
    recorder.order(Order::Record(ONE));
    let mut chunks: Vec<Chunk> = Vec::new();
    let recorded = loop {
        match heard.recv().unwrap().told {
            Told::Chunk(chunk) => chunks.push(chunk),
            Told::Finished { recorded } => break recorded,
            _ => {}
        }
    };
    let speech = fixture("dictation.wav");
    assert_eq!(recorded.as_micros() as usize, speech.len() * 1_000 / 16);
    assert!(!chunks.is_empty());
    for chunk in &chunks {
        assert_eq!(&chunk.samples[..], &speech[chunk.start..chunk.start + chunk.samples.len()]);
    }
    drop(recorder);
    assert!(heard.recv().is_err());
}
