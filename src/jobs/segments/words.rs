//! Words of a shell command after quote removal.

use tree_sitter::Node;

/// One word, as the command will get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Quotes and escapes are gone. `$HOME` and `$PWD` where a path begins are `~` and `.`.
    pub text: String,
    /// The text is all of it. Else something is known only when the command runs (a variable, a substitution, a glob),
    /// and `text` is a pattern in which `*` stands for that.
    pub literal: bool,
}

impl Word {
    /// A word of exactly this text.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), literal: true }
    }

    /// A word of which nothing is known.
    pub fn unknown() -> Self {
        Self { text: "*".to_owned(), literal: false }
    }

    /// The text, if it is all of the word.
    pub fn known(&self) -> Option<&str> {
        self.literal.then_some(self.text.as_str())
    }
}

/// The word that a node of the syntax tree stands for.
pub(super) fn word_of(source: &str, node: Node<'_>) -> Word {
    word_of_all(source, &[node])
}

/// The word of several nodes that stand side by side: our grammar divides some words that bash does not.
pub(super) fn word_of_all(source: &str, nodes: &[Node<'_>]) -> Word {
    let range = nodes.first().map_or(0, Node::start_byte)..nodes.last().map_or(0, Node::end_byte);
    let raw = source.get(range).unwrap_or_default();
    // `~name` is another user's home, `~+` and `~-` depend on the shell's state.
    if raw.strip_prefix('~').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) {
        return Word::unknown();
    }
    let expands_braces = raw.contains(',') || raw.contains("..");
    let mut builder = Builder { source, word: Word::literal(""), expands_braces, in_braces: false };
    for node in nodes {
        builder.append(*node);
    }
    builder.word
}

/// The source text of a node.
pub(super) fn text_of<'a>(source: &'a str, node: Node<'_>) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

struct Builder<'a> {
    source: &'a str,
    word: Word,
    /// Braces may be an expansion: they hold a list or a range.
    expands_braces: bool,
    /// A brace expansion began: what follows may come several times, in several places.
    in_braces: bool,
}

impl Builder<'_> {
    fn append(&mut self, node: Node<'_>) {
        let text = text_of(self.source, node);
        match node.kind() {
            "word" | "variable_name" | "special_variable_name" | "test_operator" | "file_descriptor" => {
                self.push_bare(text);
            }
            "number" if node.child_count() == 0 => self.push(text),
            "raw_string" => {
                self.push(text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or_default());
            }
            "ansi_c_string" => match ansi_c(text) {
                Some(text) => self.push(&text),
                None => self.push_unknown(),
            },
            "string" => self.push_string(node),
            "simple_expansion" | "expansion" => match text.trim_start() {
                "$HOME" | "${HOME}" if self.is_at_path_start() => self.push("~"),
                "$PWD" | "${PWD}" if self.is_at_path_start() => self.push("."),
                _ => self.push_unknown(),
            },
            "command_name" | "translated_string" => {
                for child in named_children(node) {
                    self.append(child);
                }
            }
            "concatenation" => {
                for child in children(node) {
                    self.append(child);
                }
            }
            _ => self.push_unknown(),
        }
    }

    /// A path may begin here: at the beginning, or as in `--file=$HOME/x`.
    fn is_at_path_start(&self) -> bool {
        self.word.text.is_empty() || self.word.text.ends_with(['=', ':', ',', '@'])
    }

    fn push(&mut self, text: &str) {
        if !self.in_braces {
            self.word.text.push_str(text);
        }
    }

    fn push_unknown(&mut self) {
        self.word.literal = false;
        if !self.word.text.ends_with('*') {
            self.push("*");
        }
    }

    /// Unquoted text: escapes, globs, brace expansion.
    fn push_bare(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped.encode_utf8(&mut [0; 4])),
                },
                '{' | '}' if self.expands_braces => {
                    self.push_unknown();
                    self.in_braces = true;
                }
                '*' | '?' | '[' | '$' | '`' => {
                    self.word.literal = false;
                    self.push(c.encode_utf8(&mut [0; 4]));
                }
                plain => self.push(plain.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// A double-quoted string: expansions are nodes, everything between them is text.
    fn push_string(&mut self, node: Node<'_>) {
        let mut from = node.start_byte() + 1;
        for child in named_children(node).filter(|child| child.kind() != "string_content") {
            // In a string our grammar counts blanks before a dollar as part of the expansion.
            let text = text_of(self.source, child);
            let blanks = text.len() - text.trim_start().len();
            self.push_quoted(from, child.start_byte() + blanks);
            self.append(child);
            from = child.end_byte();
        }
        self.push_quoted(from, node.end_byte().saturating_sub(1));
    }

    fn push_quoted(&mut self, from: usize, to: usize) {
        let mut chars = self.source.get(from..to).unwrap_or_default().chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\\'
                && let Some(escaped) = chars.next_if(|next| matches!(next, '$' | '`' | '"' | '\\' | '\n'))
            {
                if escaped != '\n' {
                    self.push(escaped.encode_utf8(&mut [0; 4]));
                }
                continue;
            }
            self.push(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// The text of `$'…'`; `None` for escapes that are not understood or that end it early.
fn ansi_c(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.strip_prefix("$'")?.strip_suffix('\'')?.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (count, value, max) = match number(&mut chars, 8, 3) {
            (0, _) => match chars.next()? {
                'x' => bounded(number(&mut chars, 16, 2), 127),
                'u' => bounded(number(&mut chars, 16, 4), u32::MAX),
                'U' => bounded(number(&mut chars, 16, 8), u32::MAX),
                'n' => (1, 10, 127),
                't' => (1, 9, 127),
                'r' => (1, 13, 127),
                'a' => (1, 7, 127),
                'b' => (1, 8, 127),
                'e' | 'E' => (1, 27, 127),
                'f' => (1, 12, 127),
                'v' => (1, 11, 127),
                c @ ('\\' | '\'' | '"' | '?') => (1, u32::from(c), 127),
                _ => return None,
            },
            octal => bounded(octal, 127),
        };
        // A zero byte ends the text in the shell; bytes above 127 may be part of a character.
        if count == 0 || value == 0 || value > max {
            return None;
        }
        out.push(char::from_u32(value)?);
    }
    Some(out)
}

const fn bounded((count, value): (usize, u32), max: u32) -> (usize, u32, u32) {
    (count, value, max)
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, digits: usize) -> (usize, u32) {
    let (mut count, mut value) = (0, 0_u32);
    while count < digits
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
    {
        value = value.saturating_mul(radix).saturating_add(digit);
        chars.next();
        count += 1;
    }
    (count, value)
}

/// All children, in order.
pub(super) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let child = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        child
    })
}

/// The children that have a name in the grammar, in order.
pub(super) fn named_children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    children(node).filter(Node::is_named)
}
