//! Lets options precede the suite they belong to: `fsprism run --budget 30s nano/io .`
//!
//! A suite is a subcommand of `run` whose options follow it. To let them precede it as well, its
//! name is moved to the front.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Command};

use crate::commands::suites;

/// The words of a command line, with the suite moved to right after `run`. A job file stands for
/// the suite that executes it.
pub(super) fn suite_first(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "run") {
        return words;
    }
    if let Some(at) = job_file(&words) {
        let file = words.remove(at);
        words.splice(2..2, ["fio".into(), "--job-file".into(), file]);
        return words;
    }
    let starts_with_dash = |word: &OsString| word.to_string_lossy().starts_with('-');
    if words.get(2).is_none_or(|word| !starts_with_dash(word)) {
        return words;
    }
    let (taken, all) = (suites::every_option(), suites::rows());
    if let Some(at) = first_operand(&words, 2, &taken)
        && all.iter().any(|row| words[at] == row.name)
    {
        words[2..=at].rotate_right(1);
    }
    words
}

/// The index of a job file that stands where the suite would: a file that is there, or whose name
/// ends as such names do.
fn job_file(words: &[OsString]) -> Option<usize> {
    let is_job_file = |word: &OsString| {
        let path = Path::new(word);
        let is_named_so = path.extension().is_some_and(|end| end == "fio" || end == "job");
        is_named_so || (path.is_file() && word.to_string_lossy().ends_with(".ini"))
    };
    if words.get(2).is_some_and(is_job_file) {
        return Some(2);
    }
    if !words.get(2)?.to_string_lossy().starts_with('-') {
        return None;
    }
    let at = first_operand(words, 2, &suites::every_option())?;
    is_job_file(&words[at]).then_some(at)
}

/// The index of the first word, at or after `from`, that is neither an option nor its value.
fn first_operand(words: &[OsString], from: usize, taken: &Command) -> Option<usize> {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let word = word.to_string_lossy();
        let Some(option) = word.strip_prefix("--") else { return Some(at) };
        if option.is_empty() {
            return None;
        }
        let next = words.get(at + 1).map(|word| word.to_string_lossy());
        let option = taken.get_arguments().find(|one| one.get_long() == Some(option));
        let has_value = match option.map(values) {
            Some((1.., true)) => true,
            Some((0, true)) => next.is_some_and(|next| !next.starts_with('-')),
            Some((_, false)) | None => false,
        };
        at += if has_value { 2 } else { 1 };
    }
    None
}

/// The fewest values that an option takes, and whether they may follow it as separate words,
/// without an equals sign.
fn values(option: &Arg) -> (usize, bool) {
    let may_follow = option.get_action().takes_values() && !option.is_require_equals_set();
    (option.get_num_args().map_or(1, |range| range.min_values()), may_follow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_comes_first_wherever_it_stood() {
        for (given, wanted) in [
            ("run --budget 30s nano/io . --seed 3", "run nano/io --budget 30s . --seed 3"),
            ("run --budget=30s --verify nano .", "run nano --budget=30s --verify ."),
            ("run --list fscache", "run fscache --list"),
            ("run --break-even fscache", "run fscache --break-even"),
            (
                "run --drop-caches --out a --seed=1 custom --rw read .",
                "run custom --drop-caches --out a --seed=1 --rw read .",
            ),
            // Values, words that are not suites, and anything after `--` stay where they are.
            ("run --resume nano", "run --resume nano"),
            ("run --out nano --list", "run --out nano --list"),
            ("run --verify ext4 nano", "run --verify ext4 nano"),
            ("run -- nano", "run -- nano"),
            ("run nano/io --seed 3 survey", "run nano/io --seed 3 survey"),
            ("survey --seed 3 nano", "survey --seed 3 nano"),
            ("run", "run"),
            ("run a.fio ext4 xfs", "run fio --job-file a.fio ext4 xfs"),
            ("run --budget 9s ./a.fio .", "run fio --job-file ./a.fio --budget 9s ."),
            ("run custom a.fio", "run custom a.fio"),
        ] {
            let words =
                |line: &str| format!("fsprism {line}").split(' ').map(OsString::from).collect();
            let wanted: Vec<OsString> = words(wanted);
            assert_eq!(suite_first(words(given)), wanted, "{given}");
        }
    }
}
