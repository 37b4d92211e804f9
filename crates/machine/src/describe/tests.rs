//! Tests of whole descriptions: this machine, an empty one, and one full of nonsense.

use std::fs;
use std::process::Command;

use super::fixture::Fixture;
use super::*;

#[test]
fn this_machine_is_described() {
    let machine = describe();
    assert!(machine.kernel.is_at_least(3, 0).unwrap());
    assert!(!machine.processor.online.is_empty());
    assert!(machine.processor.allowed.iter().all(|cpu| machine.processor.online.contains(cpu)));
    assert!(machine.memory.total_bytes.unwrap() > machine.memory.page_bytes.unwrap());
    assert!(machine.boot_time_unix_s.unwrap() > 0);
    assert!(machine.kernel_file_systems.iter().any(|name| name == "proc"));
    for permission in [&machine.permissions.mount, &machine.permissions.drop_caches] {
        assert!(permission.is_granted() || !machine.permissions.root, "{machine:?}");
    }
}

#[test]
fn the_hosts_name_is_nowhere_in_the_description() {
    let machine = Fixture::new(&[
        ("etc/hostname", "my-own-host\n"),
        ("proc/sys/kernel/hostname", "my-own-host\n"),
        ("proc/cmdline", "root=/dev/sda ip=::::my-own-host::dhcp mitigations=off\n"),
        ("etc/os-release", "ID=debian\nHOME_URL=https://my-own-host/\n"),
    ]);
    let found = describe_sources(&machine.sources());
    assert_eq!(found.kernel.command_line, ["mitigations=off"]);
    assert!(!format!("{found:?}").contains("my-own-host"), "{found:?}");
}

#[test]
fn a_machine_without_files_is_described_by_nothing() {
    let found = describe_sources(&Fixture::new(&[]).sources());
    assert_eq!(found.processor, record::machine::Processor::default());
    assert_eq!(found.memory, record::machine::Memory::default());
    assert_eq!((found.cgroup, found.hypervisor, found.unread.len()), (None, None, 0));
}

#[test]
fn nonsense_in_every_file_is_noted_and_never_panics() {
    let copied = [
        "proc/cpuinfo",
        "proc/meminfo",
        "proc/stat",
        "proc/cmdline",
        "proc/filesystems",
        "proc/self/cgroup",
        "proc/self/mountinfo",
        "proc/self/status",
        "etc/os-release",
        "proc/sys/kernel/osrelease",
        "proc/sys/kernel/io_uring_disabled",
        "proc/sys/vm/dirty_ratio",
        "sys/devices/system/cpu/online",
        "sys/devices/system/node/online",
        "sys/devices/system/cpu/cpu0/cache/index0/level",
        "sys/devices/system/cpu/cpu0/cache/index0/size",
        "sys/devices/system/cpu/cpu0/cache/index0/type",
        "sys/kernel/mm/transparent_hugepage/enabled",
    ];
    for nonsense in ["\u{0}", "-", ":", "=", "0-", "9".repeat(40).as_str(), "é[", "a\nb:c=d - e\n"]
    {
        let files: Vec<_> = copied.iter().map(|path| (*path, nonsense)).collect();
        let found = describe_sources(&Fixture::new(&files).sources());
        assert_eq!(found.dirty_limits.dirty_ratio_percent, None);
        assert!(found.unread.iter().any(|unread| unread.source.ends_with("dirty_ratio")));
    }
    // This machine's own files, truncated at every tenth byte.
    for path in ["proc/self/mountinfo", "proc/self/status", "proc/cpuinfo", "proc/self/cgroup"] {
        let text = fs::read(format!("/{path}")).unwrap();
        for end in (0..text.len().min(2000)).step_by(10) {
            let cut = String::from_utf8_lossy(&text[..end]).into_owned();
            let _ = describe_sources(&Fixture::new(&[(path, &cut)]).sources());
        }
    }
}

/// A loop device on this machine: its backing file, and the device that holds the file.
#[test]
fn a_loop_device_leads_to_its_file() {
    let image = std::env::temp_dir().join(format!("fsprism-loop-{}", std::process::id()));
    fs::File::create(&image).unwrap().set_len(1 << 20).unwrap();
    let attached = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
    let device = match attached {
        Ok(output) if output.status.success() => {
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }
        _ => {
            fs::remove_file(&image).unwrap();
            eprintln!("skipped: a_loop_device_leads_to_its_file: root, losetup, a loop device");
            return;
        }
    };
    let found = device_below(&device);
    let below = device_below(&image);
    let detached = Command::new("losetup").args(["--detach", &device]).status();
    fs::remove_file(&image).unwrap();
    assert!(detached.unwrap().success());
    let found = found.unwrap().expect("a device's own file names a device");
    assert_eq!(format!("/dev/{}", found.name), device);
    assert_eq!(found.size_bytes, Some(1 << 20));
    let backing = found.backing.expect("a file is attached");
    assert_eq!(backing.file, image.display().to_string());
    assert_eq!(backing.direct_io, Some(false));
    assert_eq!(backing.device, below.unwrap());
}
