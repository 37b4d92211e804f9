//! Values as written on the command line: sizes, times, percentages.

use std::time::Duration;

use suites::RangeEnd;

/// Parses a size in bytes: `4k`, `64m`, `2G`, with powers of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match ::targets::parse_size(text) {
        Some(0) => Err("a size of 0 leaves nothing to measure; give one above 0".to_owned()),
        Some(bytes) => Ok(bytes),
        None => {
            Err("a size must be a whole number, with k, m or g as powers of 1024: 64m".to_owned())
        }
    }
}

/// Parses permissions: `755`.
pub(crate) fn permissions(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|&mode| mode <= 0o7777);
    mode.ok_or_else(|| "permissions must be an octal number up to 7777: 755".to_owned())
}

/// Parses a time: `10s`, `2m`, `1h`, `500ms`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "a time must be a number with ms, s, m or h: 90s".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let seconds = match &text[digits..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
    if time.is_zero() {
        return Err("a time of 0 leaves nothing to measure; give one above 0".to_owned());
    }
    Ok(time)
}

/// Parses the time to spend measuring: at most ten years, which is longer than anybody waits and
/// short enough for time arithmetic not to overflow.
pub(crate) fn budget(text: &str) -> Result<Duration, String> {
    const BUDGET_MAX: Duration = Duration::from_secs(87_600 * 3600);
    let budget = time(text)?;
    if budget <= BUDGET_MAX {
        Ok(budget)
    } else {
        Err("a budget must be at most 87600h, which is ten years".to_owned())
    }
}

/// Parses operations per second: `2000`, or `2k` with a power of 1000.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    /// At lower rates, a replicate of a hundred operations takes too long; at higher ones, reading
    /// the clock does.
    const RANGE: std::ops::RangeInclusive<u64> = 10..=1_000_000;
    let (number, times) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1000),
        None => (text, 1),
    };
    let rate = number.parse::<u64>().ok().and_then(|number| number.checked_mul(times));
    match rate {
        Some(rate) if RANGE.contains(&rate) => Ok(rate),
        Some(_) => Err("a rate must be between 10 and 1,000,000 operations per second".to_owned()),
        None => {
            Err("a rate must be a whole number of operations per second, with k for thousands: \
                     2000 or 2k"
                .to_owned())
        }
    }
}

/// Parses a penalty: a number above 0.
pub(crate) fn cost(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| "a penalty must be a number above 0: 25".to_owned())
}

/// Parses a percentage above 0: `2%` or `2`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .strip_suffix('%')
        .unwrap_or(text)
        .parse()
        .map_err(|_| "a percentage must be a number, with or without %: 2%".to_owned())?;
    if number.is_finite() && number > 0.0 {
        Ok(number)
    } else {
        Err("a percentage must be above 0%".to_owned())
    }
}

/// Parses how wide an interval may be on each side: below 100 %, where it would reach 0.
pub(crate) fn width(text: &str) -> Result<f64, String> {
    match percent(text)? {
        percent if percent < 100.0 => Ok(percent),
        _ => Err("an interval must be narrower than 100%".to_owned()),
    }
}

/// Parses the size of a change to detect: `5%`.
pub(crate) fn change(text: &str) -> Result<f64, String> {
    match percent(text)? {
        // 0.05 may be meant as 5 %: somebody who thinks in shares would get a hundredth of it.
        percent if percent < 1.0 && !text.ends_with('%') => Err(format!(
            "{text} could be a share or a percentage: give {}% or {text}%",
            percent * 100.0
        )),
        percent => Ok(percent),
    }
}

/// How much worse a metric may become, in percent. Without a metric, it is the one that is
/// compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gate {
    pub(crate) metric: Option<String>,
    pub(crate) percent: f64,
}

/// Parses a gate: `5%`, or `p99:10%`.
pub(crate) fn gate(text: &str) -> Result<Gate, String> {
    let (metric, limit) = match text.rsplit_once(':') {
        Some((metric, limit)) => (Some(metric.to_owned()), limit),
        None => (None, text),
    };
    let wrong = "a limit must be a percentage, or a metric and a percentage: 5% or p99:10%";
    match percent(limit) {
        Ok(percent) if metric.as_deref() == Some("") => Err(format!("{wrong}, not :{percent}%")),
        Ok(_) => Ok(Gate { metric, percent: change(limit)? }),
        Err(_) if limit.trim_end_matches('%').parse::<f64>().is_ok() => {
            Err("a limit must be above 0%".to_owned())
        }
        Err(_) => Err(wrong.to_owned()),
    }
}

/// Parses a share of operations in whole percents: `70%` or `70`, from 0 to 100.
pub(crate) fn share(text: &str) -> Result<u64, String> {
    match text.strip_suffix('%').unwrap_or(text).parse() {
        Ok(percent) if percent <= 100 => Ok(percent),
        Ok(_) => Err("a share must be between 0% and 100%".to_owned()),
        Err(_) => Err("a share must be a whole percentage, with or without %: 70%".to_owned()),
    }
}

/// Parses a position on an axis of a search: a size, a count (which may be 0) or a whole
/// percentage.
pub(crate) fn position(text: &str) -> Result<RangeEnd, String> {
    let (number, is_percent) =
        text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let value = if is_percent { number.parse().ok() } else { ::targets::parse_size(number) };
    value.map(|value| RangeEnd { value, is_percent }).ok_or_else(|| {
        "a position must be a whole number, with k, m or g as powers of 1024 or % for a share: 64m"
            .to_owned()
    })
}

/// Parses a confidence level, given as a percentage (`95%`), into a share of 1.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let percent = percent(text)?;
    if (50.0..=99.99).contains(&percent) {
        Ok(percent / 100.0)
    } else {
        Err("a confidence level must be between 50% and 99.99%".to_owned())
    }
}

/// Parses a quantile: `0.99`.
pub(crate) fn quantile(text: &str) -> Result<f64, String> {
    let inside = |q: &f64| *q > 0.0 && *q < 1.0;
    text.parse()
        .ok()
        .filter(inside)
        .ok_or_else(|| "a quantile must be between 0 and 1: 0.99".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_percents_and_positions_may_be_shares() {
        assert_eq!((share("0"), share("70%"), share("100%")), (Ok(0), Ok(70), Ok(100)));
        for wrong in ["120", "101%", "-1", "0.5", "", "%", "4k"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        let end = |value, is_percent| Ok(RangeEnd { value, is_percent });
        assert_eq!(position("64m"), end(64 << 20, false));
        assert_eq!((position("0"), position("0%")), (end(0, false), end(0, true)));
        for wrong in ["", "%", "1.5%", "4k%", "x"] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_are_whole_numbers_of_operations_per_second() {
        assert_eq!((rate("2000"), rate("2k"), rate("10")), (Ok(2000), Ok(2000), Ok(10)));
        for wrong in ["0", "9", "-5", "1.5k", "k", "", "2m", "1001k", "99999999999999999999"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        assert!(rate("0").expect_err("nothing would be done").contains("between 10 and"));
    }

    #[test]
    fn times_have_a_unit_and_are_above_zero() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(time("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "5", "s", "-1s", "0s", "1d", "1e99h", "..s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn budgets_end_within_ten_years() {
        assert_eq!(budget("87600h"), Ok(Duration::from_secs(315_360_000)));
        assert!(budget("87601h").expect_err("longer").contains("at most 87600h"));
        assert!(budget("1e12h").is_err() && budget("0s").is_err());
    }

    #[test]
    fn percentages_may_drop_their_sign() {
        assert_eq!(percent("2%"), Ok(2.0));
        assert_eq!(percent("0.5"), Ok(0.5));
        for wrong in ["", "%", "0%", "-1%", "95%%", "nan", "inf"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(confidence("90%"), Ok(0.9));
        assert!(confidence("100%").is_err());
        assert!(confidence("10%").is_err());
    }

    #[test]
    fn a_gate_may_name_its_metric() {
        let of =
            |metric: Option<&str>, percent| Gate { metric: metric.map(str::to_owned), percent };
        assert_eq!(gate("5%"), Ok(of(None, 5.0)));
        assert_eq!(gate("p99:10%"), Ok(of(Some("p99"), 10.0)));
        for wrong in ["", "p99", "p99:", ":5%", "p99:0%", "5%:p99"] {
            assert!(gate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_size_of_nothing_is_refused() {
        assert_eq!(size("64m"), Ok(64 << 20));
        assert!(size("0").is_err());
        assert!(size("12x").is_err());
    }
}
