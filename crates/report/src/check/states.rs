//! Initial states that are not equal.
//!
//! Between targets: whatever the run records about their conditions is compared, since a difference
//! may explain what looks like a difference between file systems. Between phases: a write that
//! finds its file in memory overwrites, one that does not allocates, and the two are not the same
//! work. And between cells: unless their order is random, each one always inherits the state that
//! the same neighbour left.

use file_system::FileSystem;
use record::{Order, TargetRecord};

use super::cells::{CheckedCell, CheckedRun};
use super::{Detection, Evidence, Finding, pairs};
use textual::{list, percent, size};

/// Sizes of file systems count as equal if they differ by less than this share.
const SIZE_MARGIN: f64 = 0.05;
/// Shares of pages in memory count as equal if they differ by less than this.
const RESIDENT_MARGIN: f64 = 0.01;

/// A property by which targets are compared.
struct Property {
    name: &'static str,
    unit: &'static str,
    /// What it is, for people.
    title: &'static str,
    /// Its value; `None` if it does not apply to the target.
    of: fn(&TargetRecord) -> Option<f64>,
    avoid: &'static str,
}

/// Whether it was made on a device or on an image.
fn is_on_volume(target: &TargetRecord) -> bool {
    let known = FileSystem::named(&target.file_system);
    target.scratch && known.is_none_or(|known| !known.lives_in_memory())
}

const PROPERTIES: [Property; 13] = [
    Property {
        name: "size",
        unit: "bytes",
        title: "sizes of the file systems differ",
        // In memory, a file system's size is only a limit and does not affect its layout.
        of: |target| {
            (is_on_volume(target) && target.size_bytes > 0).then_some(target.size_bytes as f64)
        },
        avoid: "the same size= for all targets",
    },
    Property {
        name: "read_ahead",
        unit: "bytes",
        title: "read-ahead differs",
        of: |target| target.read_ahead_bytes.map(|bytes| bytes as f64),
        avoid: "the same read_ahead= for all targets",
    },
    Property {
        name: "memory_limit",
        unit: "bytes",
        title: "limits on memory differ",
        of: |target| Some(limit(target.conditions.memory_bytes)),
        avoid: "the same memory= for all targets",
    },
    Property {
        name: "read_limit",
        unit: "bytes/s",
        title: "limits on device reads differ",
        of: |target| on_device(target, target.conditions.read_bps),
        avoid: "the same read_bps= for all targets",
    },
    Property {
        name: "write_limit",
        unit: "bytes/s",
        title: "limits on device writes differ",
        of: |target| on_device(target, target.conditions.write_bps),
        avoid: "the same write_bps= for all targets",
    },
    Property {
        name: "read_operations_limit",
        unit: "operations/s",
        title: "limits on device reads differ",
        of: |target| on_device(target, target.conditions.read_iops),
        avoid: "the same read_iops= for all targets",
    },
    Property {
        name: "write_operations_limit",
        unit: "operations/s",
        title: "limits on device writes differ",
        of: |target| on_device(target, target.conditions.write_iops),
        avoid: "the same write_iops= for all targets",
    },
    Property {
        name: "delay",
        unit: "ns",
        title: "delays of device requests differ",
        of: |target| on_device(target, target.conditions.delay_ns),
        avoid: "the same delay= for all targets",
    },
    Property {
        name: "delay_cache",
        unit: "bytes",
        title: "sizes of the devices' caches differ",
        of: |target| on_device(target, target.conditions.delay_cache_bytes),
        avoid: "the same delay_cache= for all targets",
    },
    Property {
        name: "image_allocated",
        unit: "",
        title: "images are allocated beforehand (1) or not (0)",
        of: |target| target.loop_direct_io.map(|_| f64::from(u8::from(target.image_allocated))),
        avoid: "image=allocated for all targets",
    },
    Property {
        name: "loop_direct_io",
        unit: "",
        title: "loop devices bypass the cache of their image (1) or not (0)",
        of: |target| target.loop_direct_io.map(|is_direct| f64::from(u8::from(is_direct))),
        avoid: "a --scratch directory that has direct I/O",
    },
    Property {
        name: "filled",
        unit: "%",
        title: "shares of their space that were filled differ",
        of: |target| is_on_volume(target).then(|| f64::from(target.filled_percent.unwrap_or(0))),
        avoid: "the same filled= for all targets",
    },
    Property {
        name: "ageing_rounds",
        unit: "",
        title: "rounds of ageing differ",
        of: |target| {
            is_on_volume(target).then(|| target.aged.map_or(0.0, |aged| f64::from(aged.rounds)))
        },
        avoid: "the same --aged for all targets",
    },
];

/// A limit, as a number: no limit is infinite, and printed as 0.
fn limit(value: Option<u64>) -> f64 {
    value.map_or(0.0, |value| value as f64)
}

/// A limit, for targets that have a device.
fn on_device(target: &TargetRecord, value: Option<u64>) -> Option<f64> {
    target.device.is_some().then(|| limit(value))
}

pub(super) fn look(checked: &CheckedRun<'_>) -> Detection {
    let targets = &checked.manifest.targets;
    let mut findings: Vec<Finding> =
        PROPERTIES.iter().filter_map(|property| property.differs(targets)).collect();
    findings.extend(made_for_the_run(targets));
    findings.extend(residency_of_targets(checked));
    findings.extend(writes(checked));
    findings.extend(order(checked));
    Detection { findings, ..Detection::default() }
}

impl Property {
    fn differs(&self, targets: &[TargetRecord]) -> Option<Finding> {
        let values: Vec<(&TargetRecord, f64)> =
            targets.iter().filter_map(|target| Some((target, (self.of)(target)?))).collect();
        let least = values.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
        let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let margin = if self.name == "size" { SIZE_MARGIN } else { 0.0 };
        if values.len() < 2 || most <= least * (1.0 + margin) {
            return None;
        }
        let said = values
            .iter()
            .map(|(target, value)| format!("{} ({})", self.figure(*value), target.label));
        let message = format!("{}: {}", self.title, list(&said.collect::<Vec<_>>(), "and"));
        let evidence = values.iter().map(|(target, value)| Evidence {
            target: Some(target.label.clone()),
            benchmark: None,
            name: self.name.to_owned(),
            unit: self.unit.to_owned(),
            value: *value,
            interval: None,
        });
        Some(Finding {
            message,
            targets: values.iter().map(|(target, _)| target.label.clone()).collect(),
            benchmarks: Vec::new(),
            evidence: evidence.collect(),
            avoid: self.avoid.to_owned(),
        })
    }

    fn figure(&self, value: f64) -> String {
        match self.unit {
            "" => format!("{value}"),
            _ if value == 0.0 && self.name.ends_with("limit") => "none".to_owned(),
            "bytes" => size(value, 3),
            "bytes/s" => format!("{}/s", size(value, 3)),
            unit => format!("{value} {unit}"),
        }
    }
}

/// New targets that were made for the run, compared with directories that have a history.
fn made_for_the_run(targets: &[TargetRecord]) -> Option<Finding> {
    let labels = |scratch: bool| -> Vec<String> {
        let own = targets.iter().filter(|target| target.scratch == scratch);
        own.map(|target| target.label.clone()).collect()
    };
    let (new, old) = (labels(true), labels(false));
    if new.is_empty() || old.is_empty() {
        return None;
    }
    let is = if old.len() == 1 { "existed with its" } else { "existed with their" };
    Some(Finding {
        message: format!(
            "{} {is} history, {} made anew for each block",
            list(&old, "and"),
            if new.len() == 1 { format!("{} was", new[0]) } else { list(&new, "and") + " were" }
        ),
        targets: [old, new].concat(),
        benchmarks: Vec::new(),
        evidence: Vec::new(),
        avoid: "only scratch targets, or only directories".to_owned(),
    })
}

/// The benchmark in which the share of pages in memory beforehand differs most between targets.
fn residency_of_targets(checked: &CheckedRun<'_>) -> Option<Finding> {
    let share = |one: &CheckedCell<'_>| one.resident_share(checked.level());
    let of_benchmark = |one: &CheckedCell<'_>| {
        let alike = |other: &&CheckedCell<'_>| other.cell().benchmark == one.cell().benchmark;
        let all = checked.cells.iter().filter(alike);
        let all: Vec<_> = all.filter_map(|other| Some((other, share(other)?))).collect();
        let least = all.iter().map(|(_, share)| *share).fold(1.0, f64::min);
        let most = all.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let cells: Vec<_> = all.iter().map(|(other, _)| other.gathered.index).collect();
        (most - least > RESIDENT_MARGIN).then_some((most - least, cells))
    };
    let differing = checked.cells.iter().filter_map(of_benchmark);
    let (_, worst) = differing.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let is_it = |one: &&CheckedCell<'_>| worst.contains(&one.gathered.index);
    let cells: Vec<&CheckedCell<'_>> = checked.cells.iter().filter(is_it).collect();
    let evidence = resident(checked, &cells);
    let message =
        format!("{}: pages in memory before differ: {}", cells[0].cell().title, shares(&evidence));
    let avoid = checked.sprite_lfs("--pre-read");
    Some(Finding::in_cells(&cells, message, evidence, avoid))
}

/// Sequential and random writes, on all targets, where one allocates what the other overwrites.
fn writes(checked: &CheckedRun<'_>) -> Option<Finding> {
    let share = |one: &CheckedCell<'_>| one.resident_share(checked.level());
    let is_write = |one: &&CheckedCell<'_>| one.word("operation") == Some("write");
    let mut cells: Vec<&CheckedCell<'_>> = Vec::new();
    for one in checked.phases().filter(is_write) {
        let other = checked.phases().filter(is_write).find(|other| {
            other.is_random() != one.is_random()
                && other.is_alike(one, &pairs::ORDER)
                && !pairs::begin_alike(checked, [one, other])
        });
        cells.extend(other.map(|_| one));
    }
    let first = cells.first()?;
    let other = cells.iter().find(|one| one.is_random() != first.is_random())?;
    let evidence = resident(checked, &cells);
    let of = |is_random: bool| {
        let own = cells.iter().filter(|one| one.is_random() == is_random);
        own.filter_map(|one| share(one)).fold(0.0, f64::max)
    };
    let message = format!(
        "\"{}\" and \"{}\" do not begin alike: {} and {} of their pages are in memory, so one \
         allocates what the other overwrites",
        first.cell().title,
        other.cell().title,
        percent(of(first.is_random())),
        percent(of(other.is_random()))
    );
    Some(Finding::in_cells(&cells, message, evidence, checked.sprite_lfs("--pre-read")))
}

/// Cells that are in the same order in each block.
fn order(checked: &CheckedRun<'_>) -> Option<Finding> {
    let name = match checked.manifest.run.order {
        Order::Random => return None,
        Order::Declared => "declared",
        Order::Reversed => "reversed",
    };
    let targets = checked.manifest.targets.iter().map(|target| target.label.clone());
    Some(Finding {
        message: format!(
            "cells ran in {name} order, so each began with what the same neighbour left"
        ),
        targets: targets.collect(),
        benchmarks: Vec::new(),
        evidence: Vec::new(),
        avoid: "leave out --order".to_owned(),
    })
}

/// Shares of pages in memory beforehand, in percent.
fn resident(checked: &CheckedRun<'_>, cells: &[&CheckedCell<'_>]) -> Vec<Evidence> {
    let share = |one: &&CheckedCell<'_>| {
        let share = one.resident_share(checked.level())?;
        Some(one.evidence("resident_before", "%", 100.0 * share))
    };
    cells.iter().filter_map(share).collect()
}

fn shares(evidence: &[Evidence]) -> String {
    let one = |one: &Evidence| {
        format!("{} ({})", percent(one.value / 100.0), one.target.as_deref().unwrap_or_default())
    };
    list(&evidence.iter().map(one).collect::<Vec<_>>(), "and")
}

#[cfg(test)]
mod tests {
    use record::Line;

    use super::*;
    use crate::check::sample::{Phases, outcome, outcome_of};
    use crate::check::{Mistake, Outcome};
    use crate::sample::Sample;

    fn targets() -> Sample {
        Sample::new(&["ext4", "xfs"]).benchmark("read", &[&[10_000.0; 6], &[10_000.0; 6]])
    }

    /// What is found after one target is changed.
    fn messages(change: impl FnOnce(&mut TargetRecord)) -> Vec<String> {
        let mut sample = targets();
        for target in &mut sample.run.manifest.targets {
            target.scratch = true;
            target.loop_direct_io = Some(true);
            target.read_ahead_bytes = Some(128 << 10);
        }
        change(&mut sample.run.manifest.targets[1]);
        let check = outcome_of(&sample, Mistake::UnequalStates);
        check.findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn what_differs_between_targets_is_named_with_its_values() {
        assert_eq!(messages(|_| {}), [""; 0]);
        let read_ahead = messages(|target| target.read_ahead_bytes = Some(0));
        assert_eq!(read_ahead, ["read-ahead differs: 128 KiB (ext4) and 0 bytes (xfs)"]);
        let memory = messages(|target| target.conditions.memory_bytes = Some(64 << 20));
        assert_eq!(memory, ["limits on memory differ: none (ext4) and 64 MiB (xfs)"]);
        let size = messages(|target| target.size_bytes = 1 << 31);
        assert_eq!(size, ["sizes of the file systems differ: 1 GiB (ext4) and 2 GiB (xfs)"]);
        assert_eq!(messages(|target| target.size_bytes += 1000), [""; 0]);
        let filled = messages(|target| target.filled_percent = Some(50));
        assert_eq!(
            filled,
            ["shares of their space that were filled differ: 0 % (ext4) and 50 % (xfs)"]
        );
        let in_memory = |target: &mut TargetRecord| {
            target.file_system = "tmpfs".to_owned();
            target.size_bytes = 1 << 31;
        };
        assert!(messages(in_memory).iter().all(|message| !message.starts_with("sizes")));
        assert_eq!(messages(|target| target.image_allocated = true).len(), 1);
        let old = messages(|target| target.scratch = false);
        assert_eq!(old, ["xfs existed with its history, ext4 was made anew for each block"]);
    }

    #[test]
    fn other_pages_in_memory_are_found() {
        let of = |resident: [u64; 2]| {
            let mut sample = targets();
            for line in &mut sample.run.lines {
                if let Line::Replicate(replicate) = line {
                    replicate.evidence.pages = Some(100);
                    replicate.evidence.resident_before = Some(resident[replicate.cell as usize]);
                }
            }
            outcome_of(&sample, Mistake::UnequalStates)
        };
        let found = of([100, 20]);
        let words = "read: pages in memory before differ: 100 % (ext4) and 20 % (xfs)";
        assert_eq!(found.findings[0].message, words);
        assert_eq!(of([100, 100]).outcome, Outcome::Passed);
    }

    #[test]
    fn a_write_that_allocates_is_not_like_one_that_overwrites() {
        let found = outcome(&Phases::published(), Mistake::UnequalStates);
        let [finding] = found.findings.as_slice() else { panic!("{found:?}") };
        assert!(finding.message.contains(": 0 % and 100 % of their pages"), "{finding:?}");
        assert_eq!(finding.avoid, "--pre-read");
        let mut phases = Phases::published();
        phases.options.pre_read = true;
        phases.resident = [100; 5];
        assert_eq!(outcome(&phases, Mistake::UnequalStates).outcome, Outcome::Passed);
    }

    #[test]
    fn an_order_that_is_not_random_is_one() {
        let mut sample = targets();
        sample.run.manifest.run.order = Order::Declared;
        let found = outcome_of(&sample, Mistake::UnequalStates);
        assert_eq!(found.findings[0].avoid, "leave out --order");
    }
}
