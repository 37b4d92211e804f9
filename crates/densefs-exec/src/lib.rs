//! Runs a program as it is, with a DenseFS below a prefix.
//!
//! The process becomes the program, so that its number, its terminal and its parent are what they
//! would be without us. Before that, it
//!
//! 1. finds out whether it may mount (`namespace`), and if so gives itself mounts of its own,
//!    mounts the arena on the prefix, and starts the process that serves the mount (`server`). That
//!    one is nobody's child, and outside the namespace. The kernel ends the namespace, and so the
//!    mount and its server, when the last process in it has ended, however that happens.
//! 2. names the library that serves calls from within the program, in the variables that all of its
//!    descendants inherit (`environment`).
//!
//! The library is fast and the mount complete: it also serves programs that load no library, and
//! calls that the library does not know. Without a mount, programs that would miss the library are
//! refused (`loads`).

mod detached;
mod environment;
mod error;
mod loads;
mod namespace;
mod place;
mod point;
mod program;
mod report;
mod server;
mod strict;
mod watched;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use densefs_fuse::{Unserved, open_device};
use densefs_process::DenseFs;

pub use error::ExecError;
pub use place::Place;
pub use report::{Report, ReportedCall};
pub use strict::Proof;
pub use watched::{Ending, Watch, Watched};

use environment::Inherited;
use namespace::Way;
use point::Point;

/// Runs a command with its arguments in place of this process, which must have a single thread; if
/// it is watched, as a child. `say` is told what the user should know before.
///
/// # Errors
/// [`ExecError`]; if the command is not watched, there is no other outcome.
pub fn exec(
    place: &Place,
    command: &[OsString],
    watch: Watch,
    say: &mut dyn FnMut(&str),
) -> Result<Watched, ExecError> {
    let inherited = Inherited::from_environment();
    let is_inside = inherited.is_inside(place)?;
    if is_inside && watch != Watch::default() {
        return Err(ExecError::WatchedWithin);
    }
    if !is_inside {
        // Everybody else who attaches it does so in silence.
        DenseFs::attach(place.arena())?.detach().map_err(|why| ExecError::Kernel {
            doing: "using the arena",
            why: io::Error::from_raw_os_error(why.0),
        })?;
    }
    let library = densefs_preload_library::file()?;
    let counting = if watch.report { Some(watched::Counting::new()?) } else { None };
    let (device, refusal) = match is_inside {
        true => (inherited.device(), None),
        false => match enter(place, counting.as_ref(), say)? {
            Ok(device) => (Some(device), None),
            Err(refusal) => (None, Some(refusal)),
        },
    };
    let (name, arguments) = command.split_first().ok_or(ExecError::NoCommand)?;
    let program = program::find(name)?;
    if device.is_none() {
        if watch.strict {
            return Err(ExecError::NoProof { refusal: refusal.unwrap_or_default() });
        }
        let refusal = refusal.unwrap_or_else(|| "the command around this one has none".to_owned());
        loads::check(&program).map_err(|why| ExecError::Unreached {
            program: program.clone(),
            why,
            refusal,
        })?;
    }
    let mut process = Command::new(&program);
    process.arg0(name).args(arguments);
    inherited.pass_on(&mut process, place, &library, device);
    if watch != Watch::default() {
        return watched::run(process, counting, watch, place);
    }
    Err(ExecError::NotRun { name: name.clone(), why: process.exec() })
}

/// Gives this process mounts of its own, among them the arena's, and returns that one's device
/// number; or returns why it may not.
fn enter(
    place: &Place,
    counting: Option<&watched::Counting>,
    say: &mut dyn FnMut(&str),
) -> Result<Result<u64, String>, ExecError> {
    let way = match Way::find() {
        Ok(way) => way,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let working = std::env::current_dir().ok();
    let working = working.filter(|working| working.starts_with(place.prefix()));
    let point = Point::open(place.prefix())?;
    let holds_files = point.holds_files();
    match mount(&way, place) {
        Ok(unserved) => {
            server::start(unserved, place, point, counting.map(watched::Counting::counts))?;
        }
        Err(why) if namespace::is_refusal(&why) => {
            return Ok(Err(format!("mounting fails: {why}")));
        }
        Err(why) => return Err(ExecError::Kernel { doing: "mounting the arena", why }),
    }
    if holds_files {
        say(&format!(
            "{} holds files, which the command does not see: it sees the arena there",
            place.prefix().display()
        ));
    }
    if let Some(working) = working {
        enter_again(&working)?;
    }
    let failed = |why| ExecError::Kernel { doing: "looking at the mount", why };
    Ok(Ok(std::fs::metadata(place.prefix()).map_err(failed)?.dev()))
}

fn mount(way: &Way, place: &Place) -> io::Result<Unserved> {
    way.enter()?;
    Unserved::mount(open_device()?, place.arena(), place.prefix())
}

/// The working directory is now below the mount, where nobody else would look for it.
fn enter_again(working: &Path) -> Result<(), ExecError> {
    let failed = |why| ExecError::NoWorkingDirectory { working: working.to_owned(), why };
    std::env::set_current_dir(working).map_err(failed)
}
