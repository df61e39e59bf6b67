//! One correction from begin to end: one request, or two, before one deadline.

use super::Reason;
use super::attempt::{Answer, Next, judge};
use super::prompt::{Prompt, Style, compose};
use crate::dictation::reference::Excerpt;
use crate::proto::usage::Usage;
use std::pin::Pin;
use std::time::Instant;

/// The model that corrects.
pub trait Editor: Send + Sync {
    /// Sends one request (temperature 0, no tools, no history) and gives what came of it, with its tokens and price. It
    /// ends by itself at the deadline, as a failure with [`Reason::Timeout`]; it repeats nothing.
    fn ask(
        &self,
        prompt: Prompt,
        deadline: Instant,
    ) -> Pin<Box<dyn Future<Output = (Answer, Usage)> + Send + '_>>;

    /// The time.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// What came of a correction.
// No `Debug`: it holds what was said.
pub struct Refined {
    /// The corrected text; or why the transcript is to be used as it is.
    pub text: Result<String, Reason>,
    /// Tokens and price of all requests.
    pub usage: Usage,
    /// How many requests were sent: 0, 1 or 2.
    pub requests: u8,
}

/// Corrects a transcript. Never fails harder than by giving a [`Reason`].
pub async fn refine(
    editor: &dyn Editor,
    style: Style,
    transcript: &str,
    mut reference: Option<Excerpt>,
    deadline: Instant,
) -> Refined {
    let mut usage = Usage::default();
    let mut requests = 0;
    loop {
        if editor.now() >= deadline {
            return Refined { text: Err(Reason::Timeout), usage, requests };
        }
        let prompt = compose(style, transcript, reference.as_ref());
        requests += 1;
        let (answer, used) = editor.ask(prompt, deadline).await;
        usage.add(&used);
        let left = deadline.saturating_duration_since(editor.now());
        let text = match judge(answer, style, reference.is_some(), left) {
            Next::Use(text) => Ok(text),
            Next::GiveUp(reason) => Err(reason),
            Next::WithoutReference => {
                reference = None;
                continue;
            }
        };
        return Refined { text, usage, requests };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::reference::Agent;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    /// Answers with what it is given; each answer takes its time.
    struct Canned {
        answers: Mutex<Vec<(Answer, Duration)>>,
        asked: Mutex<Vec<(Prompt, Instant)>>,
        now: Mutex<Instant>,
    }

    impl Editor for Canned {
        fn ask(
            &self,
            prompt: Prompt,
            deadline: Instant,
        ) -> Pin<Box<dyn Future<Output = (Answer, Usage)> + Send + '_>> {
            self.asked.lock().unwrap().push((prompt, deadline));
            let (answer, takes) = self.answers.lock().unwrap().remove(0);
            *self.now.lock().unwrap() += takes;
            let usage = Usage { input: 10, output: 2, ..Usage::default() }.with_total();
            Box::pin(std::future::ready((answer, usage)))
        }

        fn now(&self) -> Instant {
            *self.now.lock().unwrap()
        }
    }

    fn finished<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("nothing waits here"),
        }
    }

    fn http(status: u16, body: &str) -> Answer {
        let reason = match status {
            401 | 403 => Reason::Authentication,
            429 => Reason::RateLimited,
            500.. => Reason::Overloaded,
            _ => Reason::Refused,
        };
        // Stands for the classification of the model layer, which has tests of its own.
        let is_of_input =
            status == 413 || (matches!(status, 400 | 422) && body.starts_with('{') && body.len() > 2);
        Answer::Failed { reason, complains_of_input: is_of_input }
    }

    fn failed(reason: Reason) -> Answer {
        Answer::Failed { reason, complains_of_input: false }
    }

    #[test]
    fn one_request_or_two() {
        let too_long = r#"{"error": {"code": "context_length_exceeded", "message": "m"}}"#;
        let schema = r#"{"error": {"message": "Invalid JSON schema"}}"#;
        // What the first request gives, after how many milliseconds; requests; what comes of it.
        let table: Vec<(Answer, u64, usize, Result<&str, Reason>)> = vec![
            (Answer::Text("Fine.".to_owned()), 100, 1, Ok("Fine.")),
            (Answer::Text("Late, and used.".to_owned()), 15_100, 1, Ok("Late, and used.")),
            (Answer::Text(" ".to_owned()), 100, 1, Err(Reason::InvalidResponse)),
            (Answer::Text("x".repeat(20_000)), 100, 1, Err(Reason::InvalidResponse)),
            (Answer::CutShort, 100, 1, Err(Reason::CutShort)),
            (Answer::NoText, 100, 1, Err(Reason::InvalidResponse)),
            (http(401, "{}"), 100, 1, Err(Reason::Authentication)),
            (http(403, too_long), 100, 1, Err(Reason::Authentication)),
            (http(404, too_long), 100, 1, Err(Reason::Refused)),
            (http(429, too_long), 100, 1, Err(Reason::RateLimited)),
            (http(500, too_long), 100, 1, Err(Reason::Overloaded)),
            (http(400, "context_length_exceeded"), 100, 1, Err(Reason::Refused)),
            (failed(Reason::Connection), 100, 1, Err(Reason::Connection)),
            (failed(Reason::Timeout), 15_000, 1, Err(Reason::Timeout)),
            (http(413, ""), 100, 2, Ok("Second.")),
            (http(400, too_long), 100, 2, Ok("Second.")),
            (http(422, schema), 14_000, 2, Ok("Second.")),
            (http(400, too_long), 14_001, 1, Err(Reason::TooLarge)),
        ];
        assert_eq!(table.len(), 18);
        for (number, (answer, takes, requests, expected)) in table.into_iter().enumerate() {
            let start = Instant::now();
            let second = (Answer::Text("Second.".to_owned()), Duration::from_millis(10));
            let editor = Canned {
                answers: Mutex::new(vec![(answer, Duration::from_millis(takes)), second]),
                asked: Mutex::default(),
                now: Mutex::new(start),
            };
            let deadline = start + Duration::from_secs(15);
            let excerpt = Excerpt::of(Agent::Pi, "canary", 500);
            let refined = finished(refine(&editor, Style::CodingAgent, "said", excerpt, deadline));
            assert_eq!(refined.text.as_deref().map_err(|reason| *reason), expected, "{number}");
            let asked = editor.asked.into_inner().unwrap();
            assert_eq!((asked.len(), usize::from(refined.requests)), (requests, requests), "{number}");
            assert_eq!(refined.usage.input, 10 * requests as u64, "{number}");
            assert!(asked.iter().all(|(_, until)| *until == deadline), "{number}");
            assert!(asked[0].0.user.contains("canary"), "{number}");
            for (prompt, _) in asked.iter().skip(1) {
                assert!(prompt.user == "said" && !prompt.system.contains("reference_context"), "{number}");
            }
        }
    }

    #[test]
    fn without_a_reference_or_after_the_deadline_nothing_is_repeated() {
        let start = Instant::now();
        let editor = |answers| Canned {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
            now: Mutex::new(start),
        };
        let once = editor(vec![(http(413, ""), Duration::ZERO)]);
        let deadline = start + Duration::from_secs(15);
        let refined = finished(refine(&once, Style::Plain, "said", None, deadline));
        assert_eq!((refined.text, refined.requests), (Err(Reason::TooLarge), 1));
        let never = editor(Vec::new());
        let refined = finished(refine(&never, Style::Plain, "said", None, start));
        assert_eq!((refined.text, refined.requests), (Err(Reason::Timeout), 0));
        // The second try complains too: there is no third.
        let twice = editor(vec![(http(413, ""), Duration::ZERO), (http(413, ""), Duration::ZERO)]);
        let refined =
            finished(refine(&twice, Style::Plain, "said", Excerpt::of(Agent::Pi, "x", 500), deadline));
        assert_eq!((refined.text, refined.requests), (Err(Reason::TooLarge), 2));
    }
}
