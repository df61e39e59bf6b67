//! A command that the user ran from the prompt.

use super::body::Panel;
use super::body::output::{self, Output};
use super::seg::Seg;
use super::state::State;
use super::{EntryCx, Layout, band, call, title};
use crate::proto::message::BashExecutionMessage;
use crate::theme::role::Role;
use crate::transcript::item::Shell;
use crate::ui::band::Band;
use crate::ui::band::ground::Motion;
use crate::ui::band::rail::Rail;

/// Lays a command of the user out.
pub fn lay_out(shell: &Shell, cx: &EntryCx<'_>) -> Layout {
    let mut panel = Panel::new(cx);
    match shell {
        Shell::Running { command, output, .. } => {
            call::command(&mut panel, command);
            output::draw(&mut panel, Output { text: output, ..Output::default() });
        }
        Shell::Done(_) => {
            let Some(done) = shell.done() else { return Layout::default() };
            call::command(&mut panel, &done.command);
            let output = Output {
                text: &done.output,
                lines_before: 0,
                has_more_before: done.truncated,
                whole_in: done.full_output_path.as_deref(),
                is_wrapped: ending(done).0 == State::Failed,
            };
            output::draw(&mut panel, output);
        }
    }
    Layout::under(band_of(shell, cx), panel, cx)
}

/// The band of a command of the user.
pub fn band_of(shell: &Shell, cx: &EntryCx<'_>) -> Band {
    let (state, motion, rail, text, shown_only) = match shell {
        Shell::Running { command, shown_only, since, .. } => {
            (State::Running, Motion::Sweep, Rail::running(*since, None), command, *shown_only)
        }
        Shell::Done(_) => {
            let Some(done) = shell.done() else { return Band::default() };
            let (state, word) = ending(done);
            let rail = band::ended(state, word, None, cx);
            (state, Motion::Still, rail.into(), &done.command, done.exclude_from_context == Some(true))
        }
    };
    let sign = if shown_only { "!!" } else { "!" };
    let facts =
        if shown_only { vec![Seg::new(Role::Muted, " · not sent to the model")] } else { Vec::new() };
    Band {
        state,
        motion,
        title: title::command(sign, Role::BashMode, text),
        facts,
        rail,
        sign: if shown_only { 3 } else { 2 },
        ..Band::default()
    }
}

/// How it ended, and the word for that where it did not go well.
fn ending(done: &BashExecutionMessage) -> (State, Option<Seg>) {
    match (done.cancelled, done.exit_code) {
        (true, _) => (State::Stopped, Some(Seg::new(Role::Muted, "stopped"))),
        (false, Some(0)) => (State::Ok, None),
        (false, Some(code)) => (State::Failed, Some(Seg::new(Role::Error, format!("exit {code}")))),
        (false, None) => (State::Failed, Some(Seg::new(Role::Error, "no exit code"))),
    }
}
