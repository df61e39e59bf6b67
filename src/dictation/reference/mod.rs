//! What an agent said last, made safe to send beside a transcript.
