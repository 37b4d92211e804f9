//! Words: enumerations, plurals, and suggestions for misspelt names.

use std::path::Path;
use std::sync::OnceLock;

use crate::plain_path;

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn list(items: &[String], and: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} {and} {last}", init.join(", ")),
    }
}

/// `1 block`, `2 blocks`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The name that starts with `given`, or else the one with the smallest edit distance from it, if
/// that is at most half of its letters; the last one if several are equally near.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let named = names.into_iter().map(|name| {
        let starts = !given.is_empty() && name.starts_with(given);
        (!starts, strsim::osa_distance(given, name), name)
    });
    let nearer = |one: (bool, usize, &'a str), other: (bool, usize, &'a str)| {
        if (one.0, one.1) < (other.0, other.1) { one } else { other }
    };
    let (is_no_beginning, edits, nearest) = named.reduce(nearer)?;
    (!is_no_beginning || 2 * edits <= nearest.chars().count()).then_some(nearest)
}

/// " (did you mean `ext4`?)", or an empty string if no name is [near](nearest).
pub fn did_you_mean<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, names).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// A word of a shell command line, quoted if it contains characters that are special to the shell.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%+@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A path as a word of a shell command line.
#[must_use]
pub fn shell_path(path: &Path) -> String {
    shell_word(&plain_path(path))
}

/// The name that the program was invoked by.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Sets the name that the program was invoked by, for commands that it prints. Only the first call
/// has an effect.
pub fn set_program(called: String) {
    // Whoever called this first had the same name.
    let _ = PROGRAM.set(called);
}

/// How commands that are printed begin, so that they can be copied.
#[must_use]
pub fn program() -> &'static str {
    PROGRAM.get().map_or("fsprism", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_suggested_only_if_it_is_near() {
        let names = ["tmpfs", "ext2", "ext4", "xfs", "btrfs", "hfs"];
        for (given, meant) in [
            ("btfs", Some("btrfs")),
            ("xsf", Some("xfs")),
            ("xf", Some("xfs")),
            ("ext", Some("ext4")),
            ("ext5", Some("ext4")),
            ("nosuch", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names), meant, "{given}");
        }
        assert_eq!(did_you_mean("bttrfs", names), " (did you mean `btrfs`?)");
        assert_eq!(did_you_mean("zzzzzz", names), "");
    }

    #[test]
    fn a_shell_reads_words_as_they_are() {
        let of = |word: &str| shell_word(word);
        assert_eq!([of("ext4:size=1g"), of("a b"), of("")], ["ext4:size=1g", "'a b'", "''"]);
        assert_eq!(of("it's"), "'it'\\''s'");
    }

    #[test]
    fn lists_end_with_a_word() {
        let of = |items: &[&str]| {
            list(&items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>(), "and")
        };
        assert_eq!([of(&[]), of(&["a"]), of(&["a", "b"])], ["", "a", "a and b"]);
        assert_eq!(of(&["a", "b", "c"]), "a, b and c");
        assert_eq!((plural(1, "block"), plural(2, "block")), ("1 block".into(), "2 blocks".into()));
    }
}
