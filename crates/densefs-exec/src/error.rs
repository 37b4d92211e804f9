//! Why a command is not run.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use densefs_preload_library::NoPlace;
use densefs_process::ArenaError;

use crate::loads::Miss;

/// Why a command is not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// It does not say where.
    #[error(
        "say which arena is to be seen where: ARENA:PREFIX, with an absolute path that is not /, \
         such as /dev/shm/scratch:/dense"
    )]
    NoPrefix,
    /// There is nothing to run.
    #[error("name a command after --")]
    NoCommand,
    /// The arena's file cannot be found.
    #[error("{arena}: {why}", arena = .arena.display())]
    NoArena {
        /// Its path.
        arena: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// It cannot be attached.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The arena's file is below the prefix.
    #[error(
        "{prefix} would hide the arena {arena} itself; name another prefix",
        prefix = .prefix.display(),
        arena = .arena.display()
    )]
    HidesArena {
        /// The arena's file.
        arena: PathBuf,
        /// The prefix.
        prefix: PathBuf,
    },
    /// Programs would see another path when they ask where they are.
    #[error(
        "{prefix} goes through a symbolic link; name it {real}",
        prefix = .prefix.display(),
        real = .real.display()
    )]
    Indirect {
        /// As it was given.
        prefix: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
    /// Another arena, or another prefix.
    #[error(
        "this runs within `fsprism densefs exec {}` already, and a program can only see one",
        .outer.display()
    )]
    Elsewhere {
        /// What it sees.
        outer: PathBuf,
    },
    /// The mount needs a directory.
    #[error("{prefix} is not a directory; name another prefix", prefix = .prefix.display())]
    NoDirectory {
        /// The prefix.
        prefix: PathBuf,
    },
    /// The directory is not there, and cannot be made.
    #[error(
        "cannot make the directory {prefix}: {why}; make it yourself, or name another prefix",
        prefix = .prefix.display()
    )]
    NotMade {
        /// The prefix.
        prefix: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// The library cannot be put anywhere.
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    /// The program would not load the library, and there is no mount.
    #[error(
        "{program} {why}, so it would not see the arena: that takes a mount, and {refusal}",
        program = .program.display()
    )]
    Unreached {
        /// The program.
        program: PathBuf,
        /// Why it does not load the library.
        why: Miss,
        /// Why there is no mount.
        refusal: String,
    },
    /// Calls are counted and traced for the whole command.
    #[error(
        "--report and --strict are for the first `fsprism densefs exec`, and this runs within one"
    )]
    WatchedWithin,
    /// There is no mount, from which what goes past the library could be told.
    #[error("--strict needs a mount, to see what bypasses the library, and {refusal}")]
    NoProof {
        /// Why there is no mount.
        refusal: String,
    },
    /// The command cannot be traced.
    #[error("--strict traces the command (ptrace), which is refused: {why}")]
    NotTraced {
        /// Why.
        why: io::Error,
    },
    /// A call has gone past the library.
    #[error("{what}; the command has been killed")]
    Slipped {
        /// Which call.
        what: String,
    },
    /// The command's working directory is below the prefix, and not in the arena.
    #[error(
        "cannot stay in {working}, as the arena is seen there: {why}; make that directory in the \
         arena, or start the command elsewhere",
        working = .working.display()
    )]
    NoWorkingDirectory {
        /// The working directory.
        working: PathBuf,
        /// Why it cannot be entered again.
        why: io::Error,
    },
    /// The command cannot be executed.
    #[error("cannot run {name}: {why}", name = .name.to_string_lossy())]
    NotRun {
        /// As it was given.
        name: OsString,
        /// Why.
        why: io::Error,
    },
    /// The kernel refuses something that it should not.
    #[error("{doing}: {why}")]
    Kernel {
        /// What was tried.
        doing: &'static str,
        /// Its error.
        why: io::Error,
    },
    /// The process that serves the mount says this.
    #[error("cannot serve the mount: {0}")]
    Server(String),
}

impl ExecError {
    /// The exit status that tells a shell what went wrong, as env(1) and others have it.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::NotRun { why, .. } if why.kind() == io::ErrorKind::NotFound => 127,
            Self::NotRun { .. } => 126,
            Self::Kernel { .. } | Self::Server(_) => 1,
            Self::NoPrefix
            | Self::NoCommand
            | Self::NoArena { .. }
            | Self::Arena(_)
            | Self::HidesArena { .. }
            | Self::Indirect { .. }
            | Self::Elsewhere { .. }
            | Self::NoDirectory { .. }
            | Self::NotMade { .. }
            | Self::NoPlace(_)
            | Self::Unreached { .. }
            | Self::WatchedWithin
            | Self::NoProof { .. }
            | Self::NotTraced { .. }
            | Self::Slipped { .. }
            | Self::NoWorkingDirectory { .. } => 2,
        }
    }
}
