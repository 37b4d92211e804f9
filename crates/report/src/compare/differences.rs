//! How two runs differ besides what is compared, and which cells did not measure the same thing: a
//! figure is only valid for the machine, the options and the work that it was measured with.

use std::collections::BTreeSet;

use record::machine::{BlockDevice, WriteCache};
use record::{Ageing, Cell, Manifest, TargetRecord};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use textual::plural;

use super::sides::{NamedRun, Series};
use crate::units::bytes;

/// A fact in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunDifference {
    /// The run that is compared with the first.
    pub run: String,
    /// What differs, such as `kernel` or `ext4: mount options`.
    pub what: String,
    /// Its value in the first run.
    pub first: String,
    /// Its value in this run.
    pub second: String,
}

/// A benchmark that two runs measured differently, so its figures are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unlike {
    /// The run that is compared with the first.
    pub run: String,
    /// The target.
    pub target: String,
    /// The benchmark's title.
    pub title: String,
    /// What differs, and how.
    pub why: String,
}

/// The facts in which each later run differs from the first.
pub(super) fn all(runs: &[NamedRun]) -> Vec<RunDifference> {
    let Some((first, later)) = runs.split_first() else { return Vec::new() };
    let of_run = |other: &NamedRun| {
        let both = between(&first.run.manifest, &other.run.manifest);
        let difference =
            |(what, first, second)| RunDifference { run: other.name.clone(), what, first, second };
        both.into_iter().map(difference).collect::<Vec<_>>()
    };
    later.iter().flat_map(of_run).collect()
}

/// The facts that both runs have and that differ, each with its values in the two. Counts taken in
/// guests depend on the guests' kernel and not on the machine.
fn between(a: &Manifest, b: &Manifest) -> Vec<(String, String, String)> {
    let of_both = |facts: fn(&Manifest) -> Vec<(&'static str, String)>| {
        let pairs = facts(a).into_iter().zip(facts(b));
        pairs.map(|((what, a), (_, b))| (what.to_owned(), a, b)).collect::<Vec<_>>()
    };
    let mut facts = of_both(of_tool);
    if a.run.guest_kernel.is_none() || b.run.guest_kernel.is_none() {
        facts.extend(of_both(of_machine));
    }
    for (one, other) in a
        .targets
        .iter()
        .filter_map(|one| Some((one, b.targets.iter().find(|other| other.label == one.label)?)))
    {
        let pairs = of_target(one).into_iter().zip(of_target(other));
        facts.extend(pairs.map(|((what, a), (_, b))| (format!("{}: {what}", one.label), a, b)));
    }
    facts.retain(|(_, a, b)| a != b);
    facts
}

fn or_unknown(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "unknown".to_owned())
}

fn size(bytes_of: Option<u64>) -> String {
    bytes_of.map_or_else(|| "none".to_owned(), bytes)
}

fn of_tool(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let run = &manifest.run;
    let load = run.offered_load.map(|load| format!("{} operations/s", load.rate_per_s));
    vec![
        ("fsprism", manifest.tool.version.clone()),
        ("guest kernel", or_unknown(&run.guest_kernel)),
        ("data files", bytes(run.data_file_bytes)),
        ("--rate", load.unwrap_or_else(|| "none".to_owned())),
        ("--verify", if run.verify { "on" } else { "off" }.to_owned()),
        ("--order", format!("{:?}", run.order).to_lowercase()),
    ]
}

fn of_machine(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let machine = &manifest.machine;
    let processor = &machine.processor;
    let cpus = processor.allowed.len();
    // The kernel reports a few pages more or less for the same memory from boot to boot.
    let memory_gib = machine.memory.total_bytes.map(|bytes| bytes as f64 / f64::from(1 << 30));
    let mitigations = machine.mitigations.iter().map(|(name, how)| format!("{name}: {how}"));
    vec![
        ("kernel", or_unknown(&machine.kernel.release)),
        ("processor", or_unknown(&processor.model)),
        ("usable processors", cpus.to_string()),
        ("governors", processor.governors.join(", ")),
        ("memory", memory_gib.map_or_else(|| "unknown".to_owned(), |gib| format!("{gib:.1} GiB"))),
        ("huge pages", or_unknown(&machine.memory.transparent_hugepage)),
        ("hypervisor", or_unknown(&machine.hypervisor)),
        ("mitigations", mitigations.collect::<Vec<_>>().join("; ")),
        ("clock", manifest.clock.source.clone()),
    ]
}

fn of_target(target: &TargetRecord) -> Vec<(&'static str, String)> {
    let limits = &target.conditions;
    let limit = |name: &str, value: Option<u64>| value.map(|value| format!("{name}={value}"));
    let limits = [
        limit("memory", limits.memory_bytes),
        limit("read_bps", limits.read_bps),
        limit("write_bps", limits.write_bps),
        limit("read_iops", limits.read_iops),
        limit("write_iops", limits.write_iops),
        limit("read_ahead", limits.read_ahead_bytes),
        limits.delay_ns.map(|ns| format!("delay={}us", ns / 1000)),
        limit("delay_cache", limits.delay_cache_bytes),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    vec![
        ("file system", target.file_system.clone()),
        ("size", bytes(target.size_bytes)),
        ("mkfs", or_unknown(&target.mkfs.as_deref().map(without_device))),
        ("mkfs version", or_unknown(&target.mkfs_version)),
        ("mount options", target.mount_options.clone()),
        ("read-ahead", size(target.read_ahead_bytes)),
        (
            "filled",
            target.filled_percent.map_or_else(|| "no".to_owned(), |full| format!("{full} %")),
        ),
        ("aged", target.aged.map_or_else(|| "no".to_owned(), |aged| ageing(&aged))),
        ("limits", or_none(limits.join(", "))),
        ("disk", disk(target.device.as_ref())),
        ("image", image(target).to_owned()),
    ]
}

fn ageing(of: &Ageing) -> String {
    let Ageing { rounds, peak_percent, fill_percent, round_percent, left_percent } = of;
    let rounds = plural(*rounds as usize, "round");
    format!(
        "{rounds}: {peak_percent} % full, then {fill_percent} %, of which {round_percent} % is \
         rewritten; {left_percent} % full at the end"
    )
}

/// The disk at the bottom, below a loop device and its image.
fn disk(device: Option<&BlockDevice>) -> String {
    let Some(device) = device else { return "none".to_owned() };
    if let Some(backing) = &device.backing {
        return disk(backing.device.as_ref());
    }
    let kind = device.rotational.map(|spins| if spins { "spinning" } else { "solid state" });
    let cache = device.write_cache.map(|cache| match cache {
        WriteCache::WriteBack => "write-back cache",
        WriteCache::WriteThrough => "write-through cache",
    });
    let scheduler = device.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}"));
    let facts = [kind.map(str::to_owned), cache.map(str::to_owned), scheduler];
    let name = device.model.as_ref().unwrap_or(&device.name).clone();
    std::iter::once(name).chain(facts.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

/// The image behind a loop device, and how the loop device writes to it.
fn image(target: &TargetRecord) -> &'static str {
    match (target.loop_direct_io, target.image_allocated) {
        (None, _) => "none",
        (Some(true), true) => "allocated",
        (Some(true), false) => "sparse",
        (Some(false), true) => "allocated, by way of the page cache",
        (Some(false), false) => "sparse, by way of the page cache",
    }
}

/// A command line of mkfs without the device, which is a different loop device each time.
fn without_device(command: &str) -> String {
    let words = command.split(' ').filter(|word| !word.starts_with("/dev/loop"));
    words.collect::<Vec<_>>().join(" ")
}

/// Why the two did not measure the same work; `None` if they did.
pub(super) fn unlike(first: &Series, second: &Series, runs: &[NamedRun]) -> Option<Unlike> {
    let (what, one, other) = difference(&first.cell, &second.cell)?;
    let (run, first_run) = (&runs[second.run].name, &runs[first.run].name);
    Some(Unlike {
        run: run.clone(),
        target: second.target.clone(),
        title: second.title.clone(),
        why: format!("{what} {one} in {first_run}, {other} in {run}"),
    })
}

/// The first difference between two cells, with its values in the two.
fn difference(a: &Cell, b: &Cell) -> Option<(String, String, String)> {
    let keys: BTreeSet<&String> = a.parameters.keys().chain(b.parameters.keys()).collect();
    let of_both = |key: &String| [a.parameters.get(key), b.parameters.get(key)];
    let differs = |key: &&String| of_both(key)[0] != of_both(key)[1];
    if let Some(key) = keys.into_iter().find(differs) {
        let [one, other] = of_both(key).map(|value| value_in_words(key, value));
        return Some((words(key), one, other));
    }
    if a.cache_state != b.cache_state {
        let [one, other] = [a, b].map(|cell| format!("{:?}", cell.cache_state).to_lowercase());
        return Some(("cache".to_owned(), one, other));
    }
    let operations = |cell: &Cell| {
        let least = cell.least.as_ref();
        least.map_or_else(
            || "as time allows".to_owned(),
            |least| {
                let before = usize::try_from(least.start_operations).unwrap_or(usize::MAX);
                let before = plural(before, "other");
                format!("{} after {before}", least.operations)
            },
        )
    };
    let [one, other] = [a, b].map(operations);
    (one != other).then(|| ("operations".to_owned(), one, other))
}

fn words(key: &str) -> String {
    key.trim_end_matches("_bytes").trim_end_matches("_count").replace('_', " ")
}

fn value_in_words(key: &str, value: Option<&Value>) -> String {
    match value {
        None => default_of(key).unwrap_or("not recorded").to_owned(),
        Some(value) => match value.as_u64().filter(|_| key.ends_with("_bytes")) {
            Some(size) => bytes(size),
            None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        },
    }
}

/// The value of a parameter in cells that omit it.
fn default_of(key: &str) -> Option<&'static str> {
    (key == "phase_order").then_some("bonnie")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_parameter_that_is_left_out_is_named_by_its_default() {
        let mut sample = Sample::new(&["a"]).benchmark("read", &[&[1.0]]);
        let published = sample.run.manifest.cells[0].clone();
        sample.change("read", |cell| {
            cell.parameters.insert("phase_order".to_owned(), "bonnie++".into());
        });
        let (what, one, other) = difference(&published, &sample.run.manifest.cells[0]).unwrap();
        assert_eq!([&*what, &*one, &*other], ["phase order", "bonnie", "bonnie++"]);
    }
}
