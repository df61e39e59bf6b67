//! Which source a setting means.

use super::command::{self, CommandSource};
use super::device::DeviceSource;
use super::error::CaptureError;
use super::source::{Outlet, Source};
use super::surroundings::Surroundings;
use crate::proto::voice::SoundSource;

/// The source that the settings name; nothing is opened before it runs.
///
/// # Errors
/// The setting is no command line.
pub fn choose(source: &SoundSource, microphone: &str) -> Result<Box<dyn Source>, CaptureError> {
    let device = || Box::new(DeviceSource::new(microphone.to_owned()));
    Ok(match source {
        SoundSource::Auto => Box::new(AutoSource {
            surroundings: Surroundings::here(),
            sources: std::iter::once::<Result<Box<dyn Source>, CaptureError>>(Ok(device()))
                .chain(command::KNOWN.iter().map(|program| {
                    let source: Box<dyn Source> = Box::new(CommandSource::new(program, "")?);
                    Ok(source)
                }))
                .collect::<Result<_, _>>()?,
        }),
        SoundSource::Device => Box::new(AutoSource {
            // Whoever names the device of this machine means it, also over SSH.
            surroundings: Surroundings { is_ssh: false, ..Surroundings::here() },
            sources: vec![device()],
        }),
        SoundSource::Command(line) => Box::new(CommandSource::new(line, microphone)?),
    })
}

/// The first source that opens.
struct AutoSource {
    surroundings: Surroundings,
    sources: Vec<Box<dyn Source>>,
}

impl Source for AutoSource {
    fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError> {
        if let Some(why) = self.surroundings.why_not_by_itself() {
            return Err(CaptureError::NoAudio(why.to_owned()));
        }
        let mut first = None;
        for source in &mut self.sources {
            match source.run(outlet) {
                Err(error) if !outlet.is_open() && !outlet.is_closed() => {
                    // What failed first is what people expect to work.
                    first.get_or_insert(error);
                }
                other => return other,
            }
        }
        let Some(error) = first else { return Ok(()) };
        Err(match self.surroundings.why_none() {
            Some(why) if matches!(error, CaptureError::NoMicrophone(_) | CaptureError::System { .. }) => {
                CaptureError::NoAudio(why.to_owned())
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::{Note, start};
    use super::*;
    use std::sync::mpsc;

    /// Fails at once, or opens and then ends or fails.
    struct Fake(&'static str, bool, Result<(), CaptureError>);

    impl Source for Fake {
        fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError> {
            if self.1 {
                drop(outlet.open(self.0, 16_000));
            }
            self.2.clone()
        }
    }

    fn outcome(surroundings: Surroundings, sources: Vec<Fake>) -> (Vec<String>, Result<(), CaptureError>) {
        let sources = sources.into_iter().map(|fake| Box::new(fake) as Box<dyn Source>).collect();
        let (sender, notes) = mpsc::channel();
        let source = Box::new(AutoSource { surroundings, sources });
        let _tap = start(source, move |note| sender.send(note).unwrap()).unwrap();
        let mut opened = Vec::new();
        loop {
            match notes.recv().unwrap() {
                Note::Opened { name, .. } => opened.push(name),
                Note::Notice(_) => {}
                Note::Ended(result) => return (opened, result),
            }
        }
    }

    #[test]
    fn the_first_that_opens() {
        let busy = || CaptureError::Busy("default".to_owned());
        let gone = || CaptureError::Lost("default".to_owned());
        let program =
            || CaptureError::Program { program: "parec".to_owned(), detail: "is not installed".to_owned() };
        let here = || Surroundings { has_device: true, ..Surroundings::default() };
        let (opened, result) = outcome(
            here(),
            vec![Fake("a", false, Err(busy())), Fake("b", true, Ok(())), Fake("c", true, Ok(()))],
        );
        assert_eq!((opened, result), (vec!["b".to_owned()], Ok(())));
        let (opened, result) = outcome(here(), vec![Fake("a", true, Err(gone())), Fake("b", true, Ok(()))]);
        assert_eq!(
            (opened, result),
            (vec!["a".to_owned()], Err(gone())),
            "one that was open is not replaced"
        );
        let (opened, result) =
            outcome(here(), vec![Fake("a", false, Err(busy())), Fake("b", false, Err(program()))]);
        assert_eq!((opened, result), (vec![], Err(busy())), "the first error counts");
    }

    #[test]
    fn where_there_can_be_none_it_says_why() {
        let none = || CaptureError::NoMicrophone("default".to_owned());
        let ssh = Surroundings { is_ssh: true, has_device: true, ..Surroundings::default() };
        let (opened, result) = outcome(ssh, vec![Fake("a", true, Ok(()))]);
        assert!(opened.is_empty(), "nothing is opened");
        assert!(matches!(result, Err(CaptureError::NoAudio(why)) if why.contains("SSH")));
        if cfg!(target_os = "linux") {
            let container = Surroundings { is_container: true, ..Surroundings::default() };
            let (_none, result) = outcome(container, vec![Fake("a", false, Err(none()))]);
            assert!(matches!(result, Err(CaptureError::NoAudio(why)) if why.contains("container")));
        }
        let here = Surroundings { has_device: true, ..Surroundings::default() };
        assert_eq!(outcome(here, vec![Fake("a", false, Err(none()))]).1, Err(none()));
    }

    #[test]
    fn settings() {
        assert!(choose(&SoundSource::Auto, "").is_ok());
        assert!(choose(&SoundSource::Device, "Studio").is_ok());
        assert!(choose(&SoundSource::Command("arecord".to_owned()), "").is_ok());
        assert!(choose(&SoundSource::Command("sox 'a".to_owned()), "").is_err());
    }
}
