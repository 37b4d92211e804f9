//! The break-even curve as text, from what a run has recorded.

use record::network::{Counted, left_out, values};
use record::{Cell, Line, Replicate, Run};
use serde_json::Value;
use stats::crossing::CrossingPosition;
use textual::{Columns, paragraph};

use super::BENCHMARK;
use super::course::Course;
use crate::metrics::{EMULATED_TIME, RPCS};
use crate::state::NetworkState;

/// The result for files of one size.
struct SizeResult {
    files: u64,
    file_bytes: u64,
    /// Calls to the server without a cache, and with a hot one.
    rpcs: [Vec<f64>; 2],
    place: CrossingPosition,
    pairs: usize,
}

/// The rates at which a cache breaks even, if the run searched for them.
#[must_use]
pub fn text(run: &Run, width: usize) -> Option<String> {
    let results = results(run);
    if results.is_empty() {
        return None;
    }
    let level = run.manifest.run.confidence_level;
    let interval = format!("{:.0} % interval", level * 100.0);
    let heads = ["files", "of", "RPCs: none", "hot", "break-even (emulated)", &interval, "pairs"];
    let mut columns = Columns::headed(heads);
    for result in &results {
        let (rate, interval) = match result.place {
            CrossingPosition::Between(low, high) => {
                let middle = (low * high).sqrt() / 1e6;
                let ends = format!("{:.1} to {:.1}", low / 1e6, high / 1e6);
                (format!("{middle:.1} Mbit/s"), ends)
            }
            CrossingPosition::Above(most) => {
                (format!("none up to {:.0} Mbit/s", most / 1e6), String::new())
            }
            CrossingPosition::From(low) => {
                (format!("above {:.1} Mbit/s", low / 1e6), String::new())
            }
            CrossingPosition::Below(least) => {
                (format!("none down to {:.0} Mbit/s", least / 1e6), String::new())
            }
            CrossingPosition::Unknown => ("not found".to_owned(), String::new()),
        };
        columns.row([
            result.files.to_string(),
            textual::size(result.file_bytes as f64, 0),
            shown(&result.rpcs[0]),
            shown(&result.rpcs[1]),
            rate,
            interval,
            result.pairs.to_string(),
        ]);
    }
    let mut text = "The link rate at which a hot cache takes as long as no cache\n".to_owned();
    text += &columns.render();
    text.push('\n');
    let mut say = |words: &str| text += &paragraph("", "", words, width);
    say("Below its break-even rate, a cache \
         pays: reading from it is quicker than over the link.");
    if let Some(rate) = asked_rate(run) {
        say(&at_rate(&results, rate));
    }
    say(calls(&results));
    say(
        "Read each rate as a lower bound of the rate up to which a cache pays on a real machine. A \
         cache costs processor time, and emulated processors are perhaps twenty times slower than \
         real ones; it saves link time, which is the same anywhere. So on a real machine the rate \
         is higher, by about as much as its processors are faster.",
    );
    say(&of_disk(run));
    for line in left_out(run) {
        text += &paragraph("- ", "  ", &line, width);
    }
    Some(text)
}

fn shown(rpcs: &[f64]) -> String {
    Counted::from_values(rpcs).map_or_else(String::new, |counted| counted.to_string())
}

fn parameter(cell: &Cell, name: &str) -> Option<u64> {
    cell.parameters.get(name).and_then(Value::as_u64)
}

fn asked_rate(run: &Run) -> Option<f64> {
    let rate = run.cells().iter().find_map(|cell| parameter(cell, "asked_rate_bits_per_s"));
    rate.map(|bits| bits as f64)
}

/// What the figures assume of the cache's disk.
fn of_disk(run: &Run) -> String {
    let speed = run.cells().iter().find_map(|cell| cell.parameters.get("cache_disk")?.as_str());
    match speed {
        Some(speed) => format!(
            "But the cache's disk does at most {speed} here, and takes as long on a real machine: \
             where most of a hot cache's time is the disk's, the rate there is about the same."
        ),
        None => {
            "This assumes a fast disk for the cache: here it is in this computer's memory, and \
                 these figures do not include the time that a real disk takes (--cache-disk \
                 iops=500,bps=20m makes it slower)."
                .to_owned()
        }
    }
}

/// All sizes, in the order in which they were measured.
fn results(run: &Run) -> Vec<SizeResult> {
    let cells = run.cells();
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.benchmark == BENCHMARK) {
        let size = (parameter(cell, "file_bytes"), parameter(cell, "files"));
        if let (Some(file_bytes), Some(files)) = size
            && !sizes.contains(&(file_bytes, files))
        {
            sizes.push((file_bytes, files));
        }
    }
    sizes
        .into_iter()
        .filter_map(|(file_bytes, files)| result(run, &cells, file_bytes, files))
        .collect()
}

fn result<'r>(run: &'r Run, cells: &[&'r Cell], file_bytes: u64, files: u64) -> Option<SizeResult> {
    let of_state = |state: NetworkState| -> Vec<(&'r Cell, &'r Replicate)> {
        let of = |line: &'r Line| {
            let Line::Replicate(one) = line else { return None };
            let cell = *cells.get(one.cell as usize)?;
            let is_state =
                cell.parameters.get("state").and_then(Value::as_str) == Some(state.name());
            let is_size = parameter(cell, "file_bytes") == Some(file_bytes);
            (is_state && is_size).then_some((cell, &**one))
        };
        run.lines.iter().filter_map(of).collect()
    };
    let states = [NetworkState::None, NetworkState::Hot].map(of_state);
    let all = |name: &str, number: usize| -> Vec<f64> {
        let each = states[number].iter().flat_map(|(cell, one)| values(cell, &[*one], name));
        each.collect()
    };
    let mut course = Course::new(run.manifest.run.confidence_level, files * file_bytes).ok()?;
    let times = [0, 1].map(|number| all(EMULATED_TIME, number));
    let pairs = times[0].iter().zip(&times[1]);
    for (none, hot) in pairs.clone() {
        course.tell(*none, *hot).ok()?;
    }
    let rpcs = [0, 1].map(|number| {
        let mut rpcs = all(RPCS, number);
        rpcs.sort_by(f64::total_cmp);
        rpcs
    });
    Some(SizeResult { files, file_bytes, rpcs, place: course.place(), pairs: pairs.count() })
}

/// Whether a cache pays at a rate, for one size, as far as known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtRate {
    Pays,
    DoesNot,
    Open,
}

impl AtRate {
    fn new(place: CrossingPosition, rate: f64) -> Self {
        match place {
            CrossingPosition::Between(low, _) | CrossingPosition::From(low) if rate <= low => {
                Self::Pays
            }
            CrossingPosition::Above(most) if rate <= most => Self::Pays,
            CrossingPosition::Between(_, high) if rate >= high => Self::DoesNot,
            CrossingPosition::Below(least) if rate >= least => Self::DoesNot,
            CrossingPosition::Between(..)
            | CrossingPosition::From(_)
            | CrossingPosition::Above(_)
            | CrossingPosition::Below(_)
            | CrossingPosition::Unknown => Self::Open,
        }
    }
}

/// A sentence that says for which sizes a cache pays at a rate.
fn at_rate(results: &[SizeResult], rate: f64) -> String {
    let sizes = |wanted: AtRate| {
        let sizes = results.iter().filter(|result| AtRate::new(result.place, rate) == wanted);
        let words: Vec<String> =
            sizes.map(|result| textual::size(result.file_bytes as f64, 0)).collect();
        (!words.is_empty()).then(|| textual::list(&words, "and"))
    };
    let pays = sizes(AtRate::Pays).map(|of| format!("it pays for files of {of}"));
    let does_not = sizes(AtRate::DoesNot)
        .map(|of| format!("with processors as slow as these, it does not for files of {of}"));
    let open = sizes(AtRate::Open).map(|of| format!("it is too close to tell for files of {of}"));
    let parts: Vec<String> = [pays, does_not, open].into_iter().flatten().collect();
    format!("At {} Mbit/s, {}.", rate / 1e6, parts.join("; "))
}

/// A sentence that says whether a cache breaks even in calls to the server.
fn calls(results: &[SizeResult]) -> &'static str {
    let most = |rpcs: &[f64]| rpcs.last().copied().unwrap_or(0.0);
    let least = |rpcs: &[f64]| rpcs.first().copied().unwrap_or(0.0);
    let saves = |result: &SizeResult| most(&result.rpcs[1]) < least(&result.rpcs[0]);
    let costs = |result: &SizeResult| least(&result.rpcs[1]) >= most(&result.rpcs[0]);
    if results.iter().all(saves) {
        "In calls to the server there is no break-even: a cache saves READs at every rate, for \
         every size."
    } else if results.iter().all(costs) {
        "In calls to the server, a cache never pays: a hot one needs as many as no cache at all."
    } else {
        "In calls to the server, a cache pays at every rate for sizes where a hot one needs fewer \
         calls than no cache."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(file_bytes: u64, place: CrossingPosition) -> SizeResult {
        SizeResult { files: 1, file_bytes, rpcs: [vec![9.0, 9.0], vec![2.0, 3.0]], place, pairs: 2 }
    }

    #[test]
    fn a_rate_is_compared_with_what_was_found() {
        let results = [
            result(16 << 10, CrossingPosition::Between(10e6, 12e6)),
            result(1 << 20, CrossingPosition::Above(1e9)),
            result(1 << 10, CrossingPosition::Below(1e6)),
        ];
        let said = at_rate(&results, 20e6);
        assert!(said.starts_with("At 20 Mbit/s, it pays for files of 1 MiB; "), "{said}");
        assert!(said.ends_with("does not for files of 16 KiB and 1 KiB."), "{said}");
        let between = at_rate(&results[..1], 11e6);
        assert_eq!(between, "At 11 Mbit/s, it is too close to tell for files of 16 KiB.");
    }

    #[test]
    fn calls_are_saved_or_not() {
        assert!(calls(&[result(1, CrossingPosition::Unknown)]).contains("no break-even"));
        let same =
            SizeResult { rpcs: [vec![9.0], vec![9.0]], ..result(1, CrossingPosition::Unknown) };
        assert!(calls(&[same]).contains("never pays"));
    }
}
