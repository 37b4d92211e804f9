//! The document as JSON.

use record::Document;
use textual::plain_json;

/// The document as one indented JSON object, followed by a line break.
#[must_use]
pub fn render_json(document: &Document) -> String {
    let text = serde_json::to_string_pretty(document).expect("a document has text keys only");
    let mut text = plain_json(text);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_document_survives_json() {
        let document = Sample::four_targets().document();
        let read: Document = serde_json::from_str(&render_json(&document)).unwrap();
        assert_eq!(read, document);
    }

    #[test]
    fn a_run_without_a_replicate_survives_json() {
        let document = Sample::new(&["tmpfs", "ext4"]).benchmark("create", &[]).document();
        let read: Document = serde_json::from_str(&render_json(&document)).unwrap();
        assert_eq!(read, document);
        assert!(read.cells.iter().all(|cell| cell.metrics.is_empty()));
    }
}
