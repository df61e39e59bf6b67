//! The table of tools: what exists, in which order a model sees it, and what a call becomes before it runs.

use super::arguments::{self, Arguments};
use super::{Tool, bash, edit, find, grep, ls, read, shell_job, write};
use crate::proto::message::ToolCall;
use crate::proto::tool::{ToolOutput, ToolSpec};
use std::sync::Arc;

/// Characters of a malformed call that are shown to the model again.
const ECHO: usize = 2000;

/// The tools of a session. Cheap to clone.
#[derive(Clone)]
pub struct Tools {
    tools: Arc<[Arc<dyn Tool>]>,
    specs: Arc<[ToolSpec]>,
}

/// A name that is no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no tool. {hint}")]
pub struct UnknownTool {
    /// The name.
    pub name: String,
    /// What there is.
    pub hint: String,
}

impl Tools {
    /// All tools of this program.
    pub fn builtin() -> Self {
        Self::of(vec![
            Arc::new(read::Read),
            Arc::new(bash::Bash),
            Arc::new(shell_job::ShellJobStart),
            Arc::new(shell_job::ShellJob),
            Arc::new(edit::Edit),
            Arc::new(write::Write),
            Arc::new(grep::Grep),
            Arc::new(find::Find),
            Arc::new(ls::Ls),
        ])
    }

    /// These tools and one more, behind them; it takes the place of one of the same name.
    #[must_use]
    pub fn with(&self, tool: Arc<dyn Tool>) -> Self {
        let others = self.tools.iter().filter(|other| other.spec().name != tool.spec().name);
        Self::of(others.cloned().chain([tool.clone()]).collect())
    }

    fn of(tools: Vec<Arc<dyn Tool>>) -> Self {
        let specs = tools.iter().map(|tool| tool.spec().clone()).collect();
        Self { tools: tools.into(), specs }
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// What a request declares. The order never changes, so that a provider's cache holds.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    /// Only these tools, in the order of the table.
    pub fn select(&self, names: &[String]) -> Result<Self, UnknownTool> {
        if let Some(name) = names.iter().find(|name| self.get(name).is_none()) {
            return Err(UnknownTool { name: name.clone(), hint: self.hint(name) });
        }
        let chosen = self.tools.iter().filter(|tool| names.contains(&tool.spec().name)).cloned();
        Ok(Self::of(chosen.collect()))
    }

    /// The tool of a call and its arguments, checked against the tool's schema; or what the model is told instead.
    pub fn prepare(&self, call: &ToolCall) -> Result<(Arc<dyn Tool>, Arguments), Box<ToolOutput>> {
        let tool = self.get(&call.name).ok_or_else(|| Box::new(self.unknown_call(&call.name)))?;
        if call.malformed.is_some() {
            return Err(Box::new(malformed_call(call)));
        }
        match arguments::check(&tool.spec().parameters, call.arguments.clone()) {
            Ok(arguments) => Ok((Arc::clone(tool), arguments)),
            Err(error) => {
                Err(Box::new(ToolOutput::error(format!("{error} The {} call was not run.", call.name))))
            }
        }
    }

    /// The answer to a call of a tool that does not exist.
    pub fn unknown_call(&self, name: &str) -> ToolOutput {
        ToolOutput::error(format!("There is no tool `{name}`. {}", self.hint(name)))
    }

    fn hint(&self, name: &str) -> String {
        let names = self.names();
        if names.is_empty() {
            return "No tools are switched on.".to_owned();
        }
        let near = similar::get_close_matches(name.to_lowercase().as_str(), &names, 1, 0.6);
        let near = near.first().map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
        format!("{near}There are: {}.", names.join(", "))
    }
}

/// The answer to a call whose arguments are no JSON object: what is wrong, and the text as it came.
pub fn malformed_call(call: &ToolCall) -> ToolOutput {
    let raw = call.malformed.as_deref().unwrap_or_default();
    let problem = match serde_json::from_str::<serde_json::Value>(raw) {
        Ok(_) => "they are JSON, but not an object".to_owned(),
        Err(error) => error.to_string(),
    };
    let echo: String = raw.chars().take(ECHO).collect();
    let rest = raw.chars().count().saturating_sub(ECHO);
    let cut = if rest > 0 { format!("\n[{rest} more characters]") } else { String::new() };
    ToolOutput::error(format!(
        "The arguments of this {} call could not be read: {problem}. It was not run. Send it again with one JSON \
         object as arguments. They came as:\n{echo}{cut}",
        call.name
    ))
}

/// A specification that is built into the program.
#[expect(clippy::expect_used, reason = "the embedded files are parsed by a test")]
pub(super) fn embedded_spec(json: &str) -> ToolSpec {
    serde_json::from_str(json).expect("a tool specification in assets/tools")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::CallId;
    use crate::proto::message::text_of;
    use serde_json::{Map, Value, json};

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall {
            id: CallId::new("1"),
            name: name.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_else(Map::new),
            thought_signature: None,
            malformed: None,
        }
    }

    #[test]
    fn the_order_is_fixed_and_the_declaration_small() {
        let tools = Tools::builtin();
        assert_eq!(
            tools.names(),
            ["read", "bash", "shell_job_start", "shell_job", "edit", "write", "grep", "find", "ls"]
        );
        let json = serde_json::to_string(&*tools.specs()).unwrap();
        assert!(json.len() < 6400, "{} bytes", json.len());
        for tool in tools.iter() {
            assert!(!tool.summary().is_empty());
            assert_eq!(tool.spec().parameters.get("type"), Some(&json!("object")));
        }
    }

    #[test]
    fn a_selection_keeps_the_order_and_refuses_unknown_names() {
        let tools = Tools::builtin();
        let some = tools.select(&["ls".to_owned(), "read".to_owned()]).unwrap();
        assert_eq!(some.names(), ["read", "ls"]);
        assert!(tools.select(&[]).unwrap().specs().is_empty());
        let error = tools.select(&["gerp".to_owned()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "`gerp` is no tool. Did you mean `grep`? There are: read, bash, shell_job_start, shell_job, edit, write, grep, \
             find, ls."
        );
    }

    #[test]
    fn a_call_is_prepared_or_answered() {
        let tools = Tools::builtin();
        let (tool, arguments) =
            tools.prepare(&call("read", json!({"file_path": "a", "limit": "5"}))).unwrap();
        assert_eq!(tool.spec().name, "read");
        assert_eq!(Value::Object(arguments), json!({"path": "a", "limit": 5}));
        let text = |call: &ToolCall| text_of(&tools.prepare(call).err().unwrap().content);
        assert!(text(&call("Reed", json!({}))).contains("Did you mean `read`"));
        assert_eq!(text(&call("read", json!({}))), "`path` is missing. The read call was not run.");
        let broken = ToolCall { malformed: Some("{\"path\": \"a".to_owned()), ..call("read", json!({})) };
        let answer = text(&broken);
        assert!(
            answer.contains("EOF while parsing a string")
                && answer.ends_with("They came as:\n{\"path\": \"a")
        );
    }

    #[test]
    fn the_echo_of_a_malformed_call_is_bounded() {
        let broken = ToolCall { malformed: Some("é".repeat(5000)), ..call("write", json!({})) };
        let output = malformed_call(&broken);
        assert!(output.is_error);
        assert!(text_of(&output.content).ends_with("é\n[3000 more characters]"));
    }
}
