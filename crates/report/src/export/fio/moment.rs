//! The time at which a run began, as fio writes it.

use std::time::UNIX_EPOCH;

/// A point in time, in both of fio's forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970.
    pub(super) seconds: u64,
    /// In the format of `ctime`, in UTC: `Fri Nov 20 08:23:05 2026`.
    pub(super) text: String,
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// 1970 began on a Thursday.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

impl Moment {
    /// Parses RFC 3339; anything else becomes 1970 with an empty text.
    pub(super) fn from_rfc3339(rfc3339: &str) -> Self {
        let parsed = humantime::parse_rfc3339(rfc3339).ok();
        let since = parsed.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        since.map_or_else(Self::default, |since| Self::at(since.as_secs()))
    }

    fn at(seconds: u64) -> Self {
        let moment = UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let date = humantime::format_rfc3339_seconds(moment).to_string();
        let day = DAYS.iter().cycle().nth((seconds / 86_400 % 7) as usize).unwrap_or(&"");
        let month = date[5..7].parse().ok().and_then(|month: usize| MONTHS.get(month - 1));
        let (month, day_of_month) = (month.unwrap_or(&""), date[8..10].trim_start_matches('0'));
        let (time, year) = (&date[11..19], &date[..4]);
        Self { seconds, text: format!("{day} {month} {day_of_month:>2} {time} {year}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_ctime_does() {
        // According to `date -u -d @... +%c` in the C locale.
        for (rfc3339, seconds, text) in [
            ("2026-11-20T08:23:05Z", 1_795_162_985, "Fri Nov 20 08:23:05 2026"),
            ("2024-02-29T23:59:59Z", 1_709_251_199, "Thu Feb 29 23:59:59 2024"),
            ("2026-03-01T00:00:00Z", 1_772_323_200, "Sun Mar  1 00:00:00 2026"),
        ] {
            assert_eq!(Moment::from_rfc3339(rfc3339), Moment { seconds, text: text.to_owned() });
        }
        assert_eq!(Moment::from_rfc3339("yesterday"), Moment::default());
    }
}
