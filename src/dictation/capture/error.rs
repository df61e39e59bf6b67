//! Why there is no sound, in words for people.

use crate::proto::voice::VoiceFailure;

/// Why a source gives no sound, or no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// There is no audio on this machine, and why.
    #[error("{0}")]
    NoAudio(String),
    /// The device is not there.
    #[error("There is no microphone “{0}”. Connect one, or choose another with /voice mic.")]
    NoMicrophone(String),
    /// The system does not let us use it.
    #[error(
        "This program may not use the microphone “{0}”. Allow it in the system's settings{hint}, then try again.",
        hint = permission_hint()
    )]
    Permission(String),
    /// Another program uses it.
    #[error(
        "Another program uses the microphone “{0}”. Close that, or choose another microphone with /voice mic."
    )]
    Busy(String),
    /// It was there and is gone.
    #[error("The microphone “{0}” is gone. Connect it again, or choose another with /voice mic.")]
    Lost(String),
    /// It opened and gave nothing.
    #[error(
        "No sound came from the microphone “{name}” within {seconds} s. Check that it is connected and that this \
         program may use it{hint}, or choose another with /voice mic.",
        hint = permission_hint()
    )]
    NoSound {
        /// The microphone.
        name: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The system's audio has failed in another way.
    #[error("The microphone “{name}” can't be used: {detail}. Choose another with /voice mic.")]
    System {
        /// The microphone.
        name: String,
        /// What the system says.
        detail: String,
    },
    /// A recording program is not there, or has ended.
    #[error("The recording program “{program}” {detail}. Check the setting voice.source.")]
    Program {
        /// Its name.
        program: String,
        /// What it did.
        detail: String,
    },
    /// A file can't be used as a microphone.
    #[error("The sound file can't be read: {0}")]
    File(String),
}

impl CaptureError {
    /// In which way dictation fails by it.
    pub const fn failure(&self) -> VoiceFailure {
        match self {
            Self::NoAudio(_) | Self::NoMicrophone(_) | Self::Busy(_) | Self::System { .. } => {
                VoiceFailure::NoMicrophone
            }
            Self::Program { .. } | Self::File(_) => VoiceFailure::NoMicrophone,
            Self::Permission(_) => VoiceFailure::PermissionDenied,
            Self::Lost(_) => VoiceFailure::MicrophoneLost,
            Self::NoSound { .. } => VoiceFailure::Timeout,
        }
    }
}

/// What is to be checked where, on this system.
pub(super) const fn permission_hint() -> &'static str {
    if cfg!(target_os = "macos") {
        " (Privacy & Security, Microphone, the terminal)"
    } else {
        " (on Linux: membership of the group “audio”)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_says_what_to_do() {
        let name = || "Studio".to_owned();
        let all = [
            (CaptureError::NoMicrophone(name()), VoiceFailure::NoMicrophone),
            (CaptureError::Permission(name()), VoiceFailure::PermissionDenied),
            (CaptureError::Busy(name()), VoiceFailure::NoMicrophone),
            (CaptureError::Lost(name()), VoiceFailure::MicrophoneLost),
            (CaptureError::NoSound { name: name(), seconds: 3 }, VoiceFailure::Timeout),
            (CaptureError::System { name: name(), detail: "odd".to_owned() }, VoiceFailure::NoMicrophone),
            (
                CaptureError::Program { program: name(), detail: "has ended".to_owned() },
                VoiceFailure::NoMicrophone,
            ),
        ];
        for (error, failure) in all {
            let text = error.to_string();
            assert_eq!(error.failure(), failure, "{text}");
            assert!(text.contains("Studio") && text.ends_with('.'), "{text}");
            let advice = ["choose another", "Choose another", "Allow it", "Check"];
            assert!(advice.iter().any(|advice| text.contains(advice)), "{text}");
        }
    }
}
