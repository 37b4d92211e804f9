//! Several outputs of one report: `--output-format=normal,json`.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::json::{JsonDetail, write_json};
use crate::normal::write_normal;
use crate::report::Report;
use crate::terse::{TerseVersion, write_terse};

/// Which outputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputFormats {
    /// Whether `normal` is, and with it what is said at the start and while jobs run.
    pub is_normal: bool,
    /// Whether `json` is, or `json+`.
    pub json: Option<JsonDetail>,
    /// Whether `terse` is.
    pub is_terse: bool,
}

impl Default for OutputFormats {
    fn default() -> Self {
        Self { is_normal: true, json: None, is_terse: false }
    }
}

/// A format of that name is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    name: String,
}

impl UnknownFormat {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "there is no output format {:?}", self.name)
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for OutputFormats {
    type Err = UnknownFormat;

    /// Names separated by commas: `normal`, `json`, `json+`, `terse` (or `minimal`, `csv`).
    fn from_str(names: &str) -> Result<Self, UnknownFormat> {
        let mut formats = Self { is_normal: false, json: None, is_terse: false };
        for name in names.split(',') {
            match name {
                "normal" => formats.is_normal = true,
                "json" => formats.json = formats.json.or(Some(JsonDetail::Figures)),
                "json+" => formats.json = Some(JsonDetail::Bins),
                "terse" | "minimal" | "csv" => formats.is_terse = true,
                _ => return Err(UnknownFormat::new(name)),
            }
        }
        Ok(formats)
    }
}

/// Writes a report in all these formats: first terse lines, then JSON, then what people read.
///
/// # Errors
///
/// Those of writing.
pub fn write(
    report: &Report,
    formats: OutputFormats,
    version: TerseVersion,
    out: &mut dyn Write,
) -> io::Result<()> {
    if formats.is_terse {
        write_terse(report, version, out)?;
    }
    if let Some(detail) = formats.json {
        write_json(report, detail, out)?;
    }
    if formats.is_normal {
        write_normal(report, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_fio() {
        let formats: OutputFormats = "normal,json+,json,csv".parse().unwrap();
        let all = OutputFormats { is_normal: true, json: Some(JsonDetail::Bins), is_terse: true };
        assert_eq!(formats, all);
        let unknown = "normal,xml".parse::<OutputFormats>().unwrap_err();
        assert_eq!(unknown.to_string(), "there is no output format \"xml\"");
    }
}
