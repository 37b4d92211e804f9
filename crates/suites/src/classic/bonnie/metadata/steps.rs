//! What each of the six tests does, call by call as in `bon_file.cpp` of Bonnie++ 2.00a.
//!
//! Paths are relative and directories are entered, so this must run in a thread with its own
//! working directory.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::BonnieMetadataOptions;
use rustix::fs::{Mode, OFlags, RawDir, fstat, mkdir, open, rmdir, stat, syncfs, unlink};
use rustix::process::chdir;

use super::names::{self, NameOrder};
use crate::classic::bonnie::timed::{TimeTaken, timed};
use crate::experiment::Site;

/// Files between two checks whether the run was told to stop.
const LOOK_EVERY: usize = 1024;
/// Size of a C library's buffer for directory entries.
const ENTRIES_BYTES: usize = 32 << 10;
/// The directory that contains all others.
const TOP: &CStr = c"Bonnie";
const UP: &CStr = c"..";

/// The files of one execution.
pub(super) struct Steps<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) options: &'a BonnieMetadataOptions,
    /// The site's directory, used to sync its file system.
    pub(super) directory: File,
    pub(super) generator: Xoshiro256PlusPlus,
    pub(super) directories: Vec<CString>,
    /// The paths of the current files.
    pub(super) files: Vec<CString>,
}

impl Steps<'_> {
    /// Makes the directories, then times making the files and a sync.
    pub(super) fn create(&mut self, order: NameOrder) -> io::Result<TimeTaken> {
        self.files = names::files(self.options, order, &mut self.generator);
        mkdir(TOP, Mode::RWXU)?;
        chdir(TOP)?;
        for directory in &self.directories {
            mkdir(directory, Mode::RWXU)?;
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let ((), timed) = timed(self.site.clock, || {
            for (number, file) in self.files.iter().enumerate() {
                drop(open(file, flags, Mode::RUSR | Mode::WUSR)?);
                self.look(number)?;
            }
            Ok(syncfs(&self.directory)?)
        })?;
        Ok(timed)
    }

    /// Looks up all files, directory by directory, in the order in which they are listed.
    pub(super) fn stat_sequential(&self) -> io::Result<TimeTaken> {
        let (found, timed) = timed(self.site.clock, || {
            self.each_directory(|name| stat(name).map(drop), |_| Ok(()))
        })?;
        self.all(found)?;
        Ok(timed)
    }

    /// Deletes all files in that order, and their directories.
    pub(super) fn delete_sequential(&self) -> io::Result<TimeTaken> {
        let (found, timed) = timed(self.site.clock, || {
            let found = self.each_directory(|name| unlink(name), |directory| rmdir(directory))?;
            self.end()?;
            Ok(found)
        })?;
        self.all(found)?;
        Ok(timed)
    }

    /// Looks up all files, in a new random order.
    pub(super) fn stat_random(&mut self) -> io::Result<TimeTaken> {
        self.files.shuffle(&mut self.generator);
        let ((), timed) = timed(self.site.clock, || self.each_file(|path| stat(path).map(drop)))?;
        Ok(timed)
    }

    /// Deletes all files in another random order, and their directories.
    pub(super) fn delete_random(&mut self) -> io::Result<TimeTaken> {
        self.files.shuffle(&mut self.generator);
        let ((), timed) = timed(self.site.clock, || {
            self.each_file(|path| unlink(path))?;
            for directory in &self.directories {
                rmdir(directory)?;
            }
            self.end()
        })?;
        Ok(timed)
    }

    fn each_file(&self, act: impl Fn(&CStr) -> rustix::io::Result<()>) -> io::Result<()> {
        for (number, file) in self.files.iter().enumerate() {
            act(file)?;
            self.look(number)?;
        }
        Ok(())
    }

    /// Calls `act` on every file of every directory, and `leave` on each directory after its files.
    /// Returns the number of files.
    fn each_directory(
        &self,
        act: impl Fn(&CStr) -> rustix::io::Result<()>,
        leave: impl Fn(&CStr) -> rustix::io::Result<()>,
    ) -> io::Result<usize> {
        let mut entries = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
        if self.directories.is_empty() {
            return listed(&mut entries, &act);
        }
        let mut found = 0;
        for directory in &self.directories {
            chdir(directory)?;
            found += listed(&mut entries, &act)?;
            chdir(UP)?;
            leave(directory)?;
            self.goes_on()?;
        }
        Ok(found)
    }

    /// Removes the top directory and syncs.
    fn end(&self) -> io::Result<()> {
        chdir(UP)?;
        rmdir(TOP)?;
        Ok(syncfs(&self.directory)?)
    }

    /// Checks that this was the number of files made.
    fn all(&self, found: usize) -> io::Result<()> {
        let made = self.files.len();
        if found == made {
            return Ok(());
        }
        Err(io::Error::other(format!("{made} files were made, but directories list {found}")))
    }

    fn look(&self, number: usize) -> io::Result<()> {
        if number % LOOK_EVERY == LOOK_EVERY - 1 { self.goes_on() } else { Ok(()) }
    }

    fn goes_on(&self) -> io::Result<()> {
        self.site.go_on().map_err(|_| io::ErrorKind::Interrupted.into())
    }
}

/// Calls `act` on every file of the current directory as it is listed, and returns their number.
/// Makes the same calls as `opendir(3)`, which stats what it has opened, and `readdir(3)`.
fn listed(
    entries: &mut [MaybeUninit<u8>],
    act: &impl Fn(&CStr) -> rustix::io::Result<()>,
) -> io::Result<usize> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let directory = open(c".", flags, Mode::empty())?;
    fstat(&directory)?;
    let mut listing = RawDir::new(&directory, entries);
    let mut found = 0;
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_bytes().starts_with(b".") {
            act(name)?;
            found += 1;
        }
    }
    Ok(found)
}
