//! Dictation: the key, what the engine tells, the text in the prompt, and the lists behind `/voice`.

use crate::app::effect::{Effect, Reference, Refine};
use crate::app::msg::{Done, Msg};
use crate::app::stage::{Stage, command_ask, key_event, opened, released, reply, said, view};
use crate::app::update::{Outcome, voice};
use crate::config::keymap::Keymap;
use crate::config::load::Loaded;
use crate::config::voice::ReferenceSource;
use crate::proto::command::{CancelReason, Command};
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{EntryId, RecordingId};
use crate::proto::message::{Block, Message, StopReason};
use crate::proto::voice::{
    Microphone, ModelOffer, ModelRow, ModelState, Precision, VoiceCommand, VoiceEvent, VoiceFailure,
    VoiceStatus, Wait,
};
use crate::term::input::Input;
use crate::ui::layers::Layer;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const FIRST: RecordingId = RecordingId(1);

fn asks(command: VoiceCommand) -> Vec<Effect> {
    vec![Effect::Voice(command)]
}

fn stops(recording: RecordingId) -> Vec<Effect> {
    asks(VoiceCommand::Stop { recording, may_resume: Duration::ZERO })
}

fn text(recording: RecordingId, text: &str) -> VoiceEvent {
    VoiceEvent::Text { recording, text: text.to_owned(), note: None }
}

fn failed(recording: RecordingId, can_retry: bool) -> VoiceEvent {
    VoiceEvent::Failed {
        recording,
        failure: VoiceFailure::MicrophoneLost,
        text: "The microphone is gone.".to_owned(),
        can_retry,
    }
}

impl Stage {
    fn voice(&mut self, event: VoiceEvent) -> Outcome {
        self.tell(Msg::Voice(Box::new(event)))
    }

    fn let_go(&mut self, name: &str) -> Vec<Effect> {
        self.tell(Msg::Input(Input::Key(released(name)))).effects
    }

    /// Taps the key on a terminal that tells releases.
    fn tap(&mut self) -> Vec<Effect> {
        let pressed = self.key("ctrl+space").effects;
        self.wait(80);
        pressed.into_iter().chain(self.let_go("ctrl+space")).collect()
    }

    /// Runs a command; that it is remembered is no matter of ours.
    fn command(&mut self, line: &str) -> Vec<Effect> {
        let mut effects = self.line(line);
        effects.retain(|effect| !matches!(effect, Effect::Remember(_)));
        effects
    }

    /// Time passes as in the loop: what is due is done.
    fn pass(&mut self, millis: u64) -> Vec<Effect> {
        let end = self.now + Duration::from_millis(millis);
        let mut effects = Vec::new();
        while let Some(due) = self.state.voice.key.due().filter(|due| *due <= end) {
            self.now = due;
            effects.extend(voice::time(&mut self.state, due).effects);
        }
        self.now = end;
        effects
    }

    /// A recording that was stopped, and whose text is waited for.
    fn transcribing() -> Self {
        let mut stage = Self::open();
        stage.tap();
        stage.wait(2_000);
        stage.tap();
        stage
    }

    fn cleaning(mut self, reference: ReferenceSource) -> Self {
        self.state.loaded.settings.voice.cleanup.is_on = true;
        self.state.loaded.settings.voice.cleanup.reference = reference;
        self
    }
}

#[test]
fn held_and_tapped() {
    let mut held = Stage::open();
    assert_eq!(held.key("ctrl+space").effects, asks(VoiceCommand::Record(FIRST)));
    held.wait(400);
    // Control may be up before the bar.
    assert_eq!(held.let_go("space"), stops(FIRST));

    let mut tapped = Stage::open();
    assert_eq!(tapped.tap(), asks(VoiceCommand::Record(FIRST)));
    tapped.wait(5_000);
    assert_eq!(tapped.tap(), stops(FIRST));
    assert_eq!(tapped.written(), "");
}

#[test]
fn where_no_release_is_told_the_repeats_say_how_long_it_is_held() {
    let mut stage = Stage::open();
    assert_eq!(stage.key("ctrl+space").effects, asks(VoiceCommand::Record(FIRST)));
    assert_eq!(stage.pass(500), []);
    for _ in 0..20 {
        assert_eq!(stage.key("ctrl+space").effects, []);
        assert_eq!(stage.pass(30), []);
    }
    let may_resume = Duration::from_millis(300);
    assert_eq!(stage.pass(200), asks(VoiceCommand::Stop { recording: FIRST, may_resume }));
    // A repeat that was late takes it back.
    assert_eq!(stage.key("ctrl+space").effects, asks(VoiceCommand::Resume(FIRST)));
    assert!(stage.state.voice.is_recording());
    let again = stage.pass(2_000);
    assert_eq!(again, asks(VoiceCommand::Stop { recording: FIRST, may_resume }));
    assert_eq!(stage.state.voice.key.due(), None);
}

#[test]
fn a_held_bar_types_nothing_when_control_is_up_first() {
    let mut stage = Stage::open();
    stage.key("ctrl+space");
    let repeat =
        KeyEvent { kind: KeyEventKind::Repeat, ..KeyEvent::new(KeyCode::Char(' '), KeyModifiers::NONE) };
    stage.tell(Msg::Input(Input::Key(repeat)));
    assert_eq!(stage.written(), "");
    stage.wait(500);
    stage.let_go("space");
    stage.type_text("a b");
    assert_eq!(stage.written(), "a b");
}

#[test]
fn any_key_that_is_bound_to_it_counts() {
    let (keymap, warnings) =
        Keymap::defaults().patched("[global]\ndictate = [\"f9\", \"ctrl+x d\"]\n", Path::new("keymap.toml"));
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut stage = Stage::with(|beginning| beginning.keymap = keymap.clone());
    assert_eq!(stage.keys(&["ctrl+space"]), []);
    assert_eq!(stage.keys(&["f9"]), asks(VoiceCommand::Record(FIRST)));
    stage.wait(500);
    assert_eq!(stage.let_go("f9"), stops(FIRST));
    stage.voice(VoiceEvent::Nothing(FIRST));
    // Keys in a row are tapped.
    assert_eq!(stage.keys(&["ctrl+x", "d"]), asks(VoiceCommand::Record(RecordingId(2))));
    assert_eq!(stage.keys(&["ctrl+x", "d"]), stops(RecordingId(2)));
    assert_eq!(stage.written(), "");
}

#[test]
fn what_a_list_offers_begins_and_ends_it_too() {
    let mut stage = Stage::open();
    let choose = |stage: &mut Stage| {
        stage.key("ctrl+p");
        stage.type_text("dictate");
        stage.keys(&["enter"])
    };
    assert_eq!(choose(&mut stage), asks(VoiceCommand::Record(FIRST)));
    stage.wait(2_000);
    assert_eq!(choose(&mut stage), stops(FIRST));
}

#[test]
fn a_dialog_keeps_a_recording_from_beginning_but_not_from_ending() {
    for key in ["f1", "ctrl+p", "alt+m"] {
        let mut stage = Stage::open();
        stage.key(key);
        assert_eq!(stage.tap(), [], "{key}");
        assert_eq!((stage.state.layers.len(), stage.state.voice.is_active()), (1, false), "{key}");
    }
    let mut asked = Stage::running();
    asked.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    asked.wait(2_000);
    assert_eq!(asked.tap(), []);
    assert_eq!(asked.state.layers.len(), 1);

    let mut speaking = Stage::running();
    speaking.key("ctrl+space");
    speaking.wait(500);
    speaking.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    assert_eq!(speaking.let_go("ctrl+space"), stops(FIRST));
    // What was said answers nothing.
    assert_eq!(speaking.voice(text(FIRST, "yes")).effects, []);
    assert_eq!((speaking.written().as_str(), speaking.state.layers.len()), ("yes", 1));
    // The dialog is closed first.
    let mut both = Stage::open();
    both.tap();
    both.key("f1");
    assert_eq!(both.keys(&["esc"]), []);
    assert!(both.state.voice.is_recording());
    assert_eq!(both.keys(&["esc"]), asks(VoiceCommand::Cancel(FIRST)));
}

#[test]
fn esc_throws_away_at_every_stage_and_only_then() {
    let speaking = || {
        let mut stage = Stage::open();
        stage.tap();
        stage
    };
    let waiting = |wait: Wait| {
        let mut stage = Stage::transcribing();
        stage.voice(VoiceEvent::Waits { recording: FIRST, on: Some(wait) });
        stage
    };
    let stages = [
        speaking(),
        waiting(Wait::Microphone),
        waiting(Wait::Consent),
        waiting(Wait::Fetching),
        waiting(Wait::Loading { queued: Duration::from_secs(1) }),
        waiting(Wait::Decoding),
    ];
    for mut stage in stages {
        // A turn goes on: the key is for what was said last.
        stage.change(|view, now| view.running = Some(crate::app::stage::running(now)));
        assert_eq!(stage.keys(&["esc"]), asks(VoiceCommand::Cancel(FIRST)));
        assert!(!stage.state.voice.is_active());
        // Late, and dropped.
        assert_eq!(stage.voice(text(FIRST, "too late")), Outcome::none());
        assert_eq!(stage.written(), "");
        let stop = Command::Cancel { reason: CancelReason::Stop };
        assert_eq!(stage.keys(&["esc"]), [Effect::Send(stop)]);
    }
    let mut correcting = Stage::transcribing().cleaning(ReferenceSource::Off);
    correcting.voice(text(FIRST, "helo"));
    assert_eq!(correcting.keys(&["esc"]), [Effect::StopRefining(FIRST)]);
    let late = Done::Refined { recording: FIRST, result: Ok("Hello.".to_owned()) };
    assert_eq!(correcting.done(late), []);
    assert_eq!(correcting.written(), "");
}

#[test]
fn twenty_presses_in_a_second_leave_one_recording_that_ends() {
    let mut stage = Stage::open();
    let mut effects = Vec::new();
    for _ in 0..20 {
        effects.extend(stage.key("ctrl+space").effects);
        effects.extend(stage.pass(50));
    }
    effects.extend(stage.pass(5_000));
    let counts = |wanted: fn(&VoiceCommand) -> bool| {
        effects.iter().filter(|effect| matches!(effect, Effect::Voice(command) if wanted(command))).count()
    };
    assert_eq!(counts(|command| matches!(command, VoiceCommand::Record(_))), 1, "{effects:?}");
    assert_eq!(counts(|command| matches!(command, VoiceCommand::Stop { .. })), 1, "{effects:?}");
    assert_eq!(stage.written(), "");
}

#[test]
fn a_text_stands_in_the_prompt_and_is_not_sent() {
    for said in ["open the file", "/quit", "!rm -rf ~", "@src", "yes"] {
        let mut stage = Stage::transcribing();
        assert_eq!(stage.voice(text(FIRST, said)).effects, [], "{said}");
        assert_eq!(stage.written(), said);
        assert!(stage.state.composer.completer().popup().is_none(), "{said}");
        assert!(!stage.state.voice.view.is_shown(stage.now));
        stage.key("ctrl+_");
        assert_eq!(stage.written(), "");
    }
}

#[test]
fn whatever_has_the_keys_the_prompt_gets_the_text() {
    let mut stage = Stage::open();
    stage.opened({
        let mut opened = opened(view());
        opened.history = vec![reply("Hello.")];
        opened
    });
    stage.draw();
    stage.type_text("say");
    stage.key("ctrl+up");
    assert!(stage.state.pane.focused().is_some());
    stage.tap();
    stage.wait(1_000);
    stage.tap();
    stage.voice(text(FIRST, "hello"));
    assert_eq!(stage.written(), "say hello");

    let mut searching = Stage::open();
    searching.key("f3");
    assert_eq!(searching.state.layers.len(), 1);
    assert_eq!(searching.tap(), asks(VoiceCommand::Record(FIRST)));
    searching.wait(1_000);
    searching.tap();
    searching.voice(text(FIRST, "hello"));
    assert_eq!((searching.written().as_str(), searching.state.layers.len()), ("hello", 1));
}

#[test]
fn while_a_turn_streams_the_text_comes_all_the_same() {
    let mut stage = Stage::running();
    stage.tap();
    stage.wait(1_000);
    stage.tap();
    assert_eq!(stage.voice(text(FIRST, "and the tests")).effects, []);
    assert_eq!(stage.written(), "and the tests");
}

#[test]
fn ends_without_a_text() {
    let mut nothing = Stage::transcribing();
    nothing.voice(VoiceEvent::Nothing(FIRST));
    assert!(nothing.screen().contains("nothing was said"));
    nothing.wait(1_500);
    assert!(!nothing.screen().contains("nothing was said"));
    assert_eq!(nothing.tap(), asks(VoiceCommand::Record(RecordingId(2))));

    let mut lost = Stage::open();
    lost.key("ctrl+space");
    lost.wait(1_000);
    lost.voice(failed(FIRST, true));
    assert!(lost.screen().contains("the microphone is gone"), "{}", lost.screen());
    assert_eq!(lost.toast(), "The microphone is gone.");
    // The key that is still down begins nothing.
    assert_eq!(lost.let_go("ctrl+space"), []);
    assert_eq!(lost.command("/voice retry"), asks(VoiceCommand::Retry(FIRST)));
    lost.voice(text(FIRST, "kept"));
    assert_eq!(lost.written(), "kept");
    lost.command("/voice retry");
    assert_eq!(lost.toast(), "There is no recording to transcribe once more.");

    let mut by_itself = Stage::open();
    by_itself.tap();
    by_itself.voice(VoiceEvent::StoppedItself { recording: FIRST, why: "Ten minutes are over.".to_owned() });
    assert_eq!(by_itself.toast(), "Ten minutes are over.");
    assert!(!by_itself.state.voice.is_recording());
    by_itself.voice(text(FIRST, "all of it"));
    assert_eq!(by_itself.written(), "all of it");
    assert_eq!(by_itself.tap(), asks(VoiceCommand::Record(RecordingId(2))));
}

#[test]
fn a_second_recording_waits_for_the_text_of_the_first() {
    let mut stage = Stage::transcribing();
    assert_eq!(stage.tap(), []);
    assert_eq!(stage.toast(), "The text of what you said before is on its way. esc throws it away.");
    stage.voice(text(FIRST, "one"));
    assert_eq!(stage.written(), "one");
    assert_eq!(stage.tap(), asks(VoiceCommand::Record(RecordingId(2))));
}

#[test]
fn a_terminal_that_is_handed_over_ends_the_recording() {
    let mut stage = Stage::open();
    stage.tap();
    let mut wanted = stops(FIRST);
    wanted.push(Effect::Suspend);
    assert_eq!(stage.keys(&["ctrl+z"]), wanted);
    stage.voice(text(FIRST, "kept"));
    assert_eq!(stage.written(), "kept");

    let mut edited = Stage::open();
    edited.tap();
    let mut wanted = stops(FIRST);
    wanted.push(Effect::Edit(String::new()));
    assert_eq!(edited.keys(&["ctrl+g"]), wanted);
}

#[test]
fn a_key_that_is_let_go_in_another_window_was_let_go() {
    let mut stage = Stage::open();
    stage.state.voice.key.set_tells_releases(true);
    stage.key("ctrl+space");
    stage.wait(900);
    assert_eq!(stage.tell(Msg::Input(Input::Focus(false))).effects, stops(FIRST));
}

#[test]
fn a_correction_is_a_step_over_what_was_heard() {
    let mut stage = Stage::transcribing().cleaning(ReferenceSource::Off);
    let refine =
        Refine { recording: FIRST, heard: "helo world".to_owned(), reference: None, is_plain: false };
    assert_eq!(stage.voice(text(FIRST, "helo world")).effects, [Effect::Refine(Box::new(refine))]);
    assert!(stage.screen().contains("cleaning up"), "{}", stage.screen());
    stage.done(Done::Refined { recording: FIRST, result: Ok("Hello, world".to_owned()) });
    assert_eq!(stage.written(), "Hello, world");
    stage.key("ctrl+_");
    assert_eq!(stage.written(), "helo world");
    stage.key("ctrl+_");
    assert_eq!(stage.written(), "");

    let mut failing = Stage::transcribing().cleaning(ReferenceSource::Off);
    failing.voice(text(FIRST, "helo world"));
    failing.done(Done::Refined {
        recording: FIRST,
        result: Err("The model did not answer in time.".to_owned()),
    });
    assert_eq!(failing.written(), "helo world");
    assert_eq!(failing.toast(), "The model did not answer in time.");

    let mut shell = Stage::transcribing().cleaning(ReferenceSource::Off);
    shell.type_text("!git ");
    let effects = shell.voice(text(FIRST, "status")).effects;
    assert!(matches!(effects.as_slice(), [Effect::Refine(refine)] if refine.is_plain), "{effects:?}");
}

#[test]
fn of_a_text_that_is_too_long_one_is_told() {
    let mut stage = Stage::transcribing();
    stage.voice(text(FIRST, &"word ".repeat(4_000)));
    assert_eq!(stage.written().len(), 16 * 1024);
    assert!(stage.toast().contains("too long"), "{}", stage.toast());
}

fn answers(stage: &mut Stage, id: &str, text: &str, reason: StopReason) {
    let message = Arc::new(Message::Assistant(said(vec![Block::text(text)], reason)));
    stage.event(AgentEvent::Entry { id: EntryId::new(id), patch: EntryPatch::Start(message.clone()) });
    stage.event(AgentEvent::Entry { id: EntryId::new(id), patch: EntryPatch::Finish(message) });
}

#[test]
fn the_answer_that_helps_is_the_last_whole_one_when_the_recording_stops() {
    let reference = |stage: &mut Stage| {
        let effects = stage.voice(text(FIRST, "helo")).effects;
        match effects.as_slice() {
            [Effect::Refine(refine)] => refine.reference.clone(),
            other => panic!("{other:?}"),
        }
    };
    let speaking = |history: Vec<Arc<Message>>| {
        let mut stage = Stage::started().cleaning(ReferenceSource::Own);
        let mut opened = opened(view());
        opened.history = history;
        stage.opened(opened);
        stage.tap();
        stage.wait(1_000);
        stage
    };
    let of = |text: &str| Some(Reference { session: view().id, text: text.to_owned() });

    let mut stage = speaking(vec![reply("The lexer.")]);
    stage.tap();
    // Later ones have no effect.
    answers(&mut stage, "later", "Something else.", StopReason::Stop);
    stage.opened(opened(view()));
    assert_eq!(reference(&mut stage), of("The lexer."));

    let mut stage = speaking(vec![reply("The lexer.")]);
    for reason in [StopReason::Aborted, StopReason::Error, StopReason::Length, StopReason::ToolUse] {
        answers(&mut stage, "cut", "Half of", reason);
    }
    answers(&mut stage, "blank", " \n", StopReason::Stop);
    stage.tap();
    assert_eq!(reference(&mut stage), of("The lexer."));

    let mut stage = speaking(vec![reply("The lexer.")]);
    answers(&mut stage, "new", "The parser.", StopReason::Stop);
    stage.tap();
    assert_eq!(reference(&mut stage), of("The parser."));

    let mut none = speaking(Vec::new());
    none.tap();
    assert_eq!(reference(&mut none), None);

    let mut off = speaking(vec![reply("The lexer.")]).cleaning(ReferenceSource::Off);
    off.tap();
    assert_eq!(reference(&mut off), None);

    let mut elsewhere = speaking(vec![reply("The lexer.")]).cleaning(ReferenceSource::FocusedWindow);
    let mut wanted = stops(FIRST);
    wanted.push(Effect::FindReference(FIRST));
    assert_eq!(elsewhere.tap(), wanted);
}

#[test]
fn nothing_that_was_said_is_in_a_debug() {
    let reference = Some(Reference { session: view().id, text: "canary".to_owned() });
    let refine = Refine { recording: FIRST, heard: "canary".to_owned(), reference, is_plain: false };
    assert!(!format!("{:?}", Effect::Refine(Box::new(refine))).contains("canary"));
}

#[test]
fn the_row_is_above_the_prompt_while_that_is_free() {
    let mut idle = Stage::open();
    idle.tap();
    let row = |stage: &mut Stage| {
        let screen = stage.screen();
        let at = |text: &str| screen.lines().position(|line| line.contains(text));
        (at("── ●"), at("Ask anything"))
    };
    let (voice, prompt) = row(&mut idle);
    assert!(voice < prompt && voice.is_some(), "{}", idle.screen());
    let mut working = Stage::running();
    working.tap();
    let (voice, prompt) = row(&mut working);
    assert!(voice > prompt, "{}", working.screen());
}

fn offer() -> ModelOffer {
    ModelOffer {
        name: "parakeet-v3".to_owned(),
        title: "Parakeet TDT 0.6B v3".to_owned(),
        from: "huggingface.co/nvidia/parakeet".to_owned(),
        bytes: 2_510_000_000,
        licence: "CC-BY-4.0".to_owned(),
        languages: "25 languages".to_owned(),
        memory: 800_000_000,
        why: None,
    }
}

#[test]
fn a_download_is_asked_for_shown_and_stopped() {
    let mut stage = Stage::open();
    stage.tap();
    stage.voice(VoiceEvent::Offer(Box::new(offer())));
    let screen = stage.screen();
    for part in ["Download Parakeet TDT 0.6B v3?", "2.5 GB", "CC-BY-4.0", "verified"] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
    // Told twice, asked once.
    stage.voice(VoiceEvent::Offer(Box::new(offer())));
    assert_eq!(stage.state.layers.len(), 1);
    assert_eq!(stage.keys(&["y"]), asks(VoiceCommand::Fetch("parakeet-v3".to_owned())));
    stage.voice(VoiceEvent::Waits { recording: FIRST, on: Some(Wait::Fetching) });
    let model = "parakeet-v3".to_owned();
    stage.voice(VoiceEvent::Fetching { model: model.clone(), done: 43, total: 100 });
    assert!(stage.screen().contains("downloading 43 %"), "{}", stage.screen());
    assert_eq!(stage.keys(&["esc"]), asks(VoiceCommand::Cancel(FIRST)));
    stage.wait(2_000);
    assert!(stage.screen().contains("downloading 43 %"), "{}", stage.screen());
    assert_eq!(stage.keys(&["esc"]), asks(VoiceCommand::StopFetching));
    assert!(!stage.screen().contains("downloading"));
    stage.voice(VoiceEvent::Fetched { model, result: Err("The download was stopped.".to_owned()) });
    assert_eq!(stage.toast(), "The download was stopped.");

    for key in ["n", "esc", "enter"] {
        let mut refused = Stage::open();
        refused.voice(VoiceEvent::Offer(Box::new(offer())));
        assert_eq!(refused.keys(&[key]), asks(VoiceCommand::StopFetching), "{key}");
    }
    // A question of the agent stays on top.
    let mut asked = Stage::running();
    asked.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    asked.voice(VoiceEvent::Offer(Box::new(offer())));
    assert!(matches!(asked.state.layers.last(), Some(Layer::Permission(_))));
}

#[test]
fn esc_stops_the_turn_rather_than_a_download() {
    let mut stage = Stage::running();
    stage.voice(VoiceEvent::Fetching { model: "parakeet-v3".to_owned(), done: 1, total: 100 });
    let stop = Command::Cancel { reason: CancelReason::Stop };
    assert_eq!(stage.keys(&["esc"]), [Effect::Send(stop)]);
}

fn status() -> VoiceStatus {
    let model = |name: &str, title: &str, is_here, skipped: Option<&str>| ModelRow {
        name: name.to_owned(),
        title: title.to_owned(),
        languages: "English".to_owned(),
        is_here,
        bytes: 670_000_000,
        skipped: skipped.map(str::to_owned),
    };
    VoiceStatus {
        microphones: vec![
            Microphone { name: "Built-in".to_owned(), is_default: true },
            Microphone { name: "Headset".to_owned(), is_default: false },
        ],
        no_microphones: None,
        models: vec![
            model("parakeet-v3", "Parakeet v3", false, Some("needs 2 GB of free memory")),
            model("parakeet-110m", "Parakeet 110M", false, None),
            model("whisper-tiny", "Whisper tiny", true, None),
        ],
        chosen: "whisper-tiny".to_owned(),
        why: "the larger ones are not here".to_owned(),
        state: ModelState::Unloaded,
        free_memory: 1_500_000_000,
        cache: (PathBuf::from("/home/ada/.cache/mynah/speech"), 9_000_000_000),
    }
}

fn setting(key: &str, value: &str) -> Effect {
    Effect::Set { key: key.to_owned(), value: Some(value.to_owned()) }
}

#[test]
fn voice_opens_a_list_and_lists_behind_it() {
    let mut stage = Stage::open();
    assert_eq!(stage.command("/voice"), asks(VoiceCommand::Status));
    assert_eq!(stage.keys(&["enter"]), asks(VoiceCommand::Status));
    assert!(stage.screen().contains("Loading…"), "{}", stage.screen());
    stage.voice(VoiceEvent::Status(Box::new(status())));
    assert!(stage.screen().contains("Headset"), "{}", stage.screen());
    assert_eq!(stage.keys(&["down", "down", "enter"]), [setting("voice.microphone", "Headset")]);

    let mut models = Stage::open();
    models.voice(VoiceEvent::Status(Box::new(status())));
    models.command("/voice model");
    let screen = models.screen();
    for part in ["Parakeet v3", "needs 2 GB of free memory", "not here", "670 MB", "English"] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
    // One that is missing is offered at once.
    let mut wanted = vec![setting("voice.model", "parakeet-110m")];
    wanted.extend(asks(VoiceCommand::SetUp));
    assert_eq!(models.keys(&["down", "enter"]), wanted);
    models.command("/voice model");
    assert_eq!(models.keys(&["down", "down", "enter"]), [setting("voice.model", "whisper-tiny")]);
    // One that can't be used is not chosen.
    models.command("/voice model");
    assert_eq!(models.keys(&["up", "enter"]), []);
    assert_eq!(models.state.layers.len(), 1);
}

#[test]
fn what_may_stand_behind_voice() {
    let table: [(&str, Vec<Effect>); 10] = [
        ("mic Headset two", vec![setting("voice.microphone", "Headset two")]),
        ("model whisper-tiny", vec![setting("voice.model", "whisper-tiny")]),
        ("language de", vec![setting("voice.language", "de")]),
        ("status", asks(VoiceCommand::Status)),
        ("setup", asks(VoiceCommand::SetUp)),
        ("stop", asks(VoiceCommand::StopFetching)),
        ("cleanup on", vec![setting("voice.cleanup", "true")]),
        ("cleanup off", vec![setting("voice.cleanup", "false")]),
        ("cleanup", vec![Effect::Set { key: "voice.cleanup".to_owned(), value: None }]),
        ("language", Vec::new()),
    ];
    for (argument, effects) in table {
        let mut stage = Stage::open();
        assert_eq!(stage.command(&format!("/voice {argument}")), effects, "{argument}");
    }
    let mut unknown = Stage::open();
    unknown.command("/voice louder");
    assert!(unknown.toast().starts_with("/voice does not know louder."), "{}", unknown.toast());
    // Each word that is offered is known.
    for (word, _) in voice::menu::WORDS {
        let mut stage = Stage::open();
        stage.command(&format!("/voice {word}"));
        assert!(!stage.toast().contains("does not know"), "{word}");
    }
}

#[test]
fn why_there_is_no_microphone_is_told_whole() {
    let why =
        "No sound device, neither of this machine's own nor of a sound server, was found anywhere at all.";
    let none = VoiceStatus { microphones: Vec::new(), no_microphones: Some(why.to_owned()), ..status() };
    let mut stage = Stage::open();
    stage.voice(VoiceEvent::Status(Box::new(none.clone())));
    stage.command("/voice mic");
    assert!(stage.screen().contains("None found"), "{}", stage.screen());
    assert_eq!(stage.keys(&["down", "enter"]), asks(VoiceCommand::Status));
    stage.voice(VoiceEvent::Status(Box::new(none)));
    assert!(stage.screen().contains("all."), "{}", stage.screen());
}

#[test]
fn what_was_asked_of_the_model_is_told() {
    let ready = || ModelState::Ready { name: "whisper-tiny".to_owned(), precision: Precision::Int8 };
    let mut stage = Stage::open();
    assert_eq!(stage.command("/voice unload"), []);
    assert_eq!(stage.toast(), "No speech model is in memory.");
    // Only who asks is told.
    stage.voice(VoiceEvent::Model(ready()));
    assert_eq!(stage.toast(), "No speech model is in memory.");
    stage.command("/voice setup");
    stage.voice(VoiceEvent::Model(ready()));
    assert_eq!(stage.toast(), "whisper-tiny is ready.");
    assert_eq!(stage.command("/voice unload"), asks(VoiceCommand::Unload));
    stage.voice(VoiceEvent::Model(ModelState::Unloaded));
    assert_eq!(stage.toast(), "The memory of the speech model is free.");
    // That it can't be used is told in any case, but not twice.
    stage.voice(VoiceEvent::Model(ModelState::Failed("Its files are broken.".to_owned())));
    assert_eq!(stage.toast(), "Its files are broken.");

    let mut recording = Stage::open();
    recording.voice(VoiceEvent::Model(ready()));
    recording.tap();
    assert_eq!(recording.command("/voice unload"), []);
    assert_eq!(recording.toast(), "The model is at work: end the recording first.");
    recording.voice(VoiceEvent::Model(ModelState::Failed("Its files are broken.".to_owned())));
    assert_eq!(recording.toast(), "The model is at work: end the recording first.");
}

#[test]
fn the_status_is_written_down_when_it_was_asked_for() {
    let mut stage = Stage::open();
    stage.voice(VoiceEvent::Status(Box::new(status())));
    assert!(!stage.screen().contains("whisper-tiny"));
    stage.command("/voice status");
    stage.voice(VoiceEvent::Status(Box::new(status())));
    let screen = stage.screen();
    for part in ["no model is loaded", "whisper-tiny", "needs 2 GB of free memory", "Built-in", "1.5 GB free"]
    {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
}

#[test]
fn settings_reach_an_engine_that_runs() {
    let mut stage = Stage::open();
    let mut loaded = Loaded::defaults();
    loaded.settings.voice.engine.language = "de".to_owned();
    let engine = Box::new(loaded.settings.voice.engine.clone());
    let done = Done::Set {
        key: "voice.language".to_owned(),
        value: "de".to_owned(),
        but: String::new(),
        loaded: Box::new(loaded),
    };
    assert_eq!(stage.done(done), asks(VoiceCommand::Configure(engine)));
    assert_eq!(stage.state.loaded.settings.voice.engine.language, "de");
}

#[test]
fn the_key_is_told_as_terminals_tell_it() {
    for bytes in ["\0", "\x1b[32;5u", "\x1b[27;5;32~"] {
        let mut heard = Vec::new();
        crate::term::escape::Parser::default().push(bytes.as_bytes(), std::time::Instant::now(), &mut heard);
        assert_eq!(heard, [Input::Key(key_event("ctrl+space"))], "{bytes:?}");
    }
    let mut heard = Vec::new();
    crate::term::escape::Parser::default().push(b"\x1b[32;5:3u", std::time::Instant::now(), &mut heard);
    assert_eq!(heard, [Input::Key(released("ctrl+space"))]);
}
