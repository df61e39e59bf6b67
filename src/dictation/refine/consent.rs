//! Whether a provider may get what was said, and an excerpt of what an agent said. Pure: settings and facts go in.
//!
//! Both switches are off by default. A provider that was never agreed to is asked for, once; another provider, or the
//! same one at another address, is asked for again. An excerpt of this session's agent goes to the session's own provider
//! (which has seen the text), and to others only where the user has named them; one of another program's session only
//! to those that the user has named.

use crate::config::voice::{Cleanup, ReferenceSource};

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Provider id.
    pub provider: String,
    /// Its host, with the port if it is an unusual one.
    pub host: String,
}

impl Destination {
    /// As consent is kept in the settings: `provider@host`. A bare `provider` that a user wrote stands for any host.
    pub fn key(&self) -> String {
        format!("{}@{}", self.provider, self.host)
    }

    fn is_named_in(&self, list: &[String]) -> bool {
        list.iter().any(|named| *named == self.provider || *named == self.key())
    }
}

/// Whether to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Send the transcript, and the reference if there is one.
    Send,
    /// Send the transcript alone.
    WithoutReference,
    /// Ask the user first; the transcript is used as it is until then.
    AskFor(Question),
    /// Send nothing: it is off.
    No,
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Who would get it.
    pub destination: Destination,
    /// An excerpt of an agent's last message would go there as well, and to agree means to agree to that too.
    pub with_reference: bool,
}

impl Question {
    /// What the user reads.
    pub fn words(&self) -> String {
        let Destination { provider, host } = &self.destination;
        let what = format!("Correcting a dictation sends what you said to {provider} ({host}).");
        if self.with_reference {
            format!(
                "{what} An excerpt of the agent's last message goes with it, to spell names and commands. Lines and \
                 words that look like secrets are taken out first, but this is a heuristic and can miss secrets."
            )
        } else {
            what
        }
    }
}

/// Decides. `session`: whom this session talks to. The reference that the settings want is judged by its source, so
/// that the answer does not depend on whether a message was found.
pub fn decide(cleanup: &Cleanup, to: &Destination, session: Option<&Destination>) -> Consent {
    if !cleanup.is_on {
        return Consent::No;
    }
    let reference_is_agreed = to.is_named_in(&cleanup.reference_providers);
    let (wants_reference, may_have_reference) = match cleanup.reference {
        ReferenceSource::Off => (false, false),
        ReferenceSource::Own => (true, session == Some(to) || reference_is_agreed),
        ReferenceSource::FocusedWindow => (true, reference_is_agreed),
    };
    if !to.is_named_in(&cleanup.providers) {
        return Consent::AskFor(Question { destination: to.clone(), with_reference: wants_reference });
    }
    if may_have_reference { Consent::Send } else { Consent::WithoutReference }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn cleanup(
        is_on: bool,
        reference: ReferenceSource,
        providers: &[&str],
        for_reference: &[&str],
    ) -> Cleanup {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Cleanup {
            is_on,
            model: None,
            limit: Duration::from_secs(15),
            providers: owned(providers),
            reference,
            reference_chars: 6_000,
            reference_providers: owned(for_reference),
        }
    }

    fn at(provider: &str, host: &str) -> Destination {
        Destination { provider: provider.to_owned(), host: host.to_owned() }
    }

    #[test]
    fn who_gets_what() {
        use ReferenceSource::{FocusedWindow, Off, Own};
        let (here, there) = (at("a", "a.org"), at("b", "b.org"));
        let elsewhere = at("a", "proxy.org");
        let ask = |to: &Destination, with_reference| {
            Consent::AskFor(Question { destination: to.clone(), with_reference })
        };
        let table = [
            (cleanup(false, Off, &["a"], &[]), &here, Some(&here), Consent::No),
            (cleanup(false, Own, &["a"], &["a"]), &here, Some(&here), Consent::No),
            (cleanup(true, Off, &[], &[]), &here, Some(&here), ask(&here, false)),
            (cleanup(true, Off, &["a"], &[]), &here, Some(&here), Consent::WithoutReference),
            (cleanup(true, Own, &["a"], &[]), &here, Some(&here), Consent::Send),
            (cleanup(true, Own, &["a@a.org"], &[]), &here, Some(&here), Consent::Send),
            (cleanup(true, Own, &["a"], &[]), &there, Some(&here), ask(&there, true)),
            (cleanup(true, Own, &["a", "b"], &[]), &there, Some(&here), Consent::WithoutReference),
            (cleanup(true, Own, &["b"], &["b"]), &there, Some(&here), Consent::Send),
            (cleanup(true, Own, &["a@a.org"], &[]), &elsewhere, Some(&here), ask(&elsewhere, true)),
            (cleanup(true, Own, &["a"], &[]), &elsewhere, Some(&here), Consent::WithoutReference),
            (cleanup(true, Own, &["a"], &[]), &here, None, Consent::WithoutReference),
            (cleanup(true, FocusedWindow, &["a"], &[]), &here, Some(&here), Consent::WithoutReference),
            (cleanup(true, FocusedWindow, &["a"], &["a"]), &here, Some(&here), Consent::Send),
            (cleanup(true, FocusedWindow, &[], &["a"]), &here, Some(&here), ask(&here, true)),
        ];
        for (number, (cleanup, to, session, expected)) in table.into_iter().enumerate() {
            assert_eq!(decide(&cleanup, to, session), expected, "{number}");
        }
    }

    #[test]
    fn nobody_claims_that_all_secrets_are_found() {
        let question = |with_reference| Question { destination: at("a", "a.org"), with_reference }.words();
        assert!(question(true).contains("can miss secrets") && question(true).contains("a.org"));
        assert!(!question(false).contains("excerpt"));
    }
}
