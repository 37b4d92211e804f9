//! One boot: a kernel, an image, a job, and what is handed back.
//!
//! The guest's clock counts instructions (`-icount`), no randomness enters from the host, and
//! addresses are not randomised, so two boots of the same job execute the same instructions. The
//! guest's input and output are in unnamed files, so that nothing is left behind, whichever process
//! dies.

mod console;
mod supervise;

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::BootError;
use crate::handover::{self, Ending};
use crate::image::Image;
use crate::image::cpio::Archive;
use crate::kernel::Kernel;
use crate::{edge, qemu};
use supervise::{Limits, QemuExit};

pub(crate) use console::{Console, last_lines, text};
pub(crate) use supervise::ChildGuard;

/// The name of the port over which files are handed back, on both sides.
pub(crate) const PORT: &str = "fsprism.handover";

/// What to boot, and how.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The kernel.
    pub kernel: Kernel,
    /// The image.
    pub image: Image,
    /// The guest's memory in bytes; 512 MiB by default. More memory takes longer to boot.
    pub memory_bytes: u64,
    /// Processors; 1 by default. Several take turns, never running at the same time, and use the
    /// host's clock, so no two boots are the same.
    pub processors: u32,
    /// NUMA nodes; 1 by default, and at most one per processor. Processors and memory are divided
    /// among them.
    pub nodes: u32,
    /// Files that the guest gets in addition to its image: absolute path and content.
    pub job: Vec<(String, Vec<u8>)>,
    /// The plugin that observes the guest.
    pub plugin: Option<Plugin>,
    /// Host time after which the guest is killed; 2 minutes by default.
    pub time_limit: Duration,
    /// Where to keep the console output; it is discarded by default.
    pub console: Option<PathBuf>,
    /// Additional kernel arguments.
    pub arguments: Vec<String>,
    /// Set by a signal handler to stop the guest early.
    pub stop: Option<Arc<AtomicBool>>,
}

/// A plugin for QEMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// The shared library.
    pub library: PathBuf,
    /// The trace that it writes; passed as its option `out`.
    pub trace: PathBuf,
    /// Its other options, such as `regions=marked`.
    pub options: Vec<String>,
}

/// What a guest handed back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootOutput {
    /// Paths of the files, relative to the directory they were written to, in order of arrival.
    pub files: Vec<PathBuf>,
    /// Everything that the guest wrote to its console.
    pub console: String,
}

impl Boot {
    /// A boot of a kernel and an image with all defaults and no job.
    #[must_use]
    pub fn new(kernel: Kernel, image: Image) -> Self {
        Self {
            kernel,
            image,
            memory_bytes: 512 << 20,
            processors: 1,
            nodes: 1,
            job: Vec::new(),
            plugin: None,
            time_limit: Duration::from_secs(120),
            console: None,
            arguments: Vec::new(),
            stop: None,
        }
    }

    /// Boots, waits for the guest to power off, and writes what it handed back to a directory,
    /// which is created if missing. Files that arrived complete are kept even if the guest failed.
    ///
    /// # Errors
    /// If QEMU cannot be started, or the guest hung, panicked, failed or stopped early.
    pub fn run(&self, into: &Path) -> Result<BootOutput, BootError> {
        qemu::check(self.plugin.is_some())?;
        let initial = initial_files(&self.image, &self.job).map_err(BootError::from_write)?;
        let handover = tempfile::tempfile()?;
        let words = tempfile::tempfile()?;
        let console = Console::create(self.console.as_deref())?;
        let mut command = self.command(&initial, &handover, console.file())?;
        command.stderr(words.try_clone()?).stdout(words.try_clone()?);
        edge::guard(&mut command, &[&initial, &handover, console.file()]);
        let stop = self.stop.as_deref();
        let limits = Limits { time: self.time_limit, stop, written: &handover };
        let end = supervise::run(&mut command, &limits)?;
        let said = console::text(&words)?;
        let console = console.text()?;
        self.judge(end, &said, &handover, into, console)
    }

    fn judge(
        &self,
        end: QemuExit,
        said: &str,
        mut handover: &File,
        into: &Path,
        console: String,
    ) -> Result<BootOutput, BootError> {
        handover.seek(SeekFrom::Start(0))?;
        let handed = handover::read(&mut BufReader::new(handover), into)?;
        let last = console::last_lines(&console);
        let limit = self.time_limit;
        match (end, handed.ending) {
            (QemuExit::Stopped, _) => Err(BootError::Stopped),
            (QemuExit::Full, Ending::Cut) => {
                Err(BootError::Full { directory: std::env::temp_dir() })
            }
            (_, Ending::Well) => Ok(BootOutput { files: handed.files, console }),
            (_, Ending::Failed(why)) => Err(BootError::Failed(why)),
            (QemuExit::Late, Ending::Cut) => Err(BootError::Hung { limit, console: last }),
            (QemuExit::Failed, Ending::Cut) => Err(qemu::refusal(said, self.plugin.is_some())),
            (QemuExit::Well, Ending::Cut) => Err(match console::panic_lines(&console) {
                Some(console) => BootError::Panicked { console },
                None => BootError::Cut { files: handed.files.len(), console: last },
            }),
        }
    }

    fn command(
        &self,
        initial: &File,
        handover: &File,
        console: &File,
    ) -> Result<Command, BootError> {
        let mut command = qemu::command(self.processors)?;
        let memory_kib = self.memory_bytes >> 10;
        command.arg("-m").arg(format!("{memory_kib}k"));
        if self.nodes > 1 {
            command.args(qemu::node_arguments(self.nodes, self.processors, memory_kib));
        }
        command.arg("-kernel").arg(self.kernel.file());
        command.arg("-initrd").arg(qemu::path_of(initial));
        command.arg("-append").arg(qemu::kernel_arguments(self.processors, &self.arguments));
        let file = |name: &str, file: &File| format!("file,id={name},path={}", qemu::path_of(file));
        command.arg("-chardev").arg(file("console", console));
        command.arg("-serial").arg("chardev:console");
        command.arg("-chardev").arg(file("handover", handover));
        // Without an event descriptor, the guest's writes are handled within the instruction that
        // makes them, instead of by another thread at some later time.
        command.args(["-device", "virtio-serial-pci,ioeventfd=off"]);
        command.arg("-device").arg(format!("virtserialport,chardev=handover,name={PORT}"));
        if let Some(plugin) = &self.plugin {
            command.arg("-plugin").arg(plugin.argument()?);
        }
        Ok(command)
    }
}

/// An image followed by a job's files, in one unnamed file.
pub(crate) fn initial_files(image: &Image, files: &[(String, Vec<u8>)]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut File::open(&image.file)?, &mut file)?;
    let mut job = Archive::default();
    files.iter().for_each(|(path, content)| job.file(path, content.clone()));
    if !files.is_empty() {
        file.write_all(&job.bytes())?;
    }
    Ok(file)
}

impl Plugin {
    fn argument(&self) -> Result<String, BootError> {
        // Without a slash in its path, the library would be searched for in system directories.
        let path = |path: &Path| {
            let path = std::path::absolute(path)?;
            let text = path.to_str().filter(|text| !text.contains(','));
            text.map(str::to_owned).ok_or(BootError::Comma(path.clone()))
        };
        let further: String = self.options.iter().map(|option| format!(",{option}")).collect();
        Ok(format!("{},out={}{further}", path(&self.library)?, path(&self.trace)?))
    }
}
