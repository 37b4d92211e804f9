//! Whether outputs are the same.

use std::fmt;

use job_results::{JsonDetail, Report, write_json, write_normal, write_terse};

use crate::cases::Case;
use crate::outputs::Outputs;

/// How much was compared.
#[derive(Default)]
pub(crate) struct Same {
    json_lines: usize,
    lines: usize,
    /// Lines with numbers that differ in the last place.
    nearly: usize,
}

impl fmt::Display for Same {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { json_lines, lines, nearly } = self;
        write!(out, "{json_lines} lines of JSON, {lines} others, {nearly} differ in a last place")
    }
}

/// Compares what the report prints with these outputs.
pub(crate) fn compare(case: &Case, outputs: &Outputs, report: &Report) -> Same {
    let name = case.name;
    let mut same = Same::default();
    let json = printed(|text| write_json(report, JsonDetail::Bins, text));
    let terse = printed(|text| write_terse(report, case.terse, text));
    let normal = printed(|text| write_normal(report, text));
    same.json_lines = json.lines().count();
    let formats = "normal,json+,terse".parse().unwrap();
    let all = printed(|text| job_results::write(report, formats, case.terse, text));
    assert_eq!(all, [&*terse, &json, &normal].concat());
    for (format, ours, theirs) in [
        ("json+", json, &outputs.json),
        ("terse", terse, &outputs.terse),
        ("normal", normal, &outputs.normal),
    ] {
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            same.lines += 1;
            let (ours, theirs) = (without_time(ours), without_time(theirs));
            if ours != theirs {
                assert!(is_near(ours, theirs), "{name}: {format}:\n{ours}\nfio:\n{theirs}");
                same.nearly += 1;
            }
        }
        assert_eq!(ours.lines().count(), theirs.lines().count(), "{name}: {format}:\n{ours}");
        assert_eq!(ours.ends_with('\n'), theirs.ends_with('\n'), "{name}: {format}");
    }
    same.lines -= same.json_lines;
    same
}

fn printed(print: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    print(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// A line, if it is a job's heading without its time: a second may begin between two outputs.
fn without_time(line: &str) -> &str {
    const TIME: usize = "Tue Dec  1 03:57:03 2026".len();
    if line.contains(": (groupid=") { &line[..line.len() - TIME] } else { line }
}

/// Whether lines differ only in the last places of numbers with decimals.
fn is_near(ours: &str, theirs: &str) -> bool {
    let parts = |line: &str| -> Vec<String> {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let mut parts = vec![String::new()];
        let mut was_number = false;
        for letter in line.chars() {
            if is_number(letter) != was_number {
                parts.push(String::new());
                was_number = !was_number;
            }
            parts.last_mut().unwrap().push(letter);
        }
        parts
    };
    let is_near = |(ours, theirs): (&String, &String)| {
        let decimals = |number: &str| number.split_once('.').map(|(_, places)| places.len());
        let (Ok(our), Ok(their)) = (ours.parse::<f64>(), theirs.parse::<f64>()) else {
            return ours == theirs;
        };
        match decimals(theirs).and_then(|places| i32::try_from(places).ok()) {
            Some(places) => (our - their).abs() < 1.01 * 10_f64.powi(-places),
            None => ours == theirs,
        }
    };
    let (ours, theirs) = (parts(ours), parts(theirs));
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(is_near)
}
