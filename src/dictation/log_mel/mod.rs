//! Waveforms to log-mel features.
