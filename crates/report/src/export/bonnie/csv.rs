//! Lines as Bonnie++ 2.00 prints them: format 1.98, fifty fields. `PrintHeader` in `bon_time.cpp`
//! names forty-eight, without the number of seeks and of seeking processes; `DoReportIO` prints
//! these too.
//!
//! Latencies stay empty, because phases are timed as a whole.

use record::{BonnieMetadataOptions, BonnieOptions, Manifest};
use textual::plain_text;

use super::figures::{Figures, PhaseFigure, ProgramOptions, TargetFigures};

/// The version of the format, and the files that it counts as one.
const VERSION: &str = "1.98";
const FILES_UNIT: f64 = 1024.0;
/// Where the fields of each part begin, and how many fields there are.
const SIZE_AT: usize = 5;
const PHASES_AT: usize = 9;
const FILES_AT: usize = 21;
const TESTS_AT: usize = 26;
const FIELDS: usize = 50;

pub(super) fn render(figures: &Figures<'_>, manifest: &Manifest) -> String {
    let program = format!("{}-{}", manifest.tool.name, manifest.tool.version);
    let line = |row: &TargetFigures<'_>| {
        let mut fields = vec![String::new(); FIELDS];
        let begin = [
            VERSION.to_owned(),
            program.clone(),
            name(row.label),
            "1".to_owned(),
            manifest.run.seed.to_string(),
        ];
        put(&mut fields, 0, begin);
        let at = match &row.options {
            ProgramOptions::Bonnie(options) => {
                put(&mut fields, SIZE_AT, of_bonnie(options));
                PHASES_AT
            }
            ProgramOptions::Metadata(options) => {
                put(&mut fields, FILES_AT, of_metadata(options));
                TESTS_AT
            }
        };
        put(&mut fields, at, row.phases.into_iter().flat_map(texts));
        fields.join(",") + "\n"
    };
    figures.rows.iter().map(line).collect()
}

fn put(fields: &mut [String], at: usize, texts: impl IntoIterator<Item = String>) {
    fields[at..].iter_mut().zip(texts).for_each(|(field, text)| *field = text);
}

/// The sizes of the file and of a chunk, and the numbers of seeks and of seeking processes.
fn of_bonnie(options: &BonnieOptions) -> [String; 4] {
    [
        scaled(options.size_bytes, &["", "k", "M", "G", "T"]),
        scaled(options.chunk_bytes, &["", "k", "m"]),
        options.seeks.to_string(),
        options.seekers.to_string(),
    ]
}

/// The number of files in units of 1024, their largest and smallest size, the number of directories
/// (empty if there is only one), and the size of a chunk.
fn of_metadata(options: &BonnieMetadataOptions) -> [String; 5] {
    let files = f64::from(options.directories) * f64::from(options.files_per_directory);
    let directories = options.directories;
    let directories = if directories > 1 { directories.to_string() } else { String::new() };
    let none = String::new;
    [(files / FILES_UNIT).to_string(), none(), none(), directories, none()]
}

/// A number in the largest unit of which it is a multiple.
fn scaled(bytes: u64, units: &[&str]) -> String {
    let (mut number, mut unit) = (bytes, 0);
    while number > 0 && number.is_multiple_of(1024) && unit + 1 < units.len() {
        (number, unit) = (number / 1024, unit + 1);
    }
    format!("{number}{}", units[unit])
}

/// A rate and a share, both as integers, as Bonnie++ prints them.
fn texts(figure: PhaseFigure) -> [String; 2] {
    match figure {
        PhaseFigure::Measured { per_s, processor_percent } => {
            [per_s.trunc().to_string(), processor_percent.trunc().to_string()]
        }
        PhaseFigure::TooShort { .. } => ["+++++".to_owned(), "+++".to_owned()],
        PhaseFigure::Absent => [String::new(), String::new()],
    }
}

/// A label without characters that would end a field, since the format has no quoting.
fn name(label: &str) -> String {
    plain_text(label).replace([',', '"'], "_")
}
