//! What is below a directory: its mount and its device.

use record::machine::{BlockDevice, Machine, Storage, WriteCache};

use super::super::names;
use super::{Fact, fact, known_facts};
use crate::units;

/// The facts of one directory's storage, from the mount down to the device.
pub(super) fn facts(storage: &Storage, machine: &Machine) -> Vec<Fact> {
    let mount = storage.mount.as_ref().map(|mount| {
        let options = mount.options.iter().chain(&mount.super_options);
        let mut seen = Vec::new();
        // Options of the mount and of its file system overlap.
        options.for_each(|option| {
            if !seen.contains(option) {
                seen.push(option.clone());
            }
        });
        format!("{} on {}, mounted {}", mount.file_system, mount.mount_point, seen.join(","))
    });
    let device = storage.device.as_ref();
    known_facts([
        fact("file system", mount),
        fact(
            "device",
            Some(device.map_or_else(|| "none".to_owned(), |device| name(device, machine))),
        ),
        fact("scheduler", device.and_then(|device| device.scheduler.clone())),
        fact("read-ahead", device.and_then(|device| device.read_ahead_bytes).map(units::bytes)),
        fact("write cache", device.and_then(|device| device.write_cache).map(write_cache)),
        fact("blocks", device.and_then(blocks)),
        fact("discard", device.and_then(|device| device.discard).map(yes_or_no)),
        fact(
            "backed by",
            device.and_then(|device| device.backing.as_ref()).map(|backing| {
                let direct = if backing.direct_io == Some(true) { " with direct I/O" } else { "" };
                format!("{}{direct}", backing.file)
            }),
        ),
    ])
}

fn name(device: &BlockDevice, machine: &Machine) -> String {
    let kind = names::rotation(device, machine).map(|kind| format!(", {kind}"));
    let kind = kind.unwrap_or_default();
    let size = device.size_bytes.map(|bytes| format!(", {}", units::bytes(bytes)));
    let model = device.model.as_ref().map(|model| format!(", {model}"));
    format!("{}{}{}{kind}", device.name, model.unwrap_or_default(), size.unwrap_or_default())
}

fn write_cache(cache: WriteCache) -> &'static str {
    match cache {
        WriteCache::WriteBack => "write back",
        WriteCache::WriteThrough => "write through",
    }
}

fn blocks(device: &BlockDevice) -> Option<String> {
    let logical = device.logical_block_bytes?;
    let physical = device.physical_block_bytes.unwrap_or(logical);
    Some(format!("logical {logical} bytes, physical {physical} bytes"))
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
