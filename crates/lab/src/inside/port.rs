//! The port to the host.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::{InsideError, load_modules_for};
use crate::boot::PORT;
use crate::handover::Writer;

/// The kernel's directory of ports.
const PORTS: &str = "/sys/class/virtio-ports";
/// How often to look for the port. The guest learns its name from the host: with one processor
/// before the driver has finished loading, with several some time later.
const LOOKS: u32 = 500;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Loads the port's modules and opens it for writing and, if it is a rig's port, for reading. A
/// port can be open only once at a time.
pub(super) fn open_port(port: &'static str) -> Result<File, InsideError> {
    let io = |path: &str| {
        let path = path.to_owned();
        |source| InsideError::Io { path, source }
    };
    load_modules_for("base")?;
    for _ in 0..LOOKS {
        for entry in fs::read_dir(PORTS).map_err(io(PORTS))?.flatten() {
            let name = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            if name.trim() == port {
                let path = PathBuf::from("/dev").join(entry.file_name());
                let opened = File::options().read(port != PORT).write(true).open(&path);
                return opened.map_err(io(&path.to_string_lossy()));
            }
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Err(InsideError::NoPort(port))
}

/// Hands back files, each given as name and local path, then the outcome, which says why if the job
/// failed. Files may be pipes or in /proc; since their length is not known, they are read into
/// memory first.
///
/// # Errors
/// If the port cannot be opened or written, or a file cannot be read.
pub fn hand_back(
    files: &[(String, PathBuf)],
    outcome: Result<(), &str>,
) -> Result<(), InsideError> {
    let port = open_port(PORT)?;
    let mut writer = Writer::new(io::BufWriter::with_capacity(1 << 16, port));
    for (name, path) in files {
        let io = |source| InsideError::Io { path: path.display().to_string(), source };
        let length = path.metadata().map_err(io)?.len();
        if length > 0 {
            writer.file_from(name, length, File::open(path).map_err(io)?).map_err(io)?;
        } else {
            writer.file(name, &fs::read(path).map_err(io)?).map_err(io)?;
        }
    }
    let port = |source| InsideError::Io { path: PORT.to_owned(), source };
    writer.end(outcome).and_then(|mut written| written.flush()).map_err(port)
}
