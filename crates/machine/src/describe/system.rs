//! The distribution, the kernel and its settings, and the hypervisor.

use std::collections::BTreeMap;

use record::machine::{ClockSource, DirtyLimits, Kernel, OsRelease};

use super::parse::field;
use super::sources::Reader;

/// The kernel parameters that are recorded. Others are left out because they can contain names and
/// secrets.
const PARAMETERS: [&str; 4] = ["mitigations", "isolcpus", "nohz_full", "transparent_hugepage"];

pub(crate) fn os_release(reader: &Reader<'_>) -> OsRelease {
    let text = reader
        .text("/etc/os-release")
        .or_else(|| reader.text("/usr/lib/os-release"))
        .unwrap_or_default();
    OsRelease {
        id: shell_value(&text, "ID"),
        version_id: shell_value(&text, "VERSION_ID"),
        pretty_name: shell_value(&text, "PRETTY_NAME"),
    }
}

/// The value of an assignment in the shell subset of `os-release(5)`.
fn shell_value(text: &str, key: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))
        .map(|value| value.trim_matches(['"', '\'']).replace('\\', ""))?;
    Some(value).filter(|value| !value.is_empty())
}

pub(crate) fn kernel(reader: &Reader<'_>) -> Kernel {
    let command_line = reader.text("/proc/cmdline").unwrap_or_default();
    Kernel {
        release: reader.text("/proc/sys/kernel/osrelease"),
        version: reader.text("/proc/sys/kernel/version"),
        architecture: architecture(reader),
        command_line: kept_parameters(&command_line),
    }
}

fn architecture(reader: &Reader<'_>) -> Option<String> {
    // This file exists since Linux 6.1.
    reader.text("/proc/sys/kernel/arch").or_else(|| {
        let here = reader.sources().is_this_machine();
        here.then(|| rustix::system::uname().machine().to_string_lossy().into_owned())
    })
}

/// The parameters that are recorded. What follows `--` is for the init process, not the kernel.
fn kept_parameters(command_line: &str) -> Vec<String> {
    parameters(command_line)
        .into_iter()
        .take_while(|parameter| *parameter != "--")
        .filter(|parameter| {
            // The kernel treats `-` and `_` in parameter names alike.
            let name = parameter.split('=').next().unwrap_or_default().replace('-', "_");
            PARAMETERS.contains(&name.as_str())
        })
        .map(str::to_owned)
        .collect()
}

/// Splits at white space outside double quotes, as the kernel does.
fn parameters(command_line: &str) -> Vec<&str> {
    let mut quoted = false;
    command_line
        .split(|c: char| {
            quoted ^= c == '"';
            c.is_whitespace() && !quoted
        })
        .filter(|parameter| !parameter.is_empty())
        .collect()
}

pub(crate) fn clock_source(reader: &Reader<'_>) -> ClockSource {
    let directory = "/sys/devices/system/clocksource/clocksource0";
    let available = reader.text(format!("{directory}/available_clocksource")).unwrap_or_default();
    ClockSource {
        current: reader.text(format!("{directory}/current_clocksource")),
        available: available.split_whitespace().map(str::to_owned).collect(),
    }
}

pub(crate) fn mitigations(reader: &Reader<'_>) -> BTreeMap<String, String> {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    reader
        .names(directory)
        .into_iter()
        .filter_map(|name| {
            let text = reader.text(format!("{directory}/{name}"))?;
            Some((name, text))
        })
        .collect()
}

pub(crate) fn boot_time_unix_s(reader: &Reader<'_>) -> Option<u64> {
    reader.parsed("/proc/stat", |text| field(text, "btime")?.parse().ok())
}

pub(crate) fn dirty_limits(reader: &Reader<'_>) -> DirtyLimits {
    DirtyLimits {
        dirty_ratio_percent: reader.value("/proc/sys/vm/dirty_ratio"),
        dirty_bytes: reader.value("/proc/sys/vm/dirty_bytes"),
        dirty_background_ratio_percent: reader.value("/proc/sys/vm/dirty_background_ratio"),
        dirty_background_bytes: reader.value("/proc/sys/vm/dirty_background_bytes"),
        dirty_expire_centisecs: reader.value("/proc/sys/vm/dirty_expire_centisecs"),
        dirty_writeback_centisecs: reader.value("/proc/sys/vm/dirty_writeback_centisecs"),
    }
}

/// The hypervisor's name, from wherever it shows: `/sys/hypervisor`, the firmware's tables, the
/// device tree, and clock sources that exist only under one hypervisor.
pub(crate) fn hypervisor(reader: &Reader<'_>) -> Option<String> {
    if let Some(name) = reader.text("/sys/hypervisor/type") {
        return Some(name);
    }
    let processors = reader.text("/proc/cpuinfo").unwrap_or_default();
    let flag = field(&processors, "flags")
        .map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    // On x86 the flag decides: bare-metal cloud machines have the cloud's firmware name as well.
    if flag == Some(false) {
        return None;
    }
    firmware_hypervisor(reader)
        .or_else(|| device_tree_hypervisor(reader))
        .or_else(|| clock_hypervisor(reader))
        .map(str::to_owned)
        .or_else(|| (flag == Some(true)).then(|| "unknown".to_owned()))
}

/// The hypervisor that the firmware's vendor and product names give away.
fn firmware_hypervisor(reader: &Reader<'_>) -> Option<&'static str> {
    const NAMES: [(&str, &str); 9] = [
        ("KVM", "kvm"),
        ("QEMU", "qemu"),
        ("Amazon EC2", "amazon ec2"),
        ("Google Compute Engine", "google compute engine"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Virtual Machine", "hyper-v"),
        ("OpenStack", "openstack"),
    ];
    let read = |name| reader.text(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let (vendor, product) = (read("sys_vendor"), read("product_name"));
    if product.ends_with(".metal") {
        return None;
    }
    NAMES
        .iter()
        .find(|(mark, _)| product.contains(mark) || vendor.contains(mark))
        .map(|&(_, name)| name)
}

fn device_tree_hypervisor(reader: &Reader<'_>) -> Option<&'static str> {
    let compatible = reader.text("/proc/device-tree/hypervisor/compatible")?;
    ["kvm", "xen", "vmware"].into_iter().find(|name| compatible.contains(name))
}

fn clock_hypervisor(reader: &Reader<'_>) -> Option<&'static str> {
    let available = clock_source(reader).available;
    [("kvm-clock", "kvm"), ("hyperv_clocksource", "hyper-v"), ("xen", "xen")]
        .into_iter()
        .find(|(prefix, _)| available.iter().any(|clock| clock.starts_with(prefix)))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    fn hypervisor_of(files: &[(&str, &str)]) -> Option<String> {
        let machine = Fixture::new(files);
        hypervisor(&Reader::new(&machine.sources()))
    }

    #[test]
    fn only_parameters_that_matter_are_kept() {
        let kept = kept_parameters(
            "root=UUID=secret nohz-full=1-3 dyndbg=\"file a.c +p mitigations=off\" \
             isolcpus=1-3 quiet -- mitigations=auto token=x",
        );
        assert_eq!(kept, ["nohz-full=1-3", "isolcpus=1-3"]);
    }

    #[test]
    fn the_distribution_is_unquoted() {
        let machine = Fixture::new(&[(
            "usr/lib/os-release",
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID='12'\nID=debian\n",
        )]);
        let os = os_release(&Reader::new(&machine.sources()));
        assert_eq!(os.id.as_deref(), Some("debian"));
        assert_eq!(os.version_id.as_deref(), Some("12"));
        assert_eq!(os.pretty_name.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    }

    #[test]
    fn the_kernel_and_its_settings_are_read() {
        let machine = Fixture::new(&[
            ("proc/sys/kernel/osrelease", "6.10.3-amd64\n"),
            ("proc/sys/kernel/version", "#1 SMP\n"),
            ("proc/sys/kernel/arch", "aarch64\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("proc/sys/vm/dirty_expire_centisecs", "3000\n"),
            ("proc/sys/vm/dirty_background_bytes", "lots\n"),
            ("proc/stat", "cpu  1 2\nbtime 1700000000\n"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet \n"),
        ]);
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        let kernel = kernel(&reader);
        assert_eq!(kernel.architecture.as_deref(), Some("aarch64"));
        assert_eq!(kernel.is_at_least(6, 5), Some(true));
        assert_eq!(kernel.is_at_least(6, 11), Some(false));
        let dirty = dirty_limits(&reader);
        assert_eq!(dirty.dirty_ratio_percent, Some(20));
        assert_eq!(dirty.dirty_expire_centisecs, Some(3000));
        assert_eq!(dirty.dirty_background_bytes, None);
        assert_eq!(boot_time_unix_s(&reader), Some(1_700_000_000));
        assert_eq!(mitigations(&reader)["meltdown"], "Mitigation: PTI");
        assert_eq!(clock_source(&reader).available, ["tsc", "hpet"]);
        assert_eq!(reader.into_unread().len(), 1);
    }

    #[test]
    fn a_hypervisor_is_named_by_what_names_it() {
        let virtual_flags = ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse\n");
        let metal_flags = ("proc/cpuinfo", "flags\t\t: fpu sse\n");
        let ec2 = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
        assert_eq!(hypervisor_of(&[virtual_flags]).as_deref(), Some("unknown"));
        assert_eq!(hypervisor_of(&[virtual_flags, ec2]).as_deref(), Some("amazon ec2"));
        assert_eq!(hypervisor_of(&[metal_flags, ec2]), None);
        let kvm = hypervisor_of(&[virtual_flags, (clocks, "kvm-clock tsc\n")]);
        assert_eq!(kvm.as_deref(), Some("kvm"));
        let xen = hypervisor_of(&[("sys/hypervisor/type", "xen\n")]);
        assert_eq!(xen.as_deref(), Some("xen"));
        let arm = ("proc/cpuinfo", "CPU implementer : 0x41\n");
        assert_eq!(hypervisor_of(&[arm, ec2]).as_deref(), Some("amazon ec2"));
        let metal = ("sys/class/dmi/id/product_name", "m7g.metal\n");
        assert_eq!(hypervisor_of(&[arm, ec2, metal]), None);
        assert_eq!(hypervisor_of(&[]), None);
    }
}
