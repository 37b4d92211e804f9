//! Families of samples, and how they are written: names, units, labels and their escapes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The prefix of each family's name.
const PREFIX: &str = "fsprism_";

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FamilyType {
    Gauge,
    Histogram,
}

/// All samples of one name, which the format requires to be together.
#[derive(Debug)]
struct Family {
    kind: FamilyType,
    unit: String,
    help: String,
    samples: String,
}

/// The families of a document, by name.
#[derive(Debug, Default)]
pub(super) struct Families(BTreeMap<String, Family>);

/// Pairs of names and escaped values, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(String);

impl Labels {
    /// Adds one label.
    pub(super) fn with(&self, name: &str, value: &str) -> Self {
        let comma = if self.0.is_empty() { "" } else { "," };
        Self(format!("{}{comma}{name}=\"{}\"", self.0, escaped(value)))
    }
}

impl Families {
    /// Makes sure that a family exists, and returns its full name. `base` must not end in the unit.
    pub(super) fn open(&mut self, base: &str, unit: &str, kind: FamilyType, help: &str) -> String {
        let underscore = if unit.is_empty() { "" } else { "_" };
        let name = format!("{PREFIX}{base}{underscore}{unit}");
        let (unit, help) = (unit.to_owned(), help.to_owned());
        let new = Family { kind, unit, help, samples: String::new() };
        self.0.entry(name.clone()).or_insert(new);
        name
    }

    /// Adds a sample to the family called `name`.
    pub(super) fn sample(&mut self, name: &str, suffix: &str, labels: &Labels, value: f64) {
        let family = self.0.get_mut(name).expect("it was opened");
        writeln!(family.samples, "{name}{suffix}{{{}}} {value}", labels.0)
            .expect("writing to a string cannot fail");
    }

    /// The text of the exposition.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.0 {
            let kind = match family.kind {
                FamilyType::Gauge => "gauge",
                FamilyType::Histogram => "histogram",
            };
            writeln!(text, "# TYPE {name} {kind}").expect("writing to a string cannot fail");
            if !family.unit.is_empty() {
                writeln!(text, "# UNIT {name} {}", family.unit)
                    .expect("writing to a string cannot fail");
            }
            writeln!(text, "# HELP {name} {}", family.help)
                .expect("writing to a string cannot fail");
            text.push_str(&family.samples);
        }
        text.push_str("# EOF\n");
        text
    }
}

/// The base unit for one of our units, in words that a name may contain, and the factor to it.
pub(super) fn in_base_unit(unit: &str) -> (&'static str, f64) {
    match unit {
        "ns" => ("seconds", 1e-9),
        "bytes" => ("bytes", 1.0),
        "bytes/s" => ("bytes_per_second", 1.0),
        "operations/s" => ("operations_per_second", 1.0),
        "%" => ("ratio", 0.01),
        "x" => ("ratio", 1.0),
        _ => ("", 1.0),
    }
}

/// A metric's name as part of a family's: characters that a name may not contain become
/// underscores, and a unit at its end is removed, because it is appended anyway.
pub(super) fn base_name(metric: &str, unit: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = metric.chars().map(plain).collect();
    let cut = name.strip_suffix(unit).and_then(|name| name.strip_suffix('_'));
    cut.filter(|_| !unit.is_empty()).map(str::to_owned).unwrap_or(name)
}

/// A label's value with backslashes, quotes and line feeds escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
