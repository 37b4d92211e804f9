//! The version of the formats; their JSON schema is generated from the types.

/// Version of the run directory and of the document. Older versions stay readable, newer ones are
/// refused.
pub const SCHEMA_VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use crate::document::Document;

    /// The schema in the repository must match the types. To update it after a change:
    /// `FSPRISM_RENEW_SCHEMA=1 cargo test -p fsprism-record schema`.
    #[test]
    fn the_checked_in_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/document.schema.json");
        let text = serde_json::to_string_pretty(&schemars::schema_for!(Document))
            .expect("a schema is JSON");
        if std::env::var_os("FSPRISM_RENEW_SCHEMA").is_some() {
            std::fs::write(path, format!("{text}\n")).expect("docs/ can be written");
        }
        let checked_in = std::fs::read_to_string(path).expect("docs/document.schema.json is there");
        assert!(checked_in.trim_end() == text, "docs/document.schema.json is not up to date");
    }
}
