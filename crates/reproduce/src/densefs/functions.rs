//! Section 3.2: where functions lie in a kernel, and how many lines they span.
//!
//! Sizes are the distances to the next function, so they include what fills the gap: less than the
//! 16 bytes at whose multiples functions begin, which changes no number of lines.

use serde::Serialize;
use textual::Columns;

use super::Reproduction;
use crate::statement::{Outcome, Statement, statement};

/// Functions that the paper names: by their name in today's kernels, by that in the paper, and with
/// the size in the paper.
const NAMED: [(&str, &str, u64); 4] = [
    ("ktime_get_coarse_real_ts64", "current_kernel_time64", 58),
    ("strcpy", "strcpy", 30),
    ("strcmp", "strcmp", 37),
    ("strlen", "strlen", 28),
];
/// The trio of string functions.
const TRIO: [&str; 3] = ["strcpy", "strcmp", "strlen"];
const LINE_BYTES: u64 = 64;
/// Functions begin at multiples of this.
const FUNCTION_ALIGNMENT: u64 = 16;

/// The names, in today's kernels, of the functions whose places are needed.
#[must_use]
pub fn kernel_functions() -> [&'static str; 4] {
    NAMED.map(|(name, _, _)| name)
}

/// Where a function lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionPlace {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Its name in the paper.
    pub published_name: &'static str,
    /// Its size in the paper.
    pub published_bytes: u64,
    /// Bytes to the next function.
    pub bytes: u64,
    /// The byte of a line at which it begins.
    pub begins_at: u64,
    /// The first line.
    pub first_line: u64,
    /// How many lines it spans.
    pub lines: u64,
}

/// The places of the functions in lines of `/proc/kallsyms`, sorted by address, each followed by
/// the function after it. Those that are not there are left out.
pub(super) fn places(symbols: &str) -> Vec<FunctionPlace> {
    let parsed = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((address, words.nth(1)?.to_owned()))
    };
    let symbols: Vec<(u64, String)> = symbols.lines().filter_map(parsed).collect();
    let place = |(name, published_name, published_bytes): (&'static str, &'static str, u64)| {
        let at = symbols.iter().position(|(_, one)| one == name)?;
        let (address, _) = symbols[at];
        let next = symbols[at..].iter().map(|(next, _)| *next).find(|next| *next > address)?;
        let (first_line, last_line) = (address / LINE_BYTES, (next - 1) / LINE_BYTES);
        Some(FunctionPlace {
            name,
            published_name,
            published_bytes,
            bytes: next - address,
            begins_at: address % LINE_BYTES,
            first_line,
            lines: last_line - first_line + 1,
        })
    };
    NAMED.into_iter().filter_map(place).collect()
}

pub(super) const STATEMENTS: &[fn(&Reproduction) -> Statement] =
    &[time_spills, trio_spans, trio_aligned, trio_ordered];

fn place<'a>(of: &'a Reproduction, name: &str) -> Option<&'a FunctionPlace> {
    of.functions.iter().find(|one| one.name == name)
}

fn trio(of: &Reproduction) -> Option<[&FunctionPlace; 3]> {
    let [one, two, three] = TRIO.map(|name| place(of, name));
    Some([one?, two?, three?])
}

fn time_spills(of: &Reproduction) -> Statement {
    let found = place(of, NAMED[0].0).map(|one| {
        let least = one.bytes.div_ceil(LINE_BYTES);
        let measured = format!(
            "{}, its successor: at most {} bytes in {} lines, {least} if it began with one",
            one.name, one.bytes, one.lines
        );
        (measured, (one.lines, least) == (2, 1))
    });
    let claim = "current_kernel_time64 would fit in a line, but spills over into the next";
    statement("section 3.2", claim, "58 bytes in 2 lines, 1 if aligned", found).within("exact")
}

fn trio_spans(of: &Reproduction) -> Statement {
    let found = trio(of).map(|all| {
        let mut lines: Vec<u64> =
            all.iter().flat_map(|one| one.first_line..one.first_line + one.lines).collect();
        lines.sort_unstable();
        lines.dedup();
        let bytes: u64 = all.iter().map(|one| one.bytes).sum();
        (format!("at most {bytes} bytes in {} lines", lines.len()), lines.len() == 4)
    });
    let claim = "strcpy, strcmp and strlen span four lines";
    statement("section 3.2", claim, "95 bytes in 4 lines", found).within("exact")
}

fn trio_aligned(of: &Reproduction) -> Statement {
    let found = trio(of).map(|all| {
        let lines: u64 = all.iter().map(|one| one.bytes.div_ceil(LINE_BYTES)).sum();
        (format!("{lines} lines if each began with one"), lines == 3)
    });
    let claim = "aligned, they would span three";
    statement("section 3.2", claim, "3 lines", found).within("exact")
}

fn trio_ordered(of: &Reproduction) -> Statement {
    let claim = "directly after one another, they would span two, the least possible";
    let none = statement("section 3.2", claim, "2 lines", None).within("exact");
    let Some(all) = trio(of) else { return none };
    let most: u64 = all.iter().map(|one| one.bytes).sum();
    let least: u64 = all.iter().map(|one| one.bytes.saturating_sub(FUNCTION_ALIGNMENT - 1)).sum();
    let (least, most) = (least.div_ceil(LINE_BYTES), most.div_ceil(LINE_BYTES));
    let measured = match least == most {
        true => format!("{most} lines"),
        false => format!("{least} to {most} lines"),
    };
    let outcome = Outcome::of_interval((least, most) == (2, 2), least > 2 || most < 2);
    Statement { measured, outcome, ..none }
}

pub(super) fn text(places: &[FunctionPlace]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let heading = ["function", "bytes, paper", "at most, here", "begins at byte", "lines"];
    let mut columns = Columns::headed(heading);
    for one in places {
        columns.row([
            one.name.to_owned(),
            one.published_bytes.to_string(),
            one.bytes.to_string(),
            format!("{} of 64", one.begins_at),
            one.lines.to_string(),
        ]);
    }
    format!("\nSection 3.2: functions in the guest's kernel\n{}", columns.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Debian's 6.1.0-56, as `sort /proc/kallsyms | grep -A 2` prints it in a guest.
    const SYMBOLS: &str = "\
ffffffff811570b0 T ktime_get_coarse_real_ts64
ffffffff811570f0 T ktime_get_resolution_ns
--
ffffffff819ec7f0 T strcpy
ffffffff819ec7f0 T strcpy_alias
ffffffff819ec810 T strncpy
--
ffffffff819ec890 T strcmp
ffffffff819ec8c0 T strncmp
--
ffffffff819ec9a0 T strlen
ffffffff819ec9c0 T strnlen
";

    #[test]
    fn functions_span_the_lines_that_they_lie_in() {
        let found = places(SYMBOLS);
        let shown: Vec<_> =
            found.iter().map(|one| (one.name, one.bytes, one.begins_at, one.lines)).collect();
        assert_eq!(
            shown,
            [
                ("ktime_get_coarse_real_ts64", 64, 48, 2),
                ("strcpy", 32, 48, 2),
                ("strcmp", 48, 16, 1),
                ("strlen", 32, 32, 1),
            ]
        );
    }

    #[test]
    fn what_is_not_there_or_makes_no_sense_is_left_out() {
        for text in ["", "nonsense", "zz T strcpy\n", "ffffffff819ec7f0 T strcpy\n"] {
            assert_eq!(places(text), []);
        }
        assert_eq!(places("0 T strcpy\nffffffffffffffff T strlen\n").len(), 1);
    }
}
