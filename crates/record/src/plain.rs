//! Neutralises control characters in the texts of JSON values.

use std::borrow::Cow;

use serde_json::Value;
use textual::plain_text;

/// Makes every text in a JSON value plain, including names of entries.
pub(crate) fn make_plain(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(plain) = plain_text(text) {
                *text = plain;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        Value::Object(entries) => {
            let is_plain = |key: &String| matches!(plain_text(key), Cow::Borrowed(_));
            if !entries.keys().all(is_plain) {
                let taken = std::mem::take(entries);
                *entries = taken
                    .into_iter()
                    .map(|(key, value)| (plain_text(&key).into(), value))
                    .collect();
            }
            entries.values_mut().for_each(make_plain);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_throughout() {
        let mut value = serde_json::json!({"a\u{1b}": ["b\n", {"c": 1, "d": "\u{202e}"}]});
        make_plain(&mut value);
        assert_eq!(value, serde_json::json!({"a?": ["b ", {"c": 1, "d": "?"}]}));
    }
}
