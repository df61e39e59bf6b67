//! The system's audio: CoreAudio, ALSA, and through ALSA's plugins PulseAudio and PipeWire.
//!
//! A stream lives and dies on the thread of its source. Its callback does what [`Intake`] does, and nothing else; its
//! errors are told apart into those that end a recording and those that cost some samples.

use super::error::CaptureError;
use super::intake::Intake;
use super::source::{Outlet, Source};
use super::surroundings::Surroundings;
use crate::dictation::audio::SAMPLE_RATE;
use crate::proto::voice::Microphone;
use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{
    BufferSize, Device, ErrorKind, FromSample, Host, SampleFormat, SizedSample, Stream, StreamConfig,
};

/// How the system's default is called where it has no name of its own.
const DEFAULT: &str = "default";

/// Frames that are asked for at once, from 512 to 1,600: larger ones cost the first word.
const BLOCK: std::ops::RangeInclusive<u32> = 512..=1_600;

/// Records from a microphone of the system.
#[derive(Debug)]
pub struct DeviceSource {
    microphone: String,
}

impl DeviceSource {
    /// The microphone of this name, or the default if the name is empty. One that is missing is told, and the default
    /// serves.
    pub const fn new(microphone: String) -> Self {
        Self { microphone }
    }

    fn find(&self, host: &Host, outlet: &Outlet) -> Result<(String, Device), CaptureError> {
        if !self.microphone.is_empty() && self.microphone != DEFAULT {
            let named = inputs(host)
                .into_iter()
                .find(|input| input.name == self.microphone || input.id == self.microphone);
            match named {
                Some(input) => return Ok((input.name, input.device)),
                None => outlet.notice(format!(
                    "The microphone “{}” is not there; the default one serves. Choose another with /voice mic.",
                    self.microphone
                )),
            }
        }
        let device =
            host.default_input_device().ok_or_else(|| CaptureError::NoMicrophone(DEFAULT.to_owned()))?;
        Ok((name_of_default(&device), device))
    }
}

impl Source for DeviceSource {
    fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError> {
        let host = host()?;
        let (name, device) = self.find(&host, outlet)?;
        let opened = Opening { name: &name, device: &device, outlet }.open()?;
        let waited = outlet.wait(None);
        // Ends the callbacks before anyone hears that the source has ended.
        drop(opened);
        waited
    }
}

/// All microphones, the system's default first.
///
/// # Errors
/// There is no audio system, or nothing that it could record from.
pub fn list() -> Result<Vec<Microphone>, CaptureError> {
    if let Some(why) = Surroundings::here().why_none() {
        // The list would name devices all the same: those that lead to whatever there may be.
        return Err(CaptureError::NoAudio(why.to_owned()));
    }
    let host = host()?;
    let default = host.default_input_device().map(|device| name_of_default(&device));
    let mut microphones: Vec<Microphone> =
        default.iter().map(|name| Microphone { name: name.clone(), is_default: true }).collect();
    for input in inputs(&host) {
        if microphones.iter().all(|other| other.name != input.name) {
            microphones.push(Microphone { name: input.name, is_default: false });
        }
    }
    Ok(microphones)
}

fn host() -> Result<Host, CaptureError> {
    #[cfg(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    super::alsa_symbols::load().map_err(CaptureError::NoAudio)?;
    cpal::host_from_id(cpal::default_host().id())
        .map_err(|error| CaptureError::NoAudio(format!("No audio here: {error}.")))
}

struct Input {
    /// As it is shown and kept.
    name: String,
    /// As the system calls it.
    id: String,
    device: Device,
}

/// What can be recorded from.
fn inputs(host: &Host) -> Vec<Input> {
    // An error is the same as none: the default is tried in any case, and its error is told.
    let devices = host.devices().map(|devices| devices.collect::<Vec<_>>()).unwrap_or_default();
    let mut inputs: Vec<Input> = Vec::new();
    for device in devices {
        let Ok(id) = device.id() else { continue };
        let id = id.id().to_owned();
        if !device.supports_input() || (cfg!(target_os = "linux") && !is_for_people(&id)) {
            continue;
        }
        let description = device.description();
        let name =
            description.map_or_else(|_nameless| id.clone(), |description| description.name().to_owned());
        // Two of one name are told apart by what the system calls them.
        let is_taken = inputs.iter().any(|other| other.name == name);
        inputs.push(Input { name: if is_taken { format!("{name} ({id})") } else { name }, id, device });
    }
    inputs
}

/// ALSA lists each card a dozen times: as it is, through plugins, as a part of a surround set. One of them converts what
/// the card can't do, and is the one to choose; sound servers are listed once.
fn is_for_people(id: &str) -> bool {
    match id.strip_prefix("plughw:CARD=") {
        // Cards have names; the list repeats them by their numbers, which change.
        Some(card) => !card.starts_with(|sign: char| sign.is_ascii_digit()),
        None => matches!(id, "pulse" | "pipewire"),
    }
}

fn name_of_default(device: &Device) -> String {
    if cfg!(target_os = "linux") {
        return DEFAULT.to_owned();
    }
    device
        .description()
        .map_or_else(|_nameless| DEFAULT.to_owned(), |description| description.name().to_owned())
}

/// A device that is being opened.
struct Opening<'a> {
    name: &'a str,
    device: &'a Device,
    outlet: &'a Outlet,
}

impl Opening<'_> {
    fn open(&self) -> Result<Stream, CaptureError> {
        let (config, format) = self.config()?;
        match self.stream(config, format) {
            // Some drivers know one size of block only, which is then theirs.
            Err(error) if error.kind() == ErrorKind::UnsupportedConfig && !self.outlet.is_open() => {
                let config = StreamConfig { buffer_size: BufferSize::Default, ..config };
                self.stream(config, format).map_err(|error| classify(self.name, &error))
            }
            other => other.map_err(|error| classify(self.name, &error)),
        }
    }

    /// 16 kHz, mono and 16 bits where the device offers them, else what it prefers.
    fn config(&self) -> Result<(StreamConfig, SampleFormat), CaptureError> {
        let wanted = SAMPLE_RATE as u32;
        // A device that can't tell what it offers may still tell what it prefers.
        let offered = self
            .device
            .supported_input_configs()
            .map(|offers| offers.collect::<Vec<_>>())
            .unwrap_or_default();
        let fitting = offered
            .into_iter()
            .filter(|offer| offer.channels() == 1 && is_known(offer.sample_format()))
            .filter(|offer| (offer.min_sample_rate()..=offer.max_sample_rate()).contains(&wanted))
            .min_by_key(|offer| match offer.sample_format() {
                SampleFormat::I16 => 0,
                SampleFormat::F32 => 1,
                _ => 2,
            });
        let chosen = match fitting {
            Some(offer) => offer.with_sample_rate(wanted),
            None => self.device.default_input_config().map_err(|error| classify(self.name, &error))?,
        };
        let mut config = chosen.config();
        config.buffer_size = BufferSize::Fixed((config.sample_rate / 32).clamp(*BLOCK.start(), *BLOCK.end()));
        Ok((config, chosen.sample_format()))
    }

    fn stream(&self, config: StreamConfig, format: SampleFormat) -> Result<Stream, cpal::Error> {
        match format {
            SampleFormat::I8 => self.stream_of::<i8>(config),
            SampleFormat::U8 => self.stream_of::<u8>(config),
            SampleFormat::I16 => self.stream_of::<i16>(config),
            SampleFormat::U16 => self.stream_of::<u16>(config),
            SampleFormat::I24 => self.stream_of::<cpal::I24>(config),
            SampleFormat::I32 => self.stream_of::<i32>(config),
            SampleFormat::U32 => self.stream_of::<u32>(config),
            SampleFormat::F32 => self.stream_of::<f32>(config),
            SampleFormat::F64 => self.stream_of::<f64>(config),
            _ => Err(ErrorKind::UnsupportedConfig.into()),
        }
    }

    fn stream_of<T>(&self, config: StreamConfig) -> Result<Stream, cpal::Error>
    where
        T: SizedSample + 'static,
        f32: FromSample<T>,
    {
        // The queue is told of when the stream exists, so that one that failed is not heard of.
        let (writer, samples) = self.outlet.queue(config.sample_rate);
        let losses = writer.losses();
        let mut intake = Intake::new(writer, config.channels);
        let (alarm, name) = (self.outlet.alarm(), self.name.to_owned());
        let stream = self.device.build_input_stream::<T, _, _>(
            config,
            move |samples, _info| intake.take(samples),
            move |error| match error.kind() {
                // The system was not read from in time, and does not say how much is lost.
                ErrorKind::Xrun => losses.add(1),
                ErrorKind::DeviceChanged | ErrorKind::RealtimeDenied | ErrorKind::DeviceBusy => {}
                ErrorKind::PermissionDenied => alarm.raise(CaptureError::Permission(name.clone())),
                _ => alarm.raise(CaptureError::Lost(name.clone())),
            },
            None,
        )?;
        stream.play()?;
        self.outlet.opened(self.name, config.sample_rate, samples);
        Ok(stream)
    }
}

const fn is_known(format: SampleFormat) -> bool {
    matches!(
        format,
        SampleFormat::I8
            | SampleFormat::U8
            | SampleFormat::I16
            | SampleFormat::U16
            | SampleFormat::I24
            | SampleFormat::I32
            | SampleFormat::U32
            | SampleFormat::F32
            | SampleFormat::F64
    )
}

/// Why a device could not be opened.
fn classify(name: &str, error: &cpal::Error) -> CaptureError {
    let name = name.to_owned();
    match error.kind() {
        ErrorKind::DeviceNotAvailable | ErrorKind::HostUnavailable => CaptureError::NoMicrophone(name),
        ErrorKind::PermissionDenied => CaptureError::Permission(name),
        ErrorKind::DeviceBusy => CaptureError::Busy(name),
        _ => CaptureError::System { name, detail: error.to_string().trim_end_matches('.').to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let of = |kind: ErrorKind| classify("Studio", &kind.into());
        assert_eq!(of(ErrorKind::DeviceNotAvailable), CaptureError::NoMicrophone("Studio".to_owned()));
        assert_eq!(of(ErrorKind::PermissionDenied), CaptureError::Permission("Studio".to_owned()));
        assert_eq!(of(ErrorKind::DeviceBusy), CaptureError::Busy("Studio".to_owned()));
        let other = of(ErrorKind::UnsupportedConfig).to_string();
        assert!(other.contains("Studio") && !other.contains(".."), "{other}");
    }

    #[test]
    fn which_of_the_many_names_of_a_card_are_listed() {
        for (id, is_listed) in [
            ("pulse", true),
            ("pipewire", true),
            ("plughw:CARD=PCH,DEV=0", true),
            ("plughw:CARD=0,DEV=0", false),
            ("hw:CARD=PCH,DEV=0", false),
            ("sysdefault:CARD=PCH", false),
            ("null", false),
            ("surround51:CARD=PCH,DEV=0", false),
        ] {
            assert_eq!(is_for_people(id), is_listed, "{id}");
        }
    }
}
