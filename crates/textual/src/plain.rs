//! Text that is safe to print to terminals, tables and pages: none of its characters has an effect
//! on whatever displays it.

use std::borrow::Cow;
use std::path::Path;

/// Replaces control characters, and those that change text direction (Unicode Standard Annex 9,
/// section 2): white space becomes a space, anything else a question mark.
#[must_use]
pub fn plain_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| replacement(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| replacement(c).unwrap_or(c)).collect())
}

/// Like [`plain_text`] for JSON, in which such characters are escaped: the parsed content is
/// unchanged.
#[must_use]
pub fn plain_json(text: String) -> String {
    let is_order = |c: char| c != '\n' && replacement(c).is_some();
    if !text.chars().any(is_order) {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match is_order(c) {
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    plain.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => plain.push(c),
        }
    }
    plain
}

/// A path for display.
#[must_use]
pub fn plain_path(path: &Path) -> String {
    plain_text(&path.display().to_string()).into_owned()
}

fn replacement(c: char) -> Option<char> {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some('?'),
        c if c.is_control() => Some('?'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_an_order_to_a_terminal() {
        assert!(matches!(plain_text("größer als 5 %, \u{1f4be}"), Cow::Borrowed(_)));
        assert_eq!(plain_text("a\u{1b}[2Jb\u{9b}31mc\u{7}"), "a?[2Jb?31mc?");
        assert_eq!(plain_text("abc\u{202e}fed\r\nnext"), "abc?fed  next");
    }

    #[test]
    fn a_json_text_says_the_same_in_plain_characters() {
        let json = "{\n  \"a\": \"ä\u{9b}31m\u{202e}\u{7f}\\u001b\"\n}".to_owned();
        let plain = "{\n  \"a\": \"ä\\u009b31m\\u202e\\u007f\\u001b\"\n}";
        assert_eq!(plain_json(json), plain);
    }
}
