//! Phrases that readers stumble over, with what to write instead.
//!
//! Checks what users read: documents, the text of the page, literals in Rust code outside of tests,
//! and the comments that help texts are made of. Comments for contributors are checked for a list
//! of phrases of their own: they say what and why in the field's words, as an engineer would to a
//! colleague.

use crate::{Finding, SourceFile, lexer};

/// What not to write, and what to write instead. Phrases are matched literally, in lower case.
const PHRASES: [(&str, &str); 35] = [
    // With the space, this does not match the kernel's files and functions.
    (" readahead", "read-ahead"),
    ("all else", "everything else"),
    ("and besides", "and"),
    ("are no merit", "do not mean that ... is better"),
    ("are to be ", "must be"),
    ("at the middle of all", "the median of all"),
    ("better than each other", "better than any other"),
    ("by other means", "yourself"),
    ("cannot be gone on with", "cannot be resumed"),
    ("do not weigh", "do not matter"),
    ("does not tell its", "does not report its"),
    ("flat and to turn", "in 2-D or as a rotatable 3-D plot"),
    ("go on with --resume", "continue with --resume"),
    ("goes on with it", "continues it"),
    ("going on with", "continuing with"),
    ("has no such form:", "has no such format"),
    ("has to be", "must be"),
    ("have to be", "must be"),
    ("in words of its own", "in its own words"),
    ("is gone on with", "is resumed"),
    ("is no finite", "is not a finite"),
    ("is no level", "is not a ... level"),
    ("is no number", "is not a number, or: is not a valid number of ..."),
    ("is no operation", "is not an operation"),
    ("is no page of", "is not a page of"),
    ("is no program", "is not a program"),
    ("is no text", "is not text"),
    ("is told by", "comes from"),
    ("lies on no", "is not on a"),
    ("limit of size", "size limit"),
    ("means nothing for", "does not apply to"),
    ("stands twice", "appears twice"),
    ("such of ", "those that"),
    ("takes no plugins", "does not support plugins"),
    ("to root alone", "only to root"),
];

/// The same for comments, in any case.
const IN_COMMENTS: [(&str, &str); 16] = [
    ("cannot be meant", "makes no sense"),
    ("comes to stand", "takes its place"),
    ("go on with", "continue"),
    ("goes on with", "continues"),
    ("going on with", "continuing"),
    ("gone on with", "continued, or: resumed"),
    ("lies below", "is below"),
    ("lies beside", "is beside"),
    ("made afresh", "made again"),
    ("none where", "`None` if, or: empty if"),
    ("sees to it that", "makes sure that"),
    ("set against", "compared with"),
    ("stands beside", "is beside"),
    ("tells of", "says about"),
    ("what is known of", "what is known about"),
    ("what stands", "the text that"),
];

/// Phrases in one file that readers stumble over.
pub fn check(file: &SourceFile, is_for_tests: bool) -> Vec<Finding> {
    if file.path.starts_with("crates/tidy/") {
        return Vec::new();
    }
    let find = |(line, text): (usize, String), phrases: &[(&str, &str)]| {
        // "There is no number" is English, "7 is no number" is not.
        let is_said = |at: usize| !text[..at].ends_with("there ");
        let has = |phrase: &str| text.match_indices(phrase).any(|(at, _)| is_said(at));
        let found = phrases.iter().find(|(phrase, _)| has(phrase));
        found.map(|(phrase, better)| {
            let phrase = phrase.trim();
            Finding::new(file, line, format!("\"{phrase}\": write \"{better}\""))
        })
    };
    let texts = if is_for_tests { Vec::new() } else { texts(file) };
    let of_texts = texts.into_iter().filter_map(|text| find(text, &PHRASES));
    let of_comments = comments(file).into_iter().filter_map(|text| find(text, &IN_COMMENTS));
    of_texts.chain(of_comments).collect()
}

/// The comments of a Rust file, line by line in lower case; without those that descriptions in JSON
/// schemas are made of.
fn comments(file: &SourceFile) -> Vec<(usize, String)> {
    if !file.has_extension(&["rs"]) {
        return Vec::new();
    }
    let has_schema = file.text.contains("JsonSchema");
    let lines = (1..).zip(file.text.lines().map(str::trim_start));
    let is_comment =
        |line: &str| line.starts_with("//") && !(has_schema && line.starts_with("///"));
    lines
        .filter(|(_, line)| is_comment(line))
        .map(|(number, line)| (number, line.to_lowercase()))
        .collect()
}

/// What users read of a file, each part with the line that it starts on.
fn texts(file: &SourceFile) -> Vec<(usize, String)> {
    let numbered = || (1..).zip(file.text.lines().map(str::to_owned));
    if file.has_extension(&["md"]) {
        return numbered().collect();
    }
    let is_page = file.path.starts_with("web/src/") && !file.path.ends_with(".test.ts");
    if is_page && file.path != "web/src/contract.ts" && file.has_extension(&["ts", "tsx"]) {
        let is_comment =
            |line: &str| ["//", "*", "/*", "{/*"].iter().any(|one| line.starts_with(one));
        return numbered().filter(|(_, line)| !is_comment(line.trim_start())).collect();
    }
    if !file.has_extension(&["rs"]) || !file.path.contains("/src/") {
        return Vec::new();
    }
    let code = file.text.find("\nmod tests {").map_or(&*file.text, |end| &file.text[..end]);
    let mut texts = lexer::literals(code);
    if file.path.starts_with("crates/fsprism/src/") {
        texts.extend(numbered().filter(|(_, line)| line.trim_start().starts_with("/// ")));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        check(&file, false).into_iter().map(|one| (one.line, one.what)).collect()
    }

    #[test]
    fn what_users_read_is_held_to_the_list() {
        let line = "//! A.\nconst A: &str = \"it has \\\n    to be\";\n// It has to be.\n";
        let all = found("crates/a/src/a.rs", line);
        assert_eq!(all, [(2, "\"has to be\": write \"must be\"".to_owned())]);
        assert_eq!(found("docs/a.md", "One\nIt is no number.\n").len(), 1);
        assert_eq!(found("docs/a.md", "Where there is no number, say so.\n"), []);
        assert_eq!(found("web/src/A.tsx", "// has to be\n<p>has to be</p>\n")[0].0, 2);
        assert_eq!(found("crates/fsprism/src/a.rs", "/// It has to be\n").len(), 1);
        assert_eq!(found("crates/a/src/a.rs", "/// It has to be\n"), []);
        assert_eq!(found("crates/a/tests/a.rs", "let a = 1;\n    // None where it is.\n")[0].0, 2);
        assert_eq!(found("crates/a/src/a.rs", "use JsonSchema;\n/// none where\n"), []);
        assert_eq!(found("crates/a/src/a.rs", "use JsonSchema;\n//! none where\n").len(), 1);
        assert_eq!(found("crates/a/src/a.rs", "\nmod tests {\n    \"has to be\"\n}\n"), []);
    }
}
