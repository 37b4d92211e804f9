//! The time of day where the computer is.

use std::mem::MaybeUninit;

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A time in seconds since 1970 as C's `ctime` writes it, without the end of the line: `Tue Dec  1
/// 03:57:03 2026`.
pub fn local_time_text(seconds: i64) -> String {
    let mut broken = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: the function reads a number and writes to `broken`; all zeros are valid as well.
    let broken = unsafe {
        libc::localtime_r(&raw const seconds, broken.as_mut_ptr());
        broken.assume_init()
    };
    let word = |words: &[&'static str], at: i32| {
        usize::try_from(at).ok().and_then(|at| words.get(at).copied()).unwrap_or("???")
    };
    format!(
        "{} {} {:>2} {:02}:{:02}:{:02} {}",
        word(&DAYS, broken.tm_wday),
        word(&MONTHS, broken.tm_mon),
        broken.tm_mday,
        broken.tm_hour,
        broken.tm_min,
        broken.tm_sec,
        i64::from(broken.tm_year) + 1900
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_c_writes_them() {
        let text = local_time_text(1_000_000_000);
        assert_eq!(text.len(), 24, "{text}");
        assert!(text.starts_with("Sat Sep  8") || text.starts_with("Sun Sep  9"), "{text}");
        assert!(text.ends_with(" 2001"), "{text}");
    }
}
