//! The languages that have colours, by the words and file names that people use for them.
//!
//! The set of definitions is read when the first code comes (about 1 ms). It knows a language by its name and the endings
//! of its files; the words of other tools, and kin that is near enough, are named here.

use std::sync::OnceLock;
use syntect::parsing::{SyntaxReference, SyntaxSet};

/// Words behind fences, and endings of files, that the set does not know: they mean the first.
const ALIASES: &[(&str, &[&str])] = &[
    ("rust", &["rustscript"]),
    ("py", &["python3", "ipython", "pycon", "starlark", "mojo", "xonsh", "sage"]),
    ("tsx", &["astro", "mdx"]),
    ("js", &["jsx", "node", "javascriptreact"]),
    ("ts", &["typescriptreact"]),
    ("go", &["golang", "gotmpl"]),
    ("cpp", &["cuda", "cu", "cuh", "metal", "arduino", "ino", "carbon", "c++17", "c++20"]),
    ("m", &["objc", "objectivec", "obj-c"]),
    ("mm", &["objc++", "objcpp", "objectivec++"]),
    ("cs", &["csharp", "dotnet"]),
    ("fs", &["fsharp"]),
    ("f90", &["fortran"]),
    ("pas", &["delphi", "objectpascal"]),
    ("ml", &["reasonml", "rescript", "coq", "sml"]),
    ("hs", &["agda", "dhall"]),
    ("lisp", &["elisp", "emacs-lisp", "commonlisp", "scheme", "wat", "wasm", "wast", "fennel", "hy"]),
    ("matlab", &["octave"]),
    ("pl", &["raku", "perl6"]),
    ("php", &["hack"]),
    ("vhd", &["vhdl"]),
    (
        "sql",
        &[
            "mysql",
            "postgresql",
            "postgres",
            "pgsql",
            "psql",
            "plsql",
            "tsql",
            "sqlite",
            "sqlite3",
            "duckdb",
            "cypher",
            "sparql",
            "kql",
            "hql",
            "cql",
        ],
    ),
    ("graphql", &["prisma"]),
    ("proto", &["thrift", "capnp"]),
    (
        "json",
        &[
            "jsonc",
            "json5",
            "jsonl",
            "ndjson",
            "json-with-comments",
            "hjson",
            "geojson",
            "webmanifest",
            "har",
            "avsc",
            "map",
            "eslintrc",
            "prettierrc",
            "babelrc",
            "swcrc",
            "code-workspace",
            "ipynb",
            "cue",
        ],
    ),
    ("toml", &["lock"]),
    (
        "yaml",
        &[
            "ansible",
            "docker-compose",
            "compose",
            "openapi",
            "k8s",
            "kubernetes",
            "helm",
            "clang-format",
            "clang-tidy",
        ],
    ),
    (
        "ini",
        &[
            "dosini",
            "editorconfig",
            "systemd",
            "service",
            "timer",
            "socket",
            "mount",
            "target",
            "npmrc",
            "pip",
            "gitlint",
            "flake8",
            "conf.ini",
        ],
    ),
    ("dockerfile", &["docker", "containerfile", "earthfile"]),
    ("makefile", &["just", "justfile", "gnumakefile", "kbuild"]),
    (
        "bash",
        &[
            "shell",
            "console",
            "shell-session",
            "shellsession",
            "sh-session",
            "shellscript",
            "terminal",
            "command",
            "cmdline",
            "ksh",
            "dash",
            "bats",
            "nu",
            "nushell",
            "tmux",
            "sed",
            "prompt",
        ],
    ),
    ("ps1", &["pwsh", "powershell-interactive", "posh"]),
    ("bat", &["batch", "batchfile", "dos"]),
    (
        "html",
        &[
            "handlebars",
            "hbs",
            "mustache",
            "ejs",
            "tmpl",
            "heex",
            "angular",
            "razor",
            "cshtml",
            "liquid",
            "xhtml5",
        ],
    ),
    ("j2", &["django", "nunjucks", "njk"]),
    ("css", &["postcss", "pcss", "tailwind", "tailwindcss"]),
    (
        "xml",
        &[
            "xsl",
            "plist",
            "wsdl",
            "csproj",
            "fsproj",
            "vbproj",
            "props",
            "targets",
            "nuspec",
            "resx",
            "storyboard",
            "xib",
            "pom",
            "svg+xml",
            "mathml",
        ],
    ),
    ("md", &["mkd", "mdown", "rmd", "qmd", "mdc", "gfm", "commonmark"]),
    ("tex", &["context", "katex", "math"]),
    ("vim", &["vimscript", "neovim", "nvim"]),
    ("asm", &["assembly", "x86asm", "assembler", "gas", "masm"]),
    ("s", &["armasm", "aarch64", "arm", "riscv", "mips"]),
    ("ll", &["mlir"]),
    ("glsl", &["hlsl", "cg", "shader", "usf", "slang", "gdshader"]),
    ("gd", &["gdscript", "godot"]),
    ("re", &["regex", "regexp", "pcre"]),
    ("git-rebase-todo", &["git-rebase", "gitrebase"]),
    ("COMMIT_EDITMSG", &["gitcommit", "git-commit", "commit"]),
    ("gitconfig", &["git-config"]),
    (
        "gitignore",
        &[
            "git-ignore",
            "ignore",
            "dockerignore",
            "npmignore",
            "eslintignore",
            "prettierignore",
            "rgignore",
            "hgignore",
        ],
    ),
    ("ssh_config", &["ssh-config", "sshconfig", "ssh"]),
    ("sshd_config", &["sshd-config", "sshdconfig"]),
    ("htaccess", &["apache", "apacheconf", "httpd"]),
    ("nginx", &["nginxconf"]),
    ("requirements.txt", &["requirements", "pip-requirements"]),
    ("dot", &["graphviz"]),
    ("log", &["logs", "syslog-log"]),
    ("http", &["https", "rest-client"]),
    ("properties", &["java-properties"]),
    ("diff", &["udiff", "git-diff", "rej"]),
    ("v", &["vlang", "coq-v"]),
    ("groovy", &["jenkins", "gradle-groovy"]),
];

/// Names of files that say what they hold, where neither the whole name nor its ending does.
const FILES: &[(&str, &str)] = &[
    ("dockerfile", "dockerfile"),
    ("containerfile", "dockerfile"),
    ("makefile", "makefile"),
    ("justfile", "makefile"),
    ("jenkinsfile", "groovy"),
    ("workspace", "py"),
    ("build", "py"),
    ("tiltfile", "py"),
    ("brewfile", "rb"),
    (".eslintrc", "json"),
    (".prettierrc", "json"),
    (".babelrc", "json"),
    (".clang-format", "yaml"),
    (".clang-tidy", "yaml"),
    (".npmrc", "ini"),
    (".flake8", "ini"),
    (".dockerignore", "gitignore"),
    (".npmignore", "gitignore"),
    (".env", "env"),
    ("yarn.lock", "yaml"),
    ("package.resolved", "json"),
    ("codeowners", "gitignore"),
    ("pkgbuild", "bash"),
    ("procfile", "yaml"),
];

/// The definitions.
pub fn set() -> &'static SyntaxSet {
    static SET: OnceLock<SyntaxSet> = OnceLock::new();
    SET.get_or_init(two_face::syntax::extra_newlines)
}

/// By a word as it stands behind a fence: `rust`, `rs`, `c++`. Nothing for plain text and what is not known.
pub fn by_word(word: &str) -> Option<&'static SyntaxReference> {
    let lower = word.to_ascii_lowercase();
    let named = |name: &str| set().find_syntax_by_name(name);
    match lower.as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" | "none" | "output" | "ascii" => return None,
        // The set has two of these, and the one that is meant is not the first.
        "js" | "javascript" | "node" | "jsx" | "javascriptreact" => return named("JavaScript (Babel)"),
        "fs" | "f#" | "fsharp" => return named("F#"),
        _ => {}
    }
    set().find_syntax_by_token(word).or_else(|| set().find_syntax_by_token(alias(&lower)?))
}

/// By the name of a file, without its folder.
pub fn by_file(name: &str) -> Option<&'static SyntaxReference> {
    let lower = name.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let named = |known: &str| {
        // Also `Dockerfile.dev` and `.env.local`.
        lower.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let file = || FILES.iter().find(|(known, _)| named(known)).and_then(|(_, word)| by_word(word));
    set().find_syntax_by_extension(name).or_else(|| match ending {
        "" => file(),
        "js" | "mjs" | "cjs" | "jsx" => by_word("js"),
        "fs" => by_word("fs"),
        _ => set().find_syntax_by_extension(ending).or_else(file).or_else(|| by_alias(ending)),
    })
}

/// By the ending of a file that only a table knows.
fn by_alias(ending: &str) -> Option<&'static SyntaxReference> {
    set().find_syntax_by_token(alias(&ending.to_ascii_lowercase())?)
}

fn alias(word: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(_, words)| words.contains(&word)).map(|(known, _)| *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Language, words behind a fence, names of files.
    const PEOPLE_USE: &[(&str, &str, &str)] = &[
        ("Rust", "rust rs Rust", "a.rs"),
        ("Python", "python py python3 starlark", "a.py a.pyi a.bzl BUILD.bazel WORKSPACE"),
        ("TypeScript", "typescript ts mts cts", "a.ts a.mts a.cts"),
        ("TypeScriptReact", "tsx typescriptreact astro mdx", "a.tsx a.mdx a.astro"),
        ("JavaScript (Babel)", "javascript js jsx mjs cjs node", "a.js a.jsx a.mjs a.cjs"),
        ("Vue Component", "vue", "a.vue"),
        ("Svelte", "svelte", "a.svelte"),
        ("Go", "go golang", "a.go"),
        ("Gomod", "go.mod", "go.mod go.work"),
        ("C", "c", "a.c"),
        ("C++", "cpp c++ cxx hpp cuda", "a.cpp a.cc a.hpp a.hh a.cu a.cuh a.metal"),
        ("Objective-C", "objective-c objc m", "a.m"),
        ("Objective-C++", "objc++ mm", "a.mm"),
        ("Java", "java", "a.java"),
        ("Kotlin", "kotlin kt kts", "a.kt a.kts"),
        ("Swift", "swift", "a.swift"),
        ("Ruby", "ruby rb", "a.rb Gemfile Rakefile"),
        ("PHP", "php", "a.php"),
        ("C#", "c# cs csharp", "a.cs"),
        ("F#", "f# fs fsharp", "a.fs a.fsx"),
        ("Scala", "scala", "a.scala a.sbt"),
        ("Haskell", "haskell hs", "a.hs"),
        ("OCaml", "ocaml ml", "a.ml a.mli"),
        ("Elixir", "elixir ex exs", "a.ex a.exs"),
        ("Erlang", "erlang erl", "a.erl"),
        ("Clojure", "clojure clj cljs edn", "a.clj a.cljs"),
        ("Lua", "lua", "a.lua"),
        ("Perl", "perl pl raku", "a.pl a.pm"),
        ("R", "r", "a.r a.R"),
        ("Julia", "julia jl", "a.jl"),
        ("Dart", "dart", "a.dart"),
        ("Zig", "zig", "a.zig"),
        ("Nix", "nix", "a.nix"),
        ("Nim", "nim", "a.nim"),
        ("Crystal", "crystal", "a.cr"),
        ("D", "d", "a.d"),
        ("Ada", "ada", "a.adb"),
        ("Fortran (Modern)", "f90 fortran", "a.f90"),
        ("Pascal", "pascal delphi", "a.pas"),
        ("Lisp", "lisp elisp scheme wat", "a.lisp a.el a.scm"),
        ("Racket", "racket", "a.rkt"),
        ("MATLAB", "matlab octave", "a.matlab"),
        ("Elm", "elm", "a.elm"),
        ("PureScript", "purescript", "a.purs"),
        ("Idris", "idris", "a.idr"),
        ("CoffeeScript", "coffee coffeescript", "a.coffee"),
        ("Groovy", "groovy gradle", "a.groovy a.gradle Jenkinsfile"),
        ("Tcl", "tcl", "a.tcl"),
        ("AWK", "awk", "a.awk"),
        ("JQ", "jq", "a.jq"),
        ("Odin", "odin", "a.odin"),
        ("GDScript (Godot Engine)", "gdscript gd", "a.gd"),
        ("AppleScript", "applescript", "a.applescript"),
        ("SQL", "sql mysql postgresql sqlite plsql", "a.sql"),
        ("GraphQL", "graphql gql prisma", "a.graphql a.prisma"),
        ("Protocol Buffer", "proto protobuf", "a.proto"),
        ("TOML", "toml", "a.toml Cargo.lock poetry.lock"),
        ("YAML", "yaml yml", "a.yaml a.yml yarn.lock"),
        ("JSON", "json jsonc json5 jsonl ndjson", "a.json a.jsonc a.jsonl tsconfig.json .eslintrc a.ipynb"),
        ("jsonnet", "jsonnet", "a.jsonnet"),
        ("INI", "ini cfg dosini editorconfig systemd", "a.ini a.cfg .editorconfig a.service"),
        ("Java Properties", "properties", "a.properties"),
        ("DotENV", "env", ".env .env.local .env.anything"),
        (
            "Dockerfile",
            "dockerfile docker containerfile",
            "Dockerfile Dockerfile.dev Containerfile a.dockerfile",
        ),
        ("Makefile", "makefile make mk just", "Makefile GNUmakefile a.mk justfile"),
        ("CMake", "cmake", "CMakeLists.txt a.cmake"),
        ("Ninja", "ninja", "a.ninja"),
        ("Terraform", "terraform tf hcl", "a.tf a.tfvars a.hcl"),
        ("Puppet", "puppet", "a.pp"),
        ("Rego", "rego", "a.rego"),
        ("Diff", "diff patch", "a.diff a.patch"),
        (
            "Bourne Again Shell (bash)",
            "bash sh zsh shell console shell-session shellsession",
            "a.sh a.zsh .bashrc .zshrc",
        ),
        ("Fish", "fish", "a.fish"),
        ("PowerShell", "powershell ps1 pwsh", "a.ps1 a.psm1"),
        ("Batch File", "bat batch cmd", "a.bat a.cmd"),
        ("HTML", "html htm handlebars mustache", "a.html a.hbs a.ejs"),
        ("HTML (Twig)", "twig", "a.twig"),
        ("Jinja2", "jinja jinja2 django", "a.j2"),
        ("HTML (Rails)", "erb", "a.erb"),
        ("Ruby Haml", "haml", "a.haml"),
        ("CSS", "css postcss", "a.css"),
        ("SCSS", "scss", "a.scss"),
        ("Sass", "sass", "a.sass"),
        ("Less", "less", "a.less"),
        ("Stylus", "stylus", "a.styl"),
        ("XML", "xml svg plist", "a.xml a.svg a.csproj a.plist"),
        ("Markdown", "markdown md", "a.md README.markdown"),
        ("reStructuredText", "rst", "a.rst"),
        ("AsciiDoc (Asciidoctor)", "asciidoc adoc", "a.adoc"),
        ("orgmode", "org", "a.org"),
        ("LaTeX", "latex tex", "a.tex"),
        ("BibTeX", "bibtex", "a.bib"),
        ("Typst", "typst", "a.typ"),
        ("VimL", "vim viml vimscript", "a.vim .vimrc"),
        ("x86_64 Assembly", "asm nasm assembly", "a.asm"),
        ("ARM Assembly", "armasm", "a.s"),
        ("LLVM", "llvm", "a.ll"),
        ("WGSL", "wgsl", "a.wgsl"),
        ("GLSL", "glsl hlsl", "a.glsl a.vert a.frag a.hlsl"),
        ("Solidity", "solidity sol", "a.sol"),
        ("Vyper", "vyper", "a.vy"),
        ("SystemVerilog", "systemverilog sv", "a.sv"),
        ("Verilog", "verilog", "a.V"),
        ("VHDL", "vhdl", "a.vhd"),
        ("QML", "qml", "a.qml"),
        ("Lean 4", "lean", "a.lean"),
        ("HTTP Request and Response", "http", "a.http"),
        ("log", "log", "a.log"),
        ("Separated Values", "csv", "a.csv"),
        ("Tab Separated Values", "tsv", "a.tsv"),
        ("Regular Expression", "regex regexp", "a.re"),
        ("Git Rebase Todo", "git-rebase git-rebase-todo", "git-rebase-todo"),
        ("Git Commit", "git-commit gitcommit", "COMMIT_EDITMSG"),
        ("Git Config", "gitconfig", ".gitconfig"),
        ("Git Ignore", "gitignore", ".gitignore .dockerignore"),
        ("SSH Config", "ssh-config ssh_config sshconfig", "ssh_config"),
        ("nginx", "nginx", "nginx.conf"),
        ("Apache Conf", "apache", ".htaccess"),
        ("Crontab", "crontab", "a.crontab"),
        ("Graphviz (DOT)", "dot graphviz", "a.dot"),
        ("Requirements.txt", "requirements", "requirements.txt"),
    ];

    #[test]
    fn what_people_use_has_colours() {
        assert!(PEOPLE_USE.len() >= 100, "{}", PEOPLE_USE.len());
        let mut wrong = Vec::new();
        for (language, words, files) in PEOPLE_USE {
            let found = |syntax: Option<&'static SyntaxReference>| {
                syntax.map_or("nothing", |syntax| syntax.name.as_str())
            };
            for word in words.split(' ') {
                let found = found(by_word(word));
                if found != *language {
                    wrong.push(format!("{word} is {found}, not {language}"));
                }
            }
            for file in files.split(' ') {
                let found = found(by_file(file));
                if found != *language {
                    wrong.push(format!("{file} is {found}, not {language}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_alias_means_something() {
        for (known, words) in ALIASES {
            assert!(set().find_syntax_by_token(known).is_some(), "{known}");
            for word in *words {
                assert!(by_word(word).is_some(), "{word}");
            }
        }
        for (name, word) in FILES {
            assert!(by_word(word).is_some(), "{name}: {word}");
        }
        for word in ["", "text", "txt", "output", "no-such-language"] {
            assert!(by_word(word).is_none(), "{word}");
        }
        for file in ["LICENSE", "a.unknown", "notes"] {
            assert!(by_file(file).is_none(), "{file}");
        }
    }
}
