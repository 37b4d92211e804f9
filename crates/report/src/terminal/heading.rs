//! What was compared, where, when, for how long and with which clock; and the targets.

use file_system::{BY_EXEC, given_label};
use record::machine::{BlockDevice, Machine};
use record::{Ageing, Axis, CellReport, Conditions, Document, TargetRecord};

use super::ranking::has_too_few_blocks;
use super::text::{Page, SENTENCE, Style};
use super::{footprint, names};
use crate::analysis::{BLOCKS_MIN, is_called_as_library};
use crate::units;
use textual::{list, plural, unbroken, widest};

/// Mount options that nearly every file system has and that carry no information.
const MOUNT_DEFAULTS: [&str; 3] = ["rw", "relatime", "seclabel"];
/// Mount options beyond this number of characters are left out.
const MOUNT_WIDTH_MAX: usize = 60;

/// The head of the report.
pub(super) fn render(page: &mut Page, document: &Document) {
    let labels: Vec<String> =
        document.targets.iter().map(|target| names::label(&target.label)).collect();
    page.heading(&format!("fsprism {} of {}", document.run.suite, list(&labels, "and")));
    page.sentence(&place(document));
    page.sentence(&extent(document));
    if let Some(text) = spending(document) {
        page.sentence(&text);
    }
    if let Some(text) = too_few(document) {
        page.paragraph(&text, SENTENCE, Style::Doubt);
    }
    if !footprint::is_counted(document) {
        page.sentence(&clock(document));
    }
    footprint::caches(document).iter().for_each(|text| page.sentence(text));
    page.heading("Targets");
    let width = widest(&labels);
    for (target, label) in document.targets.iter().zip(&labels) {
        page.entry(label, width, &description(target, label, document));
    }
    if document.targets.is_empty() {
        page.paragraph("none", SENTENCE, Style::Doubt);
    }
}

/// When and where the run measured.
pub(super) fn place(document: &Document) -> String {
    format!("{}{}.", moment(&document.run.started), machine(&document.machine))
}

/// Says that there are too few blocks for any certainty, if that is so.
pub(super) fn too_few(document: &Document) -> Option<String> {
    has_too_few_blocks(document).then(|| {
        format!("Too few blocks to compare targets or give intervals: {BLOCKS_MIN} are needed.")
    })
}

/// The clock, and what timing costs.
pub(super) fn clock(document: &Document) -> String {
    let clock = &document.clock;
    format!(
        "Clock: {} at {:.2} GHz, precision {:.0} ns; one reading takes {:.0} ns, the cheapest \
         system call {:.0} ns.",
        clock.source,
        clock.frequency_hz / 1e9,
        clock.precision_ns,
        clock.cost_ns,
        clock.system_call_ns
    )
}

/// `2026-11-20T08:23:05Z` as `2026-11-20 08:23 UTC`; anything else unchanged.
fn moment(started: &str) -> String {
    match (started.split_once('T'), started.ends_with('Z')) {
        (Some((date, time)), true) if time.len() > 5 && time.is_ascii() => {
            format!("{date} {} UTC", &time[..5])
        }
        _ => started.to_owned(),
    }
}

fn machine(machine: &Machine) -> String {
    let mut facts = Vec::new();
    let system = [
        machine.os_release.pretty_name.clone(),
        machine.kernel.release.as_ref().map(|release| unbroken(&format!("Linux {release}"))),
    ];
    facts.extend(system.into_iter().flatten());
    let processors = match machine.processor.allowed.len() {
        0 => machine.processor.threads.map(|threads| threads as usize),
        allowed => Some(allowed),
    };
    let model = machine.processor.model.as_ref();
    match (processors, model) {
        (Some(count), Some(model)) => {
            facts.push(format!("{} of {model}", plural(count, "processor")));
        }
        (Some(count), None) => facts.push(plural(count, "processor")),
        (None, model) => facts.extend(model.cloned()),
    }
    facts
        .extend(machine.memory.total_bytes.map(|size| format!("{} of memory", units::bytes(size))));
    facts.extend(machine.hypervisor.as_ref().map(|name| unbroken(&format!("hypervisor {name}"))));
    if facts.is_empty() { String::new() } else { format!(", on {}", facts.join(", ")) }
}

/// What the time was spent on, the largest parts first: `Of 120 s: 66 s timed, ...`.
pub(super) fn spending(document: &Document) -> Option<String> {
    let spending = document.spending?;
    let share = |seconds: f64| format!("{seconds:.0} s");
    let mut parts = [
        (spending.states_s, "making states"),
        (spending.targets_s, "making file systems"),
        (spending.proofs_s, "proving"),
        (spending.undoing_s, "undoing and writing back"),
        (spending.pilot_s, "pilot"),
        (spending.other_s, "other"),
    ];
    parts.sort_by(|left, right| right.0.total_cmp(&left.0));
    let parts = parts.iter().filter(|(seconds, _)| *seconds >= 0.5);
    let said = parts.map(|(seconds, what)| unbroken(&format!("{} {what}", share(*seconds))));
    let timed = unbroken(&format!("{} timed", share(spending.timed_s)));
    let said: Vec<String> = std::iter::once(timed).chain(said).collect();
    Some(format!("Of {}: {}.", share(spending.all_s), said.join(", ")))
}

/// How much was measured, in brief: `23 blocks in 90 s`, or `9 to 23 blocks` if the last blocks
/// contained only the benchmarks with the widest intervals.
pub(super) fn extent_in_short(document: &Document) -> String {
    let mut blocks: Vec<u32> = document.cells.iter().map(|cell| cell.replicates).collect();
    blocks.retain(|&count| count > 0);
    blocks.sort_unstable();
    let most = blocks.last().copied().unwrap_or(0);
    let usual = blocks.get(blocks.len() / 2).copied().unwrap_or(0);
    let some = if usual < most { format!("{usual} to ") } else { String::new() };
    let blocks = format!("{some}{}", plural(most as usize, "block"));
    document.end.as_ref().map_or_else(
        || format!("{blocks}, cut off"),
        |end| format!("{blocks} in {}", units::seconds(end.used_s)),
    )
}

/// How much was measured.
pub(super) fn extent(document: &Document) -> String {
    if footprint::is_counted(document) {
        return footprint::extent(document);
    }
    let run = &document.run;
    let most = |of: fn(&CellReport) -> u32| document.cells.iter().map(of).max().unwrap_or(0);
    let blocks = if document.searches.is_empty() {
        plural(most(|cell| cell.replicates) as usize, "block")
    } else {
        let probes: u32 = document.cells.iter().map(|cell| cell.replicates).sum();
        plural(probes as usize, "probe")
    };
    let operations: u64 = document.cells.iter().map(|cell| cell.operations).sum();
    let used = match &document.end {
        Some(end) => format!(
            "{} of measuring (budget {})",
            units::seconds(end.used_s),
            units::seconds(run.budget_s)
        ),
        None => format!("cut off (budget {})", units::seconds(run.budget_s)),
    };
    let cells = plural(document.cells.len(), "cell");
    let timed = units::figure("count", operations as f64, None, units::Wording::Short).value;
    format!(
        "{cells} in {blocks}: {timed} operations, {used}, {}.",
        unbroken(&format!("seed {}", run.seed))
    )
}

/// What a target is.
pub(super) fn description(target: &TargetRecord, label: &str, document: &Document) -> String {
    let mut facts = Vec::new();
    if target.file_system != given_label(label) {
        facts.push(target.file_system.clone());
    }
    facts.push(size(target, document));
    facts.extend(target.mkfs.as_ref().map(|mkfs| made_by(mkfs, target.mkfs_version.as_deref())));
    if is_called_as_library(target) {
        let how = match label.ends_with(BY_EXEC) {
            true => "programs as they are, by fsprism densefs exec",
            false => "calls of its library",
        };
        facts.push(format!("in shared memory, reached by {how}"));
    }
    let options = mount_options(&target.mount_options);
    if !options.is_empty() {
        facts.push(format!("mounted {options}"));
    }
    facts.extend(device(target, &document.machine));
    facts.extend(limits(&target.conditions));
    facts.extend(target.filled_percent.map(|percent| format!("filled to {percent} %")));
    facts.extend(target.aged.as_ref().map(aged));
    facts.join("; ")
}

/// The size of a target; if it was remade in several sizes, from the smallest to the largest.
fn size(target: &TargetRecord, document: &Document) -> String {
    let of_volumes = document.searches.iter().map(|search| &search.plan);
    let mut of_volumes = of_volumes.filter(|plan| plan.axis == Axis::VolumeSize);
    match of_volumes.find(|plan| plan.target == target.label) {
        Some(plan) => {
            let size = |bytes: f64| textual::size(bytes, 3);
            format!("volumes of {} to {}, each made anew", size(plan.low), size(plan.high))
        }
        None => units::bytes(target.size_bytes),
    }
}

/// The command without its directory, the device and options that only keep it quiet.
fn made_by(mkfs: &str, version: Option<&str>) -> String {
    let mut words = mkfs.split_whitespace();
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let rest = words.filter(|word| !word.starts_with('/') && !["-q", "-F", "-f"].contains(word));
    let command: Vec<&str> = std::iter::once(program).chain(rest).collect();
    let version = version.map(|version| format!(" ({})", number(version))).unwrap_or_default();
    format!("{}{version}", command.join(" "))
}

/// The number in what a program reports as its version, such as `mke2fs 1.47.0 (5-Feb-2023)`.
fn number(version: &str) -> &str {
    let is_number =
        |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    version.split_whitespace().find(is_number).unwrap_or(version)
}

fn mount_options(options: &str) -> String {
    let told = options.split(',').filter(|option| !MOUNT_DEFAULTS.contains(option));
    let mut text = String::new();
    for option in told.filter(|option| !option.is_empty()) {
        if text.len() + option.len() > MOUNT_WIDTH_MAX {
            return format!("{text},...");
        }
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(option);
    }
    text
}

fn device(target: &TargetRecord, machine: &Machine) -> Option<String> {
    let device = target.device.as_ref()?;
    let through = match target.loop_direct_io {
        Some(true) => " with direct I/O",
        Some(false) => " through the page cache",
        None => "",
    };
    let below = device.backing.as_ref().and_then(|backing| backing.device.as_ref());
    let text = match (&device.backing, below) {
        (Some(_), Some(below)) => format!("loop device{through} on {}", disk(below, machine)),
        (Some(_), None) => format!("loop device{through}"),
        (None, _) => format!("on {}", disk(device, machine)),
    };
    Some(text)
}

fn disk(device: &BlockDevice, machine: &Machine) -> String {
    let mut facts: Vec<String> = device.model.iter().cloned().collect();
    facts.extend(names::rotation(device, machine).map(str::to_owned));
    if facts.is_empty() {
        device.name.clone()
    } else {
        format!("{} ({})", device.name, facts.join(", "))
    }
}

fn limits(conditions: &Conditions) -> Vec<String> {
    let size = |what: &str, value: Option<u64>, per: &str| {
        value.map(|value| format!("{what} limited to {}{per}", units::bytes(value)))
    };
    let rate = |what: &str, value: Option<u64>| {
        value.map(|value| format!("{what} limited to {value} operations/s"))
    };
    let time = |ns: u64| units::figure("ns", ns as f64, None, units::Wording::Full).value;
    [
        size("memory", conditions.memory_bytes, ""),
        size("reads", conditions.read_bps, "/s"),
        size("writes", conditions.write_bps, "/s"),
        rate("reads", conditions.read_iops),
        rate("writes", conditions.write_iops),
        size("read-ahead", conditions.read_ahead_bytes, ""),
        conditions.delay_ns.map(|ns| format!("each device request takes {}", time(ns))),
        size("the device's own cache", conditions.delay_cache_bytes, ""),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn aged(ageing: &Ageing) -> String {
    let Ageing { rounds, fill_percent, left_percent, .. } = *ageing;
    let rounds = plural(rounds as usize, "round");
    format!("aged by {rounds} at {fill_percent} % full, left {left_percent} % full")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn blocks_of_what_was_widest_are_told_apart() {
        let of = |blocks: [usize; 3]| {
            let names = ["create", "stat", "unlink"].into_iter().zip(blocks);
            let sample = names.fold(Sample::new(&["ext4"]), |sample, (name, count)| {
                sample.benchmark(name, &[&vec![1000.0; count]])
            });
            extent_in_short(&sample.document())
        };
        assert!(of([9, 6, 6]).starts_with("6 to 9 blocks"), "{}", of([9, 6, 6]));
        assert!(of([6, 6, 5]).starts_with("6 blocks"), "{}", of([6, 6, 5]));
    }

    #[test]
    fn ageing_is_told_with_what_it_left() {
        assert_eq!(aged(&Ageing::new(1, 90)), "aged by 1 round at 90 % full, left 50 % full");
        assert_eq!(aged(&Ageing::new(5, 40)), "aged by 5 rounds at 40 % full, left 40 % full");
    }

    #[test]
    fn mkfs_is_shortened_to_what_matters() {
        let long = "/usr/sbin/mkfs.ext4 -q -F -O ^has_journal /var/tmp/image";
        let version = Some("mke2fs 1.47.0 (5-Feb-2023)");
        assert_eq!(made_by(long, version), "mkfs.ext4 -O ^has_journal (1.47.0)");
        assert_eq!(number("mkfs.btrfs, part of btrfs-progs v6.2"), "v6.2");
        assert_eq!(number("unknown"), "unknown");
    }

    #[test]
    fn mount_options_leave_out_what_is_usual() {
        assert_eq!(mount_options("rw,relatime"), "");
        assert_eq!(mount_options("rw,noatime,discard"), "noatime,discard");
        let long = (0..20).map(|n| format!("option{n}")).collect::<Vec<_>>().join(",");
        assert!(mount_options(&long).ends_with("option6,..."), "{}", mount_options(&long));
    }

    #[test]
    fn moments_are_written_for_people() {
        assert_eq!(moment("2026-11-20T08:23:05Z"), "2026-11-20 08:23 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
    }
}
