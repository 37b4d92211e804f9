//! Where programs run: in an arena, and beside it on a tmpfs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::densefs::{built, make_arena};
use crate::processes::binary;

/// Where programs find the arena.
pub(super) const PREFIX: &str = "/bench-dense";
/// Size of an arena in bytes, without the files of the tree; it is taken as it is needed.
const ARENA_BYTES: u64 = 1 << 30;
/// Room for each file of the tree, all copies of it included.
const BYTES_PER_FILE: u64 = 32 << 10;

/// An arena, and a directory on a tmpfs.
pub(super) struct Place {
    /// A directory on the tmpfs for everything else.
    pub(super) work: PathBuf,
    pub(super) arena: PathBuf,
    pub(super) tmpfs: PathBuf,
    fsprism: PathBuf,
    arena_bytes: u64,
}

/// Which of the two a program works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Tmpfs,
    Dense,
}

impl Place {
    pub(super) fn new(work: &Path, files: u32) -> anyhow::Result<Self> {
        let arena_bytes = ARENA_BYTES + u64::from(files) * BYTES_PER_FILE;
        let (arena, tmpfs) = (work.join("arena"), work.join("plain"));
        let place = Self { work: work.to_owned(), arena, tmpfs, fsprism: binary()?, arena_bytes };
        place.empty()?;
        Ok(place)
    }

    /// Makes the arena anew, and empties the directory on the tmpfs.
    pub(super) fn empty(&self) -> anyhow::Result<()> {
        make_arena(&self.arena, self.arena_bytes)?;
        if self.tmpfs.exists() {
            fs::remove_dir_all(&self.tmpfs)?;
        }
        Ok(fs::create_dir(&self.tmpfs)?)
    }

    /// The directory that is empty at the start.
    pub(super) fn root(&self, side: Side) -> &Path {
        match side {
            Side::Tmpfs => &self.tmpfs,
            Side::Dense => PREFIX.as_ref(),
        }
    }

    fn arena_and_prefix(&self) -> OsString {
        let mut text = self.arena.clone().into_os_string();
        text.push(":");
        text.push(PREFIX);
        text
    }

    /// How a command is started: its first words. For the arena, as users start it.
    pub(super) fn words(&self, side: Side) -> Vec<OsString> {
        match side {
            Side::Tmpfs => Vec::new(),
            Side::Dense => {
                let fsprism = self.fsprism.clone().into_os_string();
                let exec = ["densefs", "exec"].map(OsString::from);
                let place = [self.arena_and_prefix(), "--".into()];
                [fsprism].into_iter().chain(exec).chain(place).collect()
            }
        }
    }

    /// A program in the arena by nothing but this library, without a mount.
    pub(super) fn by_library(&self, library: &Path, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", library).env("FSPRISM_DENSEFS", self.arena_and_prefix());
        command
    }

    /// The variables of such a program.
    pub(super) fn variables(&self, library: &Path) -> Vec<String> {
        let arena = format!("FSPRISM_DENSEFS={}:{PREFIX}", self.arena.display());
        vec![format!("LD_PRELOAD={}", library.display()), arena]
    }
}

/// The library within fsprism, as a file.
pub(super) fn library() -> anyhow::Result<PathBuf> {
    densefs_preload_library::file().context("there is no place for the library")
}

/// The guided library.
pub(super) fn guided_library() -> anyhow::Result<PathBuf> {
    Ok(built()?.join("lib/libdensefs_preload.so"))
}
