//! One guest of a rig: QEMU's process, and the messages to and from it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::description::GuestRole;
use super::error::RigError;
use super::running::RigConditions;
use super::wire::{self, Interface, Order, PORT};
use crate::boot::{ChildGuard, Console, initial_files, last_lines};
use crate::error::BootError;
use crate::{edge, qemu};

/// How often to check the stop flag while waiting for a guest.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What a guest is started from.
pub(super) struct GuestStart<'a> {
    pub(super) conditions: &'a RigConditions,
    pub(super) role: &'a GuestRole,
    pub(super) job: Vec<(String, Vec<u8>)>,
    /// The ends of links, in the order of the interfaces.
    pub(super) links: Vec<&'a File>,
    pub(super) interfaces: &'a [Interface],
    pub(super) disks: &'a [File],
    pub(super) console: Option<&'a Path>,
}

/// A guest that was started. Its process is killed when this is dropped.
#[derive(Debug)]
pub(super) struct RunningGuest {
    role: String,
    child: ChildGuard,
    control: UnixStream,
    console: Console,
    /// QEMU's own output.
    words: File,
}

impl RunningGuest {
    pub(super) fn start(start: &GuestStart<'_>) -> Result<Self, RigError> {
        let GuestStart { conditions, role, job, .. } = start;
        let initial = initial_files(&conditions.image, job).map_err(BootError::from_write)?;
        let (control, theirs) = UnixStream::pair()?;
        let theirs = File::from(OwnedFd::from(theirs));
        let console = Console::create(start.console)?;
        let words = tempfile::tempfile()?;
        let mut command = start.command(&initial, &theirs, console.file())?;
        command.stderr(words.try_clone()?).stdout(words.try_clone()?);
        let mut inherited = vec![&initial, &theirs, console.file()];
        inherited.extend(&start.links);
        inherited.extend(start.disks);
        edge::guard(&mut command, &inherited);
        let child = ChildGuard::spawn(&mut command)?;
        control.set_read_timeout(Some(POLL_INTERVAL))?;
        // A guest that does not read must not block the host forever.
        control.set_write_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self { role: role.name.clone(), child, control, console, words })
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message.
    pub(super) fn say(&mut self, order: &Order<impl Serialize>) -> Result<(), RigError> {
        wire::write(&mut self.control, order).map_err(|_| self.gone())
    }

    /// Waits for an answer.
    pub(super) fn hear<A: DeserializeOwned>(
        &mut self,
        limit: Duration,
        stop: Option<&AtomicBool>,
        are_others_up: &mut dyn FnMut() -> bool,
    ) -> Result<A, RigError> {
        let until = Instant::now() + limit;
        let mut patient = Patient { stream: &self.control, until, stop, are_others_up };
        let answer: Result<Result<A, String>, io::Error> = wire::read(&mut patient);
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(why)) => Err(RigError::Failed { role: self.role.clone(), why }),
            Err(error) if is_stop(&error) => Err(RigError::Stopped),
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                let console = self.console_end();
                Err(RigError::Late { role: self.role.clone(), limit, console })
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                Err(RigError::Garbled { role: self.role.clone(), why: error.to_string() })
            }
            Err(_) => Err(self.gone()),
        }
    }

    /// Has the guest power off, and waits until QEMU has exited.
    pub(super) fn power_off(
        mut self,
        limit: Duration,
        stop: Option<&AtomicBool>,
    ) -> Result<(), RigError> {
        self.say(&Order::<()>::PowerOff)?;
        let until = Instant::now() + limit;
        let are_others_up = &mut || true;
        let mut patient = Patient { stream: &self.control, until, stop, are_others_up };
        let mut rest = Vec::new();
        // The stream ends when QEMU exits.
        match patient.read_to_end(&mut rest) {
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                let console = self.console_end();
                Err(RigError::Late { role: self.role.clone(), limit, console })
            }
            Err(error) if is_stop(&error) => Err(RigError::Stopped),
            _ => {
                self.child.wait()?;
                Ok(())
            }
        }
    }

    /// Whether QEMU has exited.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.has_ended()
    }

    pub(super) fn gone(&self) -> RigError {
        let mut console = self.console_end();
        if console.is_empty() {
            console = crate::boot::text(&self.words).unwrap_or_default().trim().to_owned();
        }
        if console.is_empty() {
            console.push_str("(nothing was written to it)");
        }
        RigError::Gone { role: self.role.clone(), console }
    }

    fn console_end(&self) -> String {
        last_lines(&crate::boot::text(self.console.file()).unwrap_or_default())
    }
}

impl GuestStart<'_> {
    fn command(&self, initial: &File, control: &File, console: &File) -> Result<Command, RigError> {
        let RigConditions { kernel, .. } = self.conditions;
        let mut command = qemu::command_on_time()?;
        command.arg("-m").arg(format!("{}k", self.role.memory_bytes >> 10));
        command.arg("-kernel").arg(kernel.file());
        command.arg("-initrd").arg(qemu::path_of(initial));
        command.arg("-append").arg(qemu::kernel_arguments_on_time());
        command.arg("-chardev").arg(format!("file,id=console,path={}", qemu::path_of(console)));
        command.args(["-serial", "chardev:console", "-device", "virtio-serial-pci"]);
        let control = control.as_raw_fd();
        command.arg("-chardev").arg(format!("socket,id=control,fd={control}"));
        command.arg("-device").arg(format!("virtserialport,chardev=control,name={PORT}"));
        for (number, (link, interface)) in self.links.iter().zip(self.interfaces).enumerate() {
            let (link, ethernet) = (link.as_raw_fd(), &interface.ethernet);
            command.arg("-netdev").arg(format!("socket,id=link{number},fd={link}"));
            let device = format!("virtio-net-pci,netdev=link{number},mac={ethernet},romfile=");
            command.arg("-device").arg(device);
        }
        for (number, (disk, of)) in self.disks.iter().zip(&self.role.disks).enumerate() {
            let drive = format!(
                "file={},file.locking=off,format=raw,if=none,id=disk{number},cache=unsafe,\
                 discard=unmap,werror=report{}",
                qemu::path_of(disk),
                of.speed.drive_options()
            );
            command.arg("-drive").arg(drive);
            command.arg("-device").arg(format!("virtio-blk-pci,drive=disk{number}"));
        }
        Ok(command)
    }
}

/// A stream that is read until a deadline, or until the caller wants to stop.
struct Patient<'a> {
    stream: &'a UnixStream,
    until: Instant,
    stop: Option<&'a AtomicBool>,
    /// Whether the guests that this one may be waiting for are still running.
    are_others_up: &'a mut dyn FnMut() -> bool,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                // `read_exact` would retry after `Interrupted`.
                return Err(io::Error::other(Stop));
            }
            match (&mut &*self.stream).read(buffer) {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                answer => return answer,
            }
            if !(self.are_others_up)() {
                return Err(ErrorKind::BrokenPipe.into());
            }
            if Instant::now() >= self.until {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

/// The caller asked to stop.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stop;

fn is_stop(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Stop>()).is_some()
}
