//! Rust source reduced to its code: comments and the contents of literals are blanked.
//!
//! A check that looks for a call must not find mentions of it in comments or messages. Lines and
//! columns are preserved. The states are those of Rust's lexer as far as they matter here: line and
//! nested block comments, strings, raw strings, characters and lifetimes.

/// `source` with every comment and the contents of every literal replaced by blanks.
pub fn code_only(source: &str) -> String {
    let mut lexer = Lexer { rest: source, code: String::with_capacity(source.len()) };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.code
}

/// The string literals of `source`, each with the line it starts on. Lines joined by a backslash
/// become one.
pub fn literals(source: &str) -> Vec<(usize, String)> {
    let code: Vec<char> = code_only(source).chars().collect();
    let source: Vec<char> = source.chars().collect();
    let quotes = (0..code.len()).filter(|&at| code[at] == '"').collect::<Vec<_>>();
    // The contents of literals are blank in the code, so quotes come in pairs.
    let literal = |pair: &[usize]| {
        let &[start, end] = pair else { return None };
        let line = source[..start].iter().filter(|&&c| c == '\n').count() + 1;
        let text: String = source[start + 1..end].iter().collect();
        let mut parts = text.split("\\\n");
        let first = parts.next().unwrap_or_default().to_owned();
        Some((line, parts.fold(first, |text, part| text + part.trim_start())))
    };
    quotes.chunks(2).filter_map(literal).collect()
}

/// The byte offset of the first occurrence of `word` in `line` as a whole word.
pub fn find_word(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

struct Lexer<'a> {
    rest: &'a str,
    code: String,
}

impl Lexer<'_> {
    /// Consumes one literal, comment, word or character.
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let length = self.rest.find('\n').unwrap_or(self.rest.len());
            self.blank(length);
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment_length(self.rest));
        } else if let Some((opening, closing)) = raw_string_delimiters(self.rest) {
            self.keep(opening);
            let length = self.rest.find(&closing).unwrap_or(self.rest.len());
            self.blank(length);
            self.keep(closing.len().min(self.rest.len()));
        } else if self.rest.starts_with('"') {
            self.keep(1);
            self.blank(quoted_length(self.rest));
            self.keep(1.min(self.rest.len()));
        } else if let Some(length) = character_length(self.rest) {
            self.blank(length);
        } else {
            // Take a whole word at once, so that the r of `for` does not start a raw string.
            let word = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let first = self.rest.chars().next().map_or(1, char::len_utf8);
            self.keep(word.unwrap_or(self.rest.len()).max(first));
        }
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.code.push_str(kept);
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) {
        let (dropped, rest) = self.rest.split_at(length);
        self.code.extend(dropped.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

/// The length of the block comment that `text` starts with, including nested comments.
fn block_comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the opening delimiter, and the closing one, of the raw string that `text` starts
/// with.
fn raw_string_delimiters(text: &str) -> Option<(usize, String)> {
    let after_prefix = ["br", "cr", "r"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let after_hashes = after_prefix.trim_start_matches('#');
    let hashes = after_prefix.len() - after_hashes.len();
    let opening = text.len() - after_hashes.len() + 1;
    after_hashes.starts_with('"').then(|| (opening, format!("\"{}", "#".repeat(hashes))))
}

/// The length of a string's contents, up to its closing quote; `text` starts after the opening one.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of the character literal that `text` starts with; `None` for a lifetime.
fn character_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        // The escaped character may itself be a quote.
        let after = inside.get(2..)?;
        return Some(1 + 2 + after.find('\'')? + 1);
    }
    let after = first.len_utf8();
    inside[after..].starts_with('\'').then_some(1 + after + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_code(source: &str, wanted: &str) {
        assert_eq!(code_only(source), wanted);
    }

    #[test]
    fn comments_become_blanks_and_lines_stay() {
        assert_code("a // b\nc", "a     \nc");
        assert_code("a /* b\n/* c */ d */ e", "a     \n             e");
    }

    #[test]
    fn the_insides_of_strings_become_blanks() {
        assert_code(r#"f("a // b", x)"#, r#"f("      ", x)"#);
        assert_code(r#"f("a\"b") // c"#, r#"f("    ")     "#);
        assert_code("f(r#\"a\"b\"#, y)", "f(r#\"   \"#, y)");
        assert_code("f(b\"ab\")", "f(b\"  \")");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_code("f('\"', 'a', \"b\")", "f(   ,    , \" \")");
        assert_code(r"f('\'', '\n') + '\u{1F600}'", "f(    ,     ) +            ");
        assert_code("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
    }

    #[test]
    fn a_word_that_ends_in_r_opens_no_raw_string() {
        assert_code("for\"x\"", "for\" \"");
    }

    #[test]
    fn what_is_never_closed_ends_with_the_file() {
        for open in ["\"abc", "r#\"abc", "/* abc", "'", "'\\", "\"abc\\"] {
            assert_eq!(code_only(open).len(), open.len(), "{open}");
        }
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(find_word("an unsafe_code unsafe {", "unsafe"), Some(15));
        assert_eq!(find_word("eprintln!()", "println"), None);
    }
}
