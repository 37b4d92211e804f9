//! Small notations shared by the kernel's files.

/// The greatest CPU or node number accepted in a list. No kernel is built for more, and the limit
/// keeps a malformed list from expanding to billions of numbers.
const LIST_NUMBER_MAX: u32 = 65_535;

/// Parses a list such as `0-3,8` into ascending numbers; `None` if it is malformed.
pub(crate) fn number_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > LIST_NUMBER_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// The selected word of a choice such as `none [mq-deadline] kyber`, or the only word of a file
/// that has just one.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let bracketed = |word: &str| Some(word.strip_prefix('[')?.strip_suffix(']')?.to_owned());
    match (words.clone().find_map(bracketed), words.next(), words.next()) {
        (Some(word), _, _) => Some(word),
        (None, Some(only), None) => Some(only.to_owned()),
        _ => None,
    }
}

/// The value of `key` in lines of the form `key: value` or `key value`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let value = rest.trim_start();
        let (bare, value) = match value.strip_prefix(':') {
            Some(after_colon) => (false, after_colon),
            None => (true, value),
        };
        // A longer key that starts with this one is a different key.
        (!bare || rest.starts_with([' ', '\t'])).then_some(value.trim())
    })
}

/// A size such as `32K` or `1M`, in bytes.
pub(crate) fn size_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.trim().split_at_checked(text.trim().len().wrapping_sub(1))? {
        (digits, "K" | "k") => (digits, 10),
        (digits, "M") => (digits, 20),
        (digits, "G") => (digits, 30),
        _ => (text.trim(), 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A flag: `0` or `1`.
pub(crate) fn flag(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_ranges_and_numbers() {
        assert_eq!(number_list("0-2,8,10-11\n"), Some(vec![0, 1, 2, 8, 10, 11]));
        assert_eq!(number_list("3,1,1"), Some(vec![1, 3]));
        assert_eq!(number_list(""), Some(vec![]));
        for malformed in ["a", "3-1", "1-", "-", "0-4294967295", "99999999999", "1:2"] {
            assert_eq!(number_list(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn the_bracketed_word_is_the_chosen_one() {
        assert_eq!(chosen("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none\n").as_deref(), Some("none"));
        assert_eq!(chosen("always madvise"), None);
        assert_eq!(chosen(""), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_key() {
        let text = "Mems: 1\nMem: 2\ncpu family\t: 25\nnr_throttled 7\nnr 8\n";
        assert_eq!(field(text, "Mem"), Some("2"));
        assert_eq!(field(text, "cpu family"), Some("25"));
        assert_eq!(field(text, "nr"), Some("8"));
        assert_eq!(field(text, "nr_throttled"), Some("7"));
        assert_eq!(field(text, "absent"), None);
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(size_bytes("32K"), Some(32 << 10));
        assert_eq!(size_bytes("3M\n"), Some(3 << 20));
        assert_eq!(size_bytes("512"), Some(512));
        for malformed in ["", "K", "-1K", "18446744073709551615K", "é"] {
            assert_eq!(size_bytes(malformed), None, "{malformed}");
        }
    }
}
