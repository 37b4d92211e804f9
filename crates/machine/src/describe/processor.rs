//! The processor: its names, topology and frequencies.

use std::collections::BTreeSet;

use record::machine::Processor;

use super::parse::{field, number_list};
use super::sources::Reader;

const CPU_DIRECTORY: &str = "/sys/devices/system/cpu";

/// The flags of `/proc/cpuinfo` that describe the time-stamp counter.
const TSC_FLAGS: [&str; 6] =
    ["constant_tsc", "nonstop_tsc", "rdtscp", "tsc", "tsc_known_freq", "tsc_reliable"];

/// Companies by ARM implementer code (Arm Architecture Reference Manual, `MIDR_EL1`).
const ARM_IMPLEMENTERS: [(&str, &str); 11] = [
    ("0x41", "ARM"),
    ("0x42", "Broadcom"),
    ("0x43", "Cavium"),
    ("0x46", "Fujitsu"),
    ("0x48", "HiSilicon"),
    ("0x4e", "NVIDIA"),
    ("0x51", "Qualcomm"),
    ("0x53", "Samsung"),
    ("0x61", "Apple"),
    ("0x6d", "Microsoft"),
    ("0xc0", "Ampere"),
];

pub(crate) fn processor(reader: &Reader<'_>) -> Processor {
    let text = reader.text("/proc/cpuinfo").unwrap_or_default();
    let online = online_cpus(reader, &text);
    Processor {
        vendor: vendor(&text),
        model: model(&text),
        sockets: distinct(reader, &online, &["physical_package_id"]),
        cores: distinct(reader, &online, &["core_cpus_list", "thread_siblings_list"]),
        threads: u32::try_from(online.len()).ok().filter(|&count| count > 0),
        allowed: allowed_cpus(reader),
        base_frequency_hz: base_frequency_hz(reader, &online),
        max_frequency_hz: greatest(reader, &online, "cpufreq/cpuinfo_max_freq", 1_000),
        governors: governors(reader, &online),
        tsc_flags: tsc_flags(&text),
        online,
    }
}

/// The CPUs that are online; where the list is missing, those of `/proc/cpuinfo`.
pub(crate) fn online_cpus(reader: &Reader<'_>, cpuinfo: &str) -> Vec<u32> {
    reader.parsed(format!("{CPU_DIRECTORY}/online"), number_list).unwrap_or_else(|| {
        let number = |line: &str| field(line, "processor")?.parse().ok();
        cpuinfo.lines().filter_map(number).collect()
    })
}

fn allowed_cpus(reader: &Reader<'_>) -> Vec<u32> {
    reader
        .parsed("/proc/self/status", |text| number_list(field(text, "Cpus_allowed_list")?))
        .unwrap_or_default()
}

fn vendor(cpuinfo: &str) -> Option<String> {
    if let Some(vendor) = field(cpuinfo, "vendor_id") {
        return Some(vendor.to_owned());
    }
    let code = field(cpuinfo, "CPU implementer")?;
    let name = ARM_IMPLEMENTERS.iter().find(|(known, _)| *known == code).map(|(_, name)| *name);
    Some(name.map_or_else(|| format!("implementer {code}"), str::to_owned))
}

/// The model name or, on ARM, the part number of each kind of core, in the order of the CPUs.
fn model(cpuinfo: &str) -> Option<String> {
    if let Some(model) = field(cpuinfo, "model name") {
        return Some(model.to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in cpuinfo.lines().filter_map(|line| field(line, "CPU part")) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| format!("part {}", parts.join(" + ")))
}

fn tsc_flags(cpuinfo: &str) -> Vec<String> {
    let flags: Vec<&str> = field(cpuinfo, "flags").unwrap_or_default().split_whitespace().collect();
    TSC_FLAGS.iter().filter(|flag| flags.contains(*flag)).map(|&flag| flag.to_owned()).collect()
}

/// The number of distinct contents of a file of `topology` among the CPUs. The first of `names`
/// that exists is read, since newer kernels have renamed some files.
fn distinct(reader: &Reader<'_>, cpus: &[u32], names: &[&str]) -> Option<u32> {
    let content = |cpu: &u32| {
        let directory = format!("{CPU_DIRECTORY}/cpu{cpu}/topology");
        names.iter().find_map(|name| reader.text(format!("{directory}/{name}")))
    };
    let contents: BTreeSet<String> = cpus.iter().filter_map(content).collect();
    u32::try_from(contents.len()).ok().filter(|&count| count > 0)
}

fn base_frequency_hz(reader: &Reader<'_>, cpus: &[u32]) -> Option<u64> {
    // Intel's driver reports kHz; the firmware's tables (CPPC) report MHz, or 0 for unknown.
    greatest(reader, cpus, "cpufreq/base_frequency", 1_000)
        .or_else(|| greatest(reader, cpus, "acpi_cppc/nominal_freq", 1_000_000))
}

/// The maximum over the CPUs, which can differ, of the value in a file, times `unit_hz`.
fn greatest(reader: &Reader<'_>, cpus: &[u32], file: &str, unit_hz: u64) -> Option<u64> {
    cpus.iter()
        .filter_map(|cpu| reader.value::<u64>(format!("{CPU_DIRECTORY}/cpu{cpu}/{file}")))
        .max()
        .filter(|&value| value > 0)
        .and_then(|value| value.checked_mul(unit_hz))
}

fn governors(reader: &Reader<'_>, cpus: &[u32]) -> Vec<String> {
    let governor =
        |cpu: &u32| reader.text(format!("{CPU_DIRECTORY}/cpu{cpu}/cpufreq/scaling_governor"));
    cpus.iter().filter_map(governor).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    /// Two sockets of two cores with two threads each, as Linux numbers them on Intel servers.
    fn intel_server() -> Fixture {
        let machine = Fixture::new(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 106\n\
                 model name\t: Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz\n\
                 flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc art\n",
            ),
            ("proc/self/status", "Name:\tx\nCpus_allowed:\tf0\nCpus_allowed_list:\t4-7\n"),
            ("sys/devices/system/cpu/online", "0-7\n"),
        ]);
        for cpu in 0..8 {
            let at = |file: &str| format!("sys/devices/system/cpu/cpu{cpu}/{file}");
            let siblings = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
            let governor = if cpu == 3 { "powersave" } else { "performance" };
            machine.add(&[
                (&at("topology/physical_package_id"), &format!("{}\n", cpu % 2)),
                (&at("topology/thread_siblings_list"), &siblings),
                (&at("cpufreq/base_frequency"), "2000000\n"),
                (&at("cpufreq/cpuinfo_max_freq"), if cpu == 5 { "3200000\n" } else { "3100000\n" }),
                (&at("cpufreq/scaling_governor"), governor),
            ]);
        }
        machine
    }

    #[test]
    fn an_intel_server_is_described() {
        let machine = intel_server();
        let processor = processor(&Reader::new(&machine.sources()));
        assert_eq!(processor.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(processor.model.as_deref(), Some("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"));
        assert_eq!((processor.sockets, processor.cores), (Some(2), Some(4)));
        assert_eq!(processor.threads, Some(8));
        assert_eq!(processor.online, (0..8).collect::<Vec<u32>>());
        assert_eq!(processor.allowed, [4, 5, 6, 7]);
        assert_eq!(processor.base_frequency_hz, Some(2_000_000_000));
        assert_eq!(processor.max_frequency_hz, Some(3_200_000_000));
        assert_eq!(processor.governors, ["performance", "powersave"]);
        assert_eq!(processor.tsc_flags, ["constant_tsc", "nonstop_tsc", "rdtscp", "tsc"]);
        assert!(processor.has_invariant_tsc());
    }

    #[test]
    fn an_arm_machine_without_frequency_control_is_described() {
        let core = |number: u32, part: &str| {
            format!(
                "processor\t: {number}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\
                 Features\t: fp asimd\n\n"
            )
        };
        let cpuinfo = core(0, "0xd05") + &core(1, "0xd05") + &core(2, "0xd0c");
        let machine = Fixture::new(&[("proc/cpuinfo", &cpuinfo)]);
        let processor = processor(&Reader::new(&machine.sources()));
        assert_eq!(processor.vendor.as_deref(), Some("ARM"));
        assert_eq!(processor.model.as_deref(), Some("part 0xd05 + 0xd0c"));
        assert_eq!(processor.online, [0, 1, 2]);
        assert_eq!(processor.threads, Some(3));
        assert_eq!((processor.sockets, processor.cores), (None, None));
        assert_eq!((processor.base_frequency_hz, processor.max_frequency_hz), (None, None));
        assert!(processor.governors.is_empty() && !processor.has_invariant_tsc());
    }

    #[test]
    fn malformed_files_give_no_facts() {
        let machine = intel_server();
        machine.add(&[
            ("sys/devices/system/cpu/online", "0-4000000000\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "18446744073709551615\n"),
            ("proc/cpuinfo", "processor : x\n: :\nflags\n\u{0}\n"),
            ("proc/self/status", "Cpus_allowed_list: 7-3\n"),
        ]);
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        let processor = processor(&reader);
        assert_eq!(processor, Processor::default());
        assert_eq!(reader.into_unread().len(), 2);
    }
}
