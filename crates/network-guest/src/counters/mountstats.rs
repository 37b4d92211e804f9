//! `/proc/self/mountstats`: the requests of an NFS client to its server, operation by operation.
//!
//! The fields are those named by nfs-utils' `mountstats` (`tools/mountstats/mountstats.py`). The
//! ninth field of an operation, the number of errors, exists since version 1.1 of the format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, numbers};

const OF: &str = "the mount's statistics";

/// The counters of a mount since it was mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountCounters {
    /// The file system's type: `nfs`, `nfs4`.
    pub file_system: String,
    /// The mount's options.
    pub options: String,
    /// Operations by name, including those that were never requested.
    pub operations: BTreeMap<String, OperationCounters>,
    /// Bytes read by programs, through `read` and so on.
    pub read_bytes: u64,
    /// Bytes read from the server.
    pub server_read_bytes: u64,
    /// Bytes written to the server.
    pub server_written_bytes: u64,
    /// Pages read from the cache, failed reads, pages written, failed writes, and pages dropped,
    /// according to the kernel: some kernels count reads that never reached the cache.
    pub cache_pages: Option<[u64; 5]>,
    /// Messages sent over its connections.
    pub sends: u64,
    /// Messages received.
    pub receives: u64,
}

/// The counters of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCounters {
    /// Number of requests.
    pub requests: u64,
    /// Number of transmissions.
    pub transmissions: u64,
    /// Number of timeouts.
    pub timeouts: u64,
    /// Bytes of the requests, including headers.
    pub sent_bytes: u64,
    /// Bytes of the answers, including headers.
    pub received_bytes: u64,
    /// Number of answers that were errors; `None` if the kernel does not count them.
    pub errors: Option<u64>,
}

impl MountCounters {
    /// Parses what the text says about the mount at a directory; `None` if there is no such mount,
    /// or the kernel has no counters for it.
    ///
    /// # Errors
    /// If the text does not have the known format.
    pub fn parse(text: &str, directory: &str) -> Result<Option<Self>, Unreadable> {
        let mut lines = text.lines().skip_while(|line| !is_head(line, directory));
        let Some(head) = lines.next() else { return Ok(None) };
        let Some(file_system) = counted_type(head) else { return Ok(None) };
        let mut counters = Self { file_system: file_system.to_owned(), ..Self::default() };
        let mut in_operations = false;
        for line in lines.take_while(|line| !line.starts_with("device ")) {
            let line = line.trim();
            if line == "per-op statistics" {
                in_operations = true;
                continue;
            }
            let Some((name, words)) = line.split_once(':') else { continue };
            if in_operations {
                let operation = OperationCounters::parse(words)?;
                counters.operations.insert(name.trim().to_owned(), operation);
            } else {
                counters.take_in(name, words.trim())?;
            }
        }
        if in_operations {
            Ok(Some(counters))
        } else {
            Err(Unreadable::Missing { of: OF, what: "its operations" })
        }
    }

    fn take_in(&mut self, name: &str, words: &str) -> Result<(), Unreadable> {
        match name {
            "opts" => self.options = words.to_owned(),
            "bytes" => {
                let numbers = numbers(OF, words)?;
                let [normal, _, direct, _, read, written, ..] = numbers[..] else {
                    return Err(Unreadable::Missing { of: OF, what: "all of its bytes" });
                };
                self.read_bytes = normal.saturating_add(direct);
                (self.server_read_bytes, self.server_written_bytes) = (read, written);
            }
            "fsc" => self.cache_pages = numbers(OF, words)?.try_into().ok(),
            // Protocol, port, binds, connects, two times, sends, receives; one line per connection.
            "xprt" => {
                let Some((protocol, words)) = words.split_once(' ') else { return Ok(()) };
                let numbers = numbers(OF, words)?;
                let place = if protocol == "udp" { 2 } else { 5 };
                if let Some([sends, receives]) = numbers.get(place..place + 2) {
                    self.sends = self.sends.saturating_add(*sends);
                    self.receives = self.receives.saturating_add(*receives);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Number of requests for an operation.
    #[must_use]
    pub fn requests(&self, operation: &str) -> u64 {
        self.operations.get(operation).map_or(0, |operation| operation.requests)
    }
}

impl OperationCounters {
    fn parse(words: &str) -> Result<Self, Unreadable> {
        let numbers = numbers(OF, words)?;
        let [requests, transmissions, timeouts, sent_bytes, received_bytes, ref rest @ ..] =
            numbers[..]
        else {
            return Err(Unreadable::Missing { of: OF, what: "all counts of an operation" });
        };
        // It is preceded by three times: queued, until the answer, total.
        let errors = rest.get(3).copied();
        Ok(Self { requests, transmissions, timeouts, sent_bytes, received_bytes, errors })
    }
}

/// Whether this is the first line about the mount at a directory: `device X mounted on DIRECTORY
/// with fstype TYPE ...`.
fn is_head(line: &str, directory: &str) -> bool {
    let mounted = line.split_once(" mounted on ").map(|(_, mounted)| mounted);
    let mounted = mounted.and_then(|mounted| mounted.rsplit_once(" with fstype "));
    line.starts_with("device ") && mounted.is_some_and(|(at, _)| unescaped(at) == directory)
}

/// The file system's type, if the kernel has counters for the mount.
fn counted_type(head: &str) -> Option<&str> {
    let (_, words) = head.rsplit_once(" with fstype ")?;
    let (file_system, version) = words.split_once(' ')?;
    version.starts_with("statvers=").then_some(file_system)
}

/// A path with the kernel's octal escapes for white space and backslashes undone.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.1.0-56-amd64: version 3, after 20 MiB and 200 files were read.
    const V3: &str = concat!(
        "device proc mounted on /proc with fstype proc\n",
        "device 10.77.0.1:/export mounted on /mnt with fstype nfs statvers=1.1\n",
        "\topts:\trw,vers=3,rsize=131072,wsize=131072,hard,nolock,proto=tcp,fsc,",
        "local_lock=all\n",
        "\tage:\t10\n",
        "\tcaps:\tcaps=0xf,wtmult=4096,dtsize=131072,bsize=0,namlen=255\n",
        "\tsec:\tflavor=1,pseudoflavor=1\n",
        "\tevents:\t206 1427 0 0 207 2 1431 0 0 360 0 0 12 0 201 0 0 201 0 0 0 0 0 0 ",
        "0 0 0 \n",
        "\tbytes:\t23633920 0 0 0 23633921 7 5920 0 \n",
        "\tfsc:\t0 5920 0 5920 5920 \n",
        "\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)\n",
        "\txprt:\ttcp 977 0 2 0 0 789 788 0 944 0 2 0 155\n",
        "\tper-op statistics\n",
        "\t        NULL: 1 1 0 44 24 25 5 30 0\n",
        "\t     GETATTR: 208 208 0 19944 23296 7 316 335 0\n",
        "\t        READ: 360 361 1 38880 23680000 57 17655 17775 2\n",
        "\n",
        "device tmpfs mounted on /tmp with fstype tmpfs\n",
    );

    #[test]
    fn the_statistics_of_a_mount_are_read() {
        let mount = MountCounters::parse(V3, "/mnt").unwrap().unwrap();
        assert_eq!((mount.file_system.as_str(), mount.operations.len()), ("nfs", 3));
        assert_eq!((mount.requests("GETATTR"), mount.requests("WRITE")), (208, 0));
        let read = mount.operations["READ"];
        assert_eq!((read.transmissions, read.timeouts, read.errors), (361, 1, Some(2)));
        assert_eq!((mount.read_bytes, mount.server_read_bytes), (23_633_920, 23_633_921));
        assert_eq!(mount.cache_pages, Some([0, 5920, 0, 5920, 5920]));
        assert_eq!((mount.sends, mount.receives), (789, 788));
        assert!(mount.options.contains(",fsc,"));
    }

    #[test]
    fn other_mounts_have_none() {
        assert_eq!(MountCounters::parse(V3, "/tmp").unwrap(), None);
        assert_eq!(MountCounters::parse(V3, "/elsewhere").unwrap(), None);
        let moved = V3.replace("on /mnt", "on /a\\040b");
        assert!(MountCounters::parse(&moved, "/a b").unwrap().is_some());
    }

    #[test]
    fn an_old_kernel_counts_no_errors() {
        let old = V3.replace("57 17655 17775 2", "57 17655 17775");
        let mount = MountCounters::parse(&old, "/mnt").unwrap().unwrap();
        assert_eq!(mount.operations["READ"].errors, None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(at in 0..V3.len(), with in "\\PC{0,4}") {
            // Nothing is made up for what was cut off: except for the last operation, everything is
            // as in the full text.
            if let Ok(Some(cut)) = MountCounters::parse(&V3[..at], "/mnt") {
                let whole = MountCounters::parse(V3, "/mnt").unwrap().unwrap();
                prop_assert_eq!(&cut.options, &whole.options);
                let other = cut.operations.iter().filter(|(name, operation)| {
                    whole.operations.get(*name) != Some(operation)
                });
                prop_assert!(other.count() <= 1);
            }
            let changed = format!("{}{with}{}", &V3[..at], &V3[at..]);
            let _read_or_refused = MountCounters::parse(&changed, "/mnt");
        }
    }
}
