//! What a guest wrote to its console.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The number of lines shown in an error.
const LINES: usize = 20;
/// How much of a console is read at most, in case a guest floods it.
const BYTES_MAX: u64 = 64 << 20;

/// A console's file.
#[derive(Debug)]
pub(crate) struct Console {
    file: File,
}

impl Console {
    /// Creates a console's file, at `path` or unnamed.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let create =
            |path| File::options().read(true).write(true).create(true).truncate(true).open(path);
        let file = path.map_or_else(tempfile::tempfile, create)?;
        Ok(Self { file })
    }

    /// The file that QEMU writes to.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Everything that was written.
    pub(crate) fn text(self) -> io::Result<String> {
        text(&self.file)
    }
}

/// A file's text from the start, lossily decoded, with plain line ends.
pub(crate) fn text(mut file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

/// The last lines, for an error.
pub(crate) fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The lines from the kernel's panic on, if it panicked.
pub(crate) fn panic_lines(console: &str) -> Option<String> {
    let (_, panic) = console.split_once("Kernel panic")?;
    let lines: Vec<&str> = panic.lines().take(LINES).collect();
    Some(format!("Kernel panic{}", lines.join("\n")))
}
