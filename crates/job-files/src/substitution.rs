//! What is replaced before a setting is read: `${VARIABLE}`, and the keywords `$pagesize`,
//! `$mb_memory` and `$ncpus`, with which fio calculates by `bc`.

use std::{env, io, thread};

use crate::expression;

/// What a keyword stands for, asked for where it is used.
type Quantity = fn() -> io::Result<u64>;

/// What variables and keywords are replaced by.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    variable: fn(&str) -> Option<String>,
    keywords: [(&'static str, Quantity); 3],
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            variable: |name| env::var(name).ok(),
            keywords: [
                ("$pagesize", || Ok(rustix::param::page_size() as u64)),
                ("$mb_memory", || Ok(system_calls::memory_bytes()? >> 20)),
                ("$ncpus", || Ok(thread::available_parallelism()?.get() as u64)),
            ],
        }
    }

    #[cfg(test)]
    pub(crate) fn invented() -> Self {
        Self {
            variable: |name| (name == "SIZE").then(|| "64m".to_owned()),
            keywords: [
                ("$pagesize", || Ok(4096)),
                ("$mb_memory", || Ok(1000)),
                ("$ncpus", || Ok(3)),
            ],
        }
    }
}

/// A line with variables and keywords replaced. Where a keyword was replaced, the value is
/// calculated, with integers.
///
/// # Errors
/// Why it cannot be calculated.
pub(crate) fn substituted(line: &str, surroundings: &Surroundings) -> Result<String, String> {
    let line = with_variables(line, surroundings);
    let mut replaced = line.clone();
    for (word, number) in surroundings.keywords {
        if line.contains(word) {
            let number = number().map_err(|error| format!("{word} is not known: {error}"))?;
            replaced = replaced.replace(word, &number.to_string());
        }
    }
    match replaced.split_once('=') {
        Some((name, value)) if replaced != line && value.contains(['+', '-', '*', '/']) => {
            Ok(format!("{name}={}", expression::integer(value)?))
        }
        _ => Ok(replaced),
    }
}

/// Variables that are not set are replaced by nothing. `${` without a `}` stays.
fn with_variables(line: &str, surroundings: &Surroundings) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        text.push_str(before);
        text.push_str(&(surroundings.variable)(name).unwrap_or_default());
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        substituted(line, &Surroundings::invented()).expect(line)
    }

    #[test]
    fn variables_are_replaced_wherever_they_stand() {
        assert_eq!(of("size=${SIZE}"), "size=64m");
        assert_eq!(of("filename=${NOTHING}x${SIZE}${SIZE}"), "filename=x64m64m");
        assert_eq!(of("filename=${SIZE"), "filename=${SIZE");
        assert_eq!(of("filename=$SIZE"), "filename=$SIZE");
    }

    #[test]
    fn keywords_are_replaced_and_calculated_with() {
        assert_eq!(of("bs=$pagesize"), "bs=4096");
        assert_eq!(of("size=8*$pagesize"), "size=32768");
        assert_eq!(of("numjobs=$ncpus"), "numjobs=3");
        assert_eq!(of("size=$mb_memory/3+1"), "size=334");
        assert_eq!(of("filename=/tmp/a-b"), "filename=/tmp/a-b", "there is no keyword in it");
        let refused = substituted("size=$ncpus/0", &Surroundings::invented()).expect_err("by 0");
        assert_eq!(refused, "it divides by zero");
    }

    #[test]
    fn this_machine_has_memory_and_processors() {
        for (word, number) in Surroundings::of_this_process().keywords {
            assert!(number().is_ok_and(|number| number > 0), "{word}");
        }
    }
}
