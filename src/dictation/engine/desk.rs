//! The thread around the machine: gives it what happens, and does what follows.

use super::ear::{Ear, EarAsk, Heard};
use super::machine::{Input, Machine, Model, Output};
use super::parts::{HeardFn, Models, Parts, Picked};
use super::worker::{self, News, Order};
use crate::dictation::transcriber::{Ask, Cancel};
use crate::proto::voice::{
    Microphone, ModelState, VoiceCommand, VoiceEvent, VoiceFailure, VoiceSettings, VoiceStatus,
};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the desk waits for its threads when it ends.
const END_WITHIN: Duration = Duration::from_millis(400);

pub(super) type Tell = Arc<dyn Fn(VoiceEvent) + Send + Sync>;

/// What comes to the desk.
pub(super) enum Letter {
    Command(VoiceCommand),
    Heard(Heard),
    Worker(News),
    Fetching(String, u64, u64),
    Fetched(String, Result<(), (VoiceFailure, String)>),
    Quit,
}

pub(super) struct Desk {
    machine: Machine,
    settings: VoiceSettings,
    tell: Tell,
    letters: Sender<Letter>,
    began: Instant,
    models: Arc<dyn Models>,
    /// Made by the first recording.
    ear: Option<Box<dyn Ear>>,
    make_ear: Option<MakeEar>,
    microphones: Arc<dyn Fn() -> Result<Vec<Microphone>, String> + Send + Sync>,
    worker: Option<WorkerPlace>,
    state: ModelState,
    /// Key of the model that is in memory or on its way there.
    loading: Option<String>,
    /// The user was asked about this one and has not answered.
    offered: Option<String>,
    fetching: Option<(String, Cancel)>,
    decoding: Cancel,
    decoding_partial: Cancel,
    /// Of models that are loaded; only the end calls them off.
    opening: Cancel,
}

type MakeEar = Box<dyn FnOnce(HeardFn, &VoiceSettings) -> Box<dyn Ear> + Send>;

struct WorkerPlace {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
    ended: Receiver<()>,
}

impl Desk {
    pub(super) fn new(parts: Parts, settings: VoiceSettings, tell: Tell, letters: Sender<Letter>) -> Self {
        Self {
            machine: Machine::new(settings.partial_text),
            settings,
            tell,
            letters,
            began: Instant::now(),
            models: parts.models,
            ear: None,
            make_ear: Some(parts.ear),
            microphones: parts.microphones,
            worker: None,
            state: ModelState::Unloaded,
            loading: None,
            offered: None,
            fetching: None,
            decoding: Cancel::default(),
            decoding_partial: Cancel::default(),
            opening: Cancel::default(),
        }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Letter>) {
        loop {
            let letter = match self.machine.wake_at() {
                None => inbox.recv().ok(),
                Some(at) => match inbox.recv_timeout(at.saturating_sub(self.began.elapsed())) {
                    Ok(letter) => Some(letter),
                    Err(RecvTimeoutError::Timeout) => {
                        self.put(Input::Clock);
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => None,
                },
            };
            match letter {
                None | Some(Letter::Quit) => break,
                Some(letter) => self.read(letter),
            }
        }
        self.end();
    }

    fn read(&mut self, letter: Letter) {
        match letter {
            Letter::Command(command) => self.command(command),
            Letter::Heard(heard) => self.put(Input::Heard(heard)),
            Letter::Worker(news) => self.news(news),
            Letter::Fetching(model, done, total) => {
                (self.tell)(VoiceEvent::Fetching { model, done, total });
                if self.machine.needs_model() {
                    self.put(Input::Model(Model::Fetching));
                }
            }
            Letter::Fetched(model, result) => self.fetched(model, result),
            Letter::Quit => {}
        }
    }

    fn command(&mut self, command: VoiceCommand) {
        match command {
            VoiceCommand::Record(id) => {
                // The name is shown from the first moment on; a wrong setting is told when the model is needed.
                self.machine.model_name =
                    self.models.pick(&self.settings).map_or_else(|_| String::new(), |picked| picked.name);
                self.put(Input::Record(id));
            }
            VoiceCommand::Stop { recording, may_resume } => self.put(Input::Stop(recording, may_resume)),
            VoiceCommand::Resume(id) => self.put(Input::Resume(id)),
            VoiceCommand::Cancel(id) => self.put(Input::Cancel(id)),
            VoiceCommand::Retry(id) => self.put(Input::Retry(id)),
            VoiceCommand::Fetch(name) => self.fetch(name),
            VoiceCommand::StopFetching => self.stop_fetching(),
            VoiceCommand::Status => self.status(),
            VoiceCommand::SetUp => {
                self.need_model();
                if matches!(self.state, ModelState::Ready { .. }) {
                    // Nothing changes, and whoever asks wants to know.
                    (self.tell)(VoiceEvent::Model(self.state.clone()));
                }
            }
            VoiceCommand::Unload => {
                if self.machine.is_idle() {
                    self.order(Order::Unload);
                }
            }
            VoiceCommand::Configure(settings) => self.configure(*settings),
        }
    }

    fn configure(&mut self, settings: VoiceSettings) {
        self.settings = settings;
        self.machine.set_partial(self.settings.partial_text);
        if let Some(ear) = &mut self.ear {
            ear.ask(EarAsk::Configure(Box::new(self.settings.clone())));
        }
        if self.worker.is_some() {
            self.order(Order::Idle(self.settings.idle));
        }
    }

    fn put(&mut self, input: Input) {
        let before = self.machine.ignored();
        let outputs = self.machine.take(input, self.began.elapsed());
        if self.machine.ignored() > before {
            tracing::debug!(ignored = self.machine.ignored(), "something came too late, and was ignored");
        }
        for output in outputs {
            match output {
                Output::Tell(event) => (self.tell)(event),
                Output::Ear(ask) => self.ask_ear(ask),
                Output::NeedModel => self.need_model(),
                Output::Decode(recording, chunk) => {
                    self.decoding = Cancel::default();
                    let ask = self.ask(&self.decoding);
                    self.order(Order::Decode(recording, chunk, ask));
                }
                Output::DecodePartial { recording, number, samples } => {
                    self.decoding_partial = Cancel::default();
                    let ask = self.ask(&self.decoding_partial);
                    self.order(Order::DecodePartial(recording, number, samples, ask));
                }
                Output::Abandon => self.decoding.cancel(),
                Output::AbandonPartial => self.decoding_partial.cancel(),
            }
        }
    }

    fn ask(&self, cancel: &Cancel) -> Ask {
        let language = Some(self.settings.language.clone());
        let language = language.filter(|language| !matches!(language.as_str(), "" | "auto"));
        Ask { language, cancel: cancel.clone() }
    }

    fn ask_ear(&mut self, ask: EarAsk) {
        if let Some(make) = self.make_ear.take() {
            let letters = self.letters.clone();
            let heard: HeardFn = Arc::new(move |heard| {
                // After the end nobody listens to the ear any more.
                let _ended = letters.send(Letter::Heard(heard));
            });
            self.ear = Some(make(heard, &self.settings));
        }
        if let Some(ear) = &mut self.ear {
            ear.ask(ask);
        }
    }

    /// Sees to it that the model comes into memory, or tells why it does not.
    fn need_model(&mut self) {
        let picked = match self.models.pick(&self.settings) {
            Ok(picked) => picked,
            Err(text) => return self.failed(VoiceFailure::NoModel, text),
        };
        if self.loading.as_ref() == Some(&picked.key) {
            let model = match self.state {
                ModelState::Ready { .. } => Model::Ready,
                _ => Model::Loading,
            };
            return self.put(Input::Model(model));
        }
        if picked.is_here {
            return self.load(picked);
        }
        if self.fetching.is_some() {
            return self.put(Input::Model(Model::Fetching));
        }
        let offer = self.models.offer(&picked.name, Some(picked.why.clone())).filter(|_| picked.can_fetch);
        let Some(offer) = offer else {
            let text =
                format!("The speech model {} is not there. Choose another, or give its path.", picked.title);
            return self.failed(VoiceFailure::NoModel, text);
        };
        if self.settings.offline {
            let text = format!(
                "{} is not on this machine, and Mynah is offline (`network.offline`). Choose a model by its path, or go \
                 online.",
                picked.title
            );
            return self.failed(VoiceFailure::NoModel, text);
        }
        self.offered = Some(picked.name);
        (self.tell)(VoiceEvent::Offer(Box::new(offer)));
        self.put(Input::Model(Model::Consent));
    }

    fn load(&mut self, picked: Picked) {
        self.loading = Some(picked.key.clone());
        self.state = ModelState::Loading(picked.name.clone());
        let order = Order::Load(Box::new(picked), Box::new(self.settings.clone()), self.opening.clone());
        if self.order(order) {
            self.put(Input::Model(Model::Loading));
        }
    }

    fn failed(&mut self, failure: VoiceFailure, text: String) {
        self.loading = None;
        if self.machine.is_idle() {
            // Only a recording says it by its end.
            (self.tell)(VoiceEvent::Model(ModelState::Failed(text.clone())));
        }
        self.state = ModelState::Failed(text.clone());
        self.put(Input::Model(Model::Failed(failure, text)));
    }

    fn news(&mut self, news: News) {
        match news {
            News::Loading(name) => self.state_is(ModelState::Loading(name)),
            News::Ready { name, precision, key } => {
                if self.loading.as_ref() != Some(&key) {
                    // Another is wanted by now, and on its way.
                    return;
                }
                self.state_is(ModelState::Ready { name, precision });
                self.put(Input::Model(Model::Ready));
            }
            News::LoadFailed(failure, text) => {
                self.loading = None;
                self.state_is(ModelState::Failed(text.clone()));
                self.put(Input::Model(Model::Failed(failure, text)));
            }
            News::Unloaded => {
                self.loading = None;
                self.state_is(ModelState::Unloaded);
                self.put(Input::Model(Model::Away));
            }
            News::Decoded { recording, number, result } => {
                self.put(Input::Decoded { recording, number, result });
            }
            News::Partial { recording, number, text } => {
                self.put(Input::Partial { recording, number, text });
            }
        }
    }

    fn state_is(&mut self, state: ModelState) {
        (self.tell)(VoiceEvent::Model(state.clone()));
        self.state = state;
    }

    fn fetch(&mut self, name: String) {
        self.offered = None;
        if self.fetching.is_some() {
            return;
        }
        let cancel = Cancel::default();
        let (models, settings, letters) =
            (Arc::clone(&self.models), self.settings.clone(), self.letters.clone());
        let (model, stop) = (name.clone(), cancel.clone());
        let thread = std::thread::Builder::new().name("speech-fetch".to_owned()).spawn(move || {
            let progress = &mut |done, total| {
                let _ended = letters.send(Letter::Fetching(model.clone(), done, total));
            };
            let result = models.fetch(&model, &settings, &stop, progress);
            let _ended = letters.send(Letter::Fetched(model.clone(), result));
        });
        if let Err(error) = thread {
            return self
                .fetched(name, Err((VoiceFailure::Internal, format!("No thread to fetch with: {error}."))));
        }
        self.fetching = Some((name, cancel));
        if self.machine.needs_model() {
            self.put(Input::Model(Model::Fetching));
        }
    }

    fn fetched(&mut self, model: String, result: Result<(), (VoiceFailure, String)>) {
        self.fetching = None;
        let told = result.as_ref().copied().map_err(|(_, text)| text.clone());
        (self.tell)(VoiceEvent::Fetched { model, result: told });
        if !self.machine.needs_model() {
            return;
        }
        match result {
            Ok(()) => self.need_model(),
            Err((failure, text)) => self.failed(failure, text),
        }
    }

    fn stop_fetching(&mut self) {
        if let Some((_, cancel)) = &self.fetching {
            // The thread tells the end.
            cancel.cancel();
            return;
        }
        if self.offered.take().is_some() && self.machine.needs_model() {
            let text = "There is no speech model to turn it into text. /voice setup fetches one.".to_owned();
            self.failed(VoiceFailure::NoModel, text);
        }
    }

    /// On a thread of its own: listing devices and files takes its time.
    fn status(&self) {
        let (models, settings, tell) =
            (Arc::clone(&self.models), self.settings.clone(), Arc::clone(&self.tell));
        let (microphones, state) = (Arc::clone(&self.microphones), self.state.clone());
        let spawned = std::thread::Builder::new().name("speech-status".to_owned()).spawn(move || {
            tell(VoiceEvent::Status(Box::new(look(&*models, &settings, &*microphones, state))));
        });
        if let Err(error) = spawned {
            (self.tell)(VoiceEvent::Notice(format!("The state of dictation can't be told: {error}.")));
        }
    }

    /// Gives the worker an order; starts it first. False if there is no worker to be had.
    fn order(&mut self, order: Order) -> bool {
        if self.worker.is_none() {
            if matches!(order, Order::Unload) {
                return true;
            }
            let letters = self.letters.clone();
            let (alive, ended) = channel::<()>();
            let started = worker::start(Arc::clone(&self.models), self.settings.idle, move |news| {
                // Held until the thread ends: whoever waits for that sees the channel closed.
                let _alive = &alive;
                let _ended = letters.send(Letter::Worker(news));
            });
            match started {
                Ok((orders, thread)) => self.worker = Some(WorkerPlace { orders, thread, ended }),
                Err(error) => {
                    self.failed(VoiceFailure::Internal, format!("No thread for the speech model: {error}."));
                    return false;
                }
            }
        }
        // It ends only with us.
        self.worker.as_ref().is_some_and(|worker| worker.orders.send(order).is_ok())
    }

    fn end(mut self) {
        self.decoding.cancel();
        self.decoding_partial.cancel();
        self.opening.cancel();
        if let Some((_, cancel)) = &self.fetching {
            cancel.cancel();
        }
        self.ear = None;
        if let Some(WorkerPlace { orders, thread, ended }) = self.worker.take() {
            drop(orders);
            if ended.recv_timeout(END_WITHIN) == Err(RecvTimeoutError::Disconnected) {
                // Its panic was told by the hook.
                let _panicked = thread.join();
            }
        }
    }
}

/// What there is, for a status.
pub(super) fn look(
    models: &dyn Models,
    settings: &VoiceSettings,
    microphones: &(dyn Fn() -> Result<Vec<Microphone>, String> + Send + Sync),
    state: ModelState,
) -> VoiceStatus {
    let (microphones, no_microphones) = match microphones() {
        Ok(list) => (list, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let (chosen, why) = match models.pick(settings) {
        Ok(picked) => (picked.name, picked.why),
        Err(why) => (String::new(), why),
    };
    let (free_memory, cache) = models.room();
    let models = models.rows(settings);
    VoiceStatus { microphones, no_microphones, models, chosen, why, state, free_memory, cache }
}
