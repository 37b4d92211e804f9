//! What a kernel must have been built with to run in a guest.

use crate::error::LabError;

/// Options without which a guest does not get to its job, or its trace has no names. The PVH entry
/// point is not among them; it is looked for in the kernel itself.
const OPTIONS: [(&str, Linked); 11] = [
    ("64BIT", Linked::In),
    ("BLK_DEV_INITRD", Linked::In),
    ("BINFMT_ELF", Linked::In),
    ("DEVTMPFS", Linked::In),
    ("PROC_FS", Linked::In),
    ("SYSFS", Linked::In),
    ("TMPFS", Linked::In),
    ("SERIAL_8250_CONSOLE", Linked::In),
    ("KALLSYMS", Linked::In),
    ("VIRTIO_PCI", Linked::InOrModule),
    ("VIRTIO_CONSOLE", Linked::InOrModule),
];

/// How a part is linked into a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    In,
    InOrModule,
}

/// Rejects a kernel whose configuration lacks options, and names them.
pub(super) fn check(release: &str, configuration: &str) -> Result<(), LabError> {
    let is_set = |option: &str, linked: Linked| {
        let value = configuration
            .lines()
            .find_map(|line| line.strip_prefix("CONFIG_")?.strip_prefix(option)?.strip_prefix('='));
        value == Some("y") || (value == Some("m") && linked == Linked::InOrModule)
    };
    let lacking = OPTIONS.iter().filter(|(option, linked)| !is_set(option, *linked));
    let options: Vec<String> = lacking.map(|(option, _)| format!("CONFIG_{option}")).collect();
    if options.is_empty() {
        return Ok(());
    }
    Err(LabError::Lacks { release: release.to_owned(), options: options.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_lacks_is_named() {
        let all = |letter: &str| -> String {
            OPTIONS.iter().map(|(option, _)| format!("CONFIG_{option}={letter}\n")).collect()
        };
        assert!(check("6.1", &all("y")).is_ok());
        let modules = check("6.1", &all("m")).unwrap_err().to_string();
        assert!(modules.contains("CONFIG_TMPFS") && !modules.contains("VIRTIO"), "{modules}");
        let without = all("y").replace("CONFIG_DEVTMPFS=y", "# CONFIG_DEVTMPFS is not set");
        let error = check("6.1-mine", &without).unwrap_err().to_string();
        assert_eq!(
            error,
            "kernel 6.1-mine was built without CONFIG_DEVTMPFS, which guests need: rebuild it \
             accordingly, or use another kernel"
        );
    }
}
