//! Which model a session starts on. Pure: facts go in, a choice or the wish to look for local servers comes out.
//!
//! Order: `--model`; the session's last model; the setting `model.default`; the first provider with a key; a server on
//! this machine; the demo. Nothing is looked for with `--model`, with a default in the settings, or offline.

/// Why the session starts on its model. Strongest first: a reason passes over those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartReason {
    /// `--model` says so.
    Asked,
    /// The session's last model.
    Session,
    /// The setting `model.default`.
    Configured,
    /// The first provider with a key.
    Key,
    /// A server on this machine answered.
    LocalServer,
    /// There is nothing else.
    Demo,
}

/// How far a wished model can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Requests can be sent.
    Ready,
    /// Its provider has no key.
    NoKey,
    /// There is no such model.
    Unknown,
}

/// What is known about servers on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalServers {
    /// Nobody looked.
    NotLooked,
    /// One answered with a model.
    Found,
    /// None did.
    None,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartFacts {
    /// `--model` is there.
    pub asked: bool,
    /// The session's last model.
    pub session: Option<Availability>,
    /// The setting `model.default`.
    pub configured: Option<Availability>,
    /// Some provider has a key and a model to start on.
    pub keyed: bool,
    /// Nothing may be looked for.
    pub offline: bool,
    /// Servers on this machine.
    pub local: LocalServers,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartDecision {
    /// Start on this.
    Take(StartReason),
    /// Look for servers on this machine, then decide again.
    LookForServers,
}

/// Decides.
pub fn decide(facts: &StartFacts) -> StartDecision {
    use StartDecision::{LookForServers, Take};
    if facts.asked {
        return Take(StartReason::Asked);
    }
    if facts.session == Some(Availability::Ready) {
        return Take(StartReason::Session);
    }
    match facts.configured {
        // Without a key it is still what the user wants: the first request says what is missing.
        Some(Availability::Ready | Availability::NoKey) => return Take(StartReason::Configured),
        Some(Availability::Unknown) | None => {}
    }
    if facts.keyed {
        return Take(StartReason::Key);
    }
    match facts.local {
        LocalServers::Found => Take(StartReason::LocalServer),
        LocalServers::NotLooked if !facts.offline && facts.configured.is_none() => LookForServers,
        LocalServers::NotLooked | LocalServers::None => Take(StartReason::Demo),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Availability::{NoKey, Ready, Unknown};
    use StartDecision::{LookForServers, Take};

    const NOTHING: StartFacts = StartFacts {
        asked: false,
        session: None,
        configured: None,
        keyed: false,
        offline: false,
        local: LocalServers::NotLooked,
    };

    #[test]
    fn the_stronger_wish_wins() {
        let everything = StartFacts {
            asked: true,
            session: Some(Ready),
            configured: Some(Ready),
            keyed: true,
            local: LocalServers::Found,
            ..NOTHING
        };
        for (facts, expected) in [
            (everything, StartReason::Asked),
            (StartFacts { asked: false, ..everything }, StartReason::Session),
            (StartFacts { asked: false, session: Some(NoKey), ..everything }, StartReason::Configured),
            (StartFacts { asked: false, session: Some(Unknown), ..everything }, StartReason::Configured),
            (
                StartFacts { asked: false, session: None, configured: Some(NoKey), ..everything },
                StartReason::Configured,
            ),
            (
                StartFacts { asked: false, session: None, configured: Some(Unknown), ..everything },
                StartReason::Key,
            ),
            (StartFacts { keyed: true, local: LocalServers::Found, ..NOTHING }, StartReason::Key),
            (StartFacts { local: LocalServers::Found, ..NOTHING }, StartReason::LocalServer),
            (StartFacts { local: LocalServers::None, ..NOTHING }, StartReason::Demo),
            (StartFacts { offline: true, ..NOTHING }, StartReason::Demo),
            (StartFacts { configured: Some(Unknown), ..NOTHING }, StartReason::Demo),
        ] {
            assert_eq!(decide(&facts), Take(expected), "{facts:?}");
        }
    }

    #[test]
    fn servers_are_looked_for_only_when_nothing_else_is_there() {
        assert_eq!(decide(&NOTHING), LookForServers);
        assert_eq!(decide(&StartFacts { session: Some(NoKey), ..NOTHING }), LookForServers);
        for asked in [true, false] {
            for configured in [None, Some(Ready), Some(NoKey), Some(Unknown)] {
                for offline in [true, false] {
                    let facts = StartFacts { asked, configured, offline, ..NOTHING };
                    let looks = !asked && configured.is_none() && !offline;
                    assert_eq!(decide(&facts) == LookForServers, looks, "{facts:?}");
                }
            }
        }
    }
}
