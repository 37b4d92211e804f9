//! The manifest as text, with a checksum as its last field, so that accidental changes do not
//! silently change a report.

use std::io;

use serde_json::{Value, json};

use super::{MANIFEST, not_a_run};
use crate::bounded;
use crate::error::RecordError;
use crate::manifest::Manifest;
use crate::open_directory::OpenDirectory;
use crate::plain::make_plain;
use crate::plausible;
use crate::run_kind::RunKind;
use crate::schema::SCHEMA_VERSION;

/// Maximum size of a manifest in bytes. Those of the longest runs are a hundredth of that.
const MANIFEST_BYTES_MAX: u64 = 32 << 20;
/// The field with the checksum of everything before it.
const CHECKSUM: &str = "crc32";
/// The text before the checksum.
const BEFORE_CHECKSUM: &str = ",\n  \"crc32\": ";

/// The text of a manifest.
pub(super) fn text_of(manifest: &Manifest) -> String {
    let mut text = serde_json::to_string_pretty(manifest).expect("a manifest has text keys only");
    assert_eq!(text.pop(), Some('}'), "a manifest is an object");
    text.truncate(text.trim_end().len());
    let end = end_of(text.as_bytes());
    text + &end
}

/// Whether a text ends with its checksum, and nothing follows what the checksum covers.
fn is_whole(text: &[u8]) -> bool {
    let before = BEFORE_CHECKSUM.as_bytes();
    let end = text.windows(before.len()).rposition(|window| window == before);
    end.is_some_and(|end| text[end..] == *end_of(&text[..end]).as_bytes())
}

/// The end of a manifest whose text up to the checksum is this.
fn end_of(text: &[u8]) -> String {
    format!("{BEFORE_CHECKSUM}{}\n}}", crc32fast::hash(text))
}

/// Reads the manifest. Its version is checked before anything else in it is trusted.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
pub(super) fn read(held: &OpenDirectory) -> Result<Manifest, RecordError> {
    let path = held.path_of(MANIFEST);
    let text = held.read(MANIFEST, MANIFEST_BYTES_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_a_run(held.path()),
        _ => RecordError::io("read", &path)(error),
    })?;
    let damaged = |error: &serde_json::Error| RecordError::Damaged {
        path: path.clone(),
        line: error.line(),
        why: error.to_string(),
    };
    if let Err(why) = bounded::elements(&text, bounded::OF_MANIFEST) {
        return Err(RecordError::Implausible { path, why });
    }
    let mut value: Value = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
    let found = value.get("schema_version").and_then(Value::as_u64).unwrap_or(0);
    if found > u64::from(SCHEMA_VERSION) {
        return Err(RecordError::NewerSchema {
            path: held.path().to_owned(),
            found,
            known: SCHEMA_VERSION,
        });
    }
    if value.get(CHECKSUM).is_some() && !is_whole(&text) {
        let why = "its checksum does not match its content".to_owned();
        return Err(RecordError::Implausible { path, why });
    }
    make_plain(&mut value);
    note_kind(&mut value);
    let manifest: Manifest = serde_json::from_value(value).map_err(|error| damaged(&error))?;
    plausible::manifest(&manifest).map_err(|why| RecordError::Implausible { path, why })?;
    Ok(manifest)
}

/// Adds the kind of a run that predates the field.
fn note_kind(manifest: &mut Value) {
    let Some(run) = manifest.get_mut("run").and_then(Value::as_object_mut) else { return };
    let text = |name| run.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = RunKind::infer(text("command"), text("suite"));
    run.entry("kind").or_insert_with(|| json!(kind));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::directory::Run;
    use crate::directory::tests::manifest;

    fn read_of(text: &str) -> Result<Run, RecordError> {
        let place = tempfile::tempdir().expect("a temporary directory");
        fs::write(place.path().join(MANIFEST), text).expect("ours");
        Run::read(Path::new(place.path()))
    }

    #[test]
    fn a_manifest_that_was_changed_is_refused() {
        let text = text_of(&manifest());
        assert_eq!(read_of(&text).expect("it is whole").manifest, manifest());
        let changed = text.replacen("\"seed\": ", "\"seed\": 1", 1);
        assert_ne!(changed, text);
        let compact: Value = serde_json::from_str(&text).expect("it is JSON");
        let sum_changed = text.replace("crc32\": ", "crc32\": 1");
        let more = format!("{},\n  \"scratch\": \"/\"\n}}", text.trim_end_matches("\n}"));
        for other in [changed, compact.to_string(), sum_changed, more] {
            let error = read_of(&other).expect_err(&other).to_string();
            assert!(error.contains("manifest.json: its checksum does not match"), "{error}");
        }
    }

    #[test]
    fn a_manifest_of_before_there_were_checksums_is_read() {
        let text = serde_json::to_string(&manifest()).expect("it has text keys only");
        assert_eq!(read_of(&text).expect("it is whole").manifest, manifest());
        let (kind, of_guests) = ("\"kind\":\"timed\",", "\"suite\":\"fscache\"");
        let suite = format!("\"suite\":\"{}\"", manifest().run.suite);
        let older = text.replacen(kind, "", 1).replacen(&suite, of_guests, 1);
        assert_eq!(older.len() + kind.len() + suite.len(), text.len() + of_guests.len());
        assert_eq!(read_of(&older).expect("it is whole").manifest.run.kind, RunKind::Networked);
    }
}
