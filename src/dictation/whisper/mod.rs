//! Whisper: OpenAI's encoder and decoder.
