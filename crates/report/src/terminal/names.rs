//! The words for things that the document represents by a value.

use file_system::given_label;
use record::Document;
use record::machine::{BlockDevice, Machine};

use super::text::shortened;
use textual::plain_text;

/// A longer label is shortened; the list of targets has all of it.
const LABEL_WIDTH_MAX: usize = 16;

/// A target's label, as in sentences and tables.
pub(super) fn label(label: &str) -> String {
    let given = given_label(label);
    let door = label.strip_prefix(given).unwrap_or_default();
    format!("{}{door}", shortened(&plain_text(given), LABEL_WIDTH_MAX))
}

/// Whether a disk is rotational, if that can be known: virtual disks, which have no model or are in
/// a virtual machine, report themselves as rotational by default.
pub(super) fn rotation(device: &BlockDevice, machine: &Machine) -> Option<&'static str> {
    let is_physical = device.model.is_some() && machine.hypervisor.is_none();
    let rotational = device.rotational.filter(|_| is_physical)?;
    Some(if rotational { "rotational" } else { "not rotational" })
}

/// The title of the benchmark called `benchmark`, or that name if no cell has it.
pub(super) fn title<'a>(document: &'a Document, benchmark: &'a str) -> &'a str {
    let cell = document.cells.iter().find(|cell| cell.benchmark == benchmark);
    cell.map_or(benchmark, |cell| &cell.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_label_still_says_how_it_is_reached() {
        let long = "densefs:size=64m,and-more (by library call)";
        assert_eq!(label(long), "densefs:size=64~ (by library call)");
        assert_eq!(label("densefs (by library call)"), "densefs (by library call)");
        assert_eq!(label("densefs (by densefs exec)"), "densefs (by densefs exec)");
        assert_eq!(label("ext4:size=64m,and-more"), "ext4:size=64m,a~");
    }

    #[test]
    fn a_virtual_disk_is_not_said_to_spin() {
        let disk = |model: Option<&str>| BlockDevice {
            rotational: Some(true),
            model: model.map(str::to_owned),
            ..BlockDevice::default()
        };
        let real = Machine::default();
        let guest = Machine { hypervisor: Some("KVM".to_owned()), ..Machine::default() };
        assert_eq!(rotation(&disk(Some("ST4000")), &real), Some("rotational"));
        assert_eq!(rotation(&disk(None), &real), None);
        assert_eq!(rotation(&disk(Some("QEMU HARDDISK")), &guest), None);
    }
}
