//! The command line that measures a run again.

use record::RunRecord;
use textual::shell_word;

/// Options whose value is the directory of the first run, which a second run cannot use.
const OF_ONE_RUN: [&str; 2] = ["--out", "--resume"];

/// The command line of `run`, with its seed made explicit and without its directory, quoted for a
/// POSIX shell.
pub(super) fn again(run: &RunRecord) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut arguments = run.arguments.iter();
    while let Some(argument) = arguments.next() {
        if OF_ONE_RUN.contains(&argument.as_str()) {
            arguments.next();
        } else if !OF_ONE_RUN.iter().any(|option| argument.starts_with(&format!("{option}="))) {
            words.push(shell_word(argument));
        }
    }
    let has_seed = run.arguments.iter().any(|it| it == "--seed" || it.starts_with("--seed="));
    if !has_seed {
        words.push(format!("--seed {}", run.seed));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;

    use super::*;

    fn again_of(arguments: &[&str]) -> String {
        let mut run = Sample::new(&["a"]).run.manifest.run;
        run.arguments = arguments.iter().map(ToString::to_string).collect();
        run.seed = 7;
        again(&run)
    }

    #[test]
    fn the_seed_is_said_once_and_the_directory_of_the_first_run_is_not() {
        assert_eq!(again_of(&["fsprism", "survey"]), "fsprism survey --seed 7");
        assert_eq!(again_of(&["fsprism", "survey", "--seed=7"]), "fsprism survey --seed=7");
        let words = ["fsprism", "survey", "--out", "a b", "--out=c", "ext4", "--seed", "7"];
        assert_eq!(again_of(&words), "fsprism survey ext4 --seed 7");
    }

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let words = ["fsprism", "survey", "ext4:mkfs=-O ^has_journal", "it's", "", "2%"];
        let expected = "fsprism survey 'ext4:mkfs=-O ^has_journal' 'it'\\''s' '' 2% --seed 7";
        assert_eq!(again_of(&words), expected);
    }
}
