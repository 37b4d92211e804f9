//! The variables that tell the library, in the command and all its descendants, what it serves.
//!
//! Where the library is loaded, it takes them out of the environment, so that programs are not
//! disturbed by them, and gives them to each program that is executed. The kernel still shows what
//! a process was started with.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{ExecError, Place};

/// `ARENA:PREFIX`: both absolute, the prefix after the last colon.
const PLACE: &str = "FSPRISM_DENSEFS";
/// The device number of the mount on the prefix, in decimal; absent if there is no mount.
const DEVICE: &str = "FSPRISM_DENSEFS_DEVICE";
/// A descriptor by which calls are counted, in decimal.
pub(crate) const REPORT: &str = "FSPRISM_DENSEFS_REPORT";
/// What the dynamic loader loads before everything else.
const PRELOAD: &str = "LD_PRELOAD";

/// What this process has been given.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    place: Option<OsString>,
    device: Option<u64>,
    preload: Option<OsString>,
    /// Whether the library is loaded into this process.
    is_loaded: bool,
}

impl Inherited {
    pub(crate) fn from_environment() -> Self {
        let started_with = std::fs::read("/proc/self/environ").unwrap_or_default();
        let current = |name: &str| std::env::var_os(name);
        Self::new(&started_with, current)
    }

    fn new(started_with: &[u8], current: impl Fn(&str) -> Option<OsString>) -> Self {
        let current = |name: &str| current(name).filter(|value| !value.is_empty());
        let given = |name: &str| {
            let mut texts = started_with.split(|&byte| byte == 0);
            let is_it = |text: &[u8]| {
                Some(text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec())
            };
            current(name).or_else(|| texts.find_map(is_it).map(OsString::from_vec))
        };
        let place = given(PLACE);
        let is_loaded = place.is_some() && current(PLACE).is_none();
        let device = given(DEVICE).and_then(|text| text.to_str()?.parse().ok());
        Self { place, device, preload: current(PRELOAD), is_loaded }
    }

    /// The device number of the mount that this process sees.
    pub(crate) fn device(&self) -> Option<u64> {
        self.device
    }

    /// Whether this process already sees the arena at the prefix, as the descendant of a command.
    ///
    /// # Errors
    /// If it sees another one, or sees it elsewhere.
    pub(crate) fn is_inside(&self, place: &Place) -> Result<bool, ExecError> {
        let Some(outer) = &self.place else { return Ok(false) };
        // Variables may have come here without the mount, for instance by ssh.
        let prefix = outer.as_bytes().rsplit(|&byte| byte == b':').next().unwrap_or_default();
        let found = || std::fs::metadata(OsStr::from_bytes(prefix)).ok().map(|found| found.dev());
        if !self.is_loaded && self.device.is_some() && found() != self.device {
            return Ok(false);
        }
        if *outer == place.to_text() {
            return Ok(true);
        }
        Err(ExecError::Elsewhere { outer: PathBuf::from(outer) })
    }

    /// Gives a command what its library needs to know, unless the library in this process does.
    pub(crate) fn pass_on(
        &self,
        command: &mut Command,
        place: &Place,
        library: &Path,
        device: Option<u64>,
    ) {
        if self.is_loaded {
            return;
        }
        command.env(PLACE, place.to_text());
        command.env(PRELOAD, preload(library, self.preload.as_deref()));
        match device {
            Some(device) => command.env(DEVICE, device.to_string()),
            None => command.env_remove(DEVICE),
        };
        command.env_remove(REPORT);
    }
}

/// The libraries to load: ours first, unless it is already there.
fn preload(library: &Path, others: Option<&OsStr>) -> OsString {
    let Some(others) = others else { return library.as_os_str().to_owned() };
    let is_separator = |byte: &u8| b": ".contains(byte);
    let mut listed = others.as_bytes().split(is_separator);
    if listed.any(|other| other == library.as_os_str().as_bytes()) {
        return others.to_owned();
    }
    let parts = [library.as_os_str().as_bytes(), others.as_bytes()];
    OsString::from_vec(parts.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_loaded_once_and_first() {
        let with = |others: &str| {
            let list = preload(Path::new("/c/ours.so"), Some(others.as_ref()));
            list.into_string().expect("plain text")
        };
        assert_eq!(preload(Path::new("/c/ours.so"), None), "/c/ours.so");
        assert_eq!(with("/a.so b.so"), "/c/ours.so:/a.so b.so");
        assert_eq!(with("/a.so:/c/ours.so"), "/a.so:/c/ours.so");
        assert_eq!(with("/a.so /c/ours.so"), "/a.so /c/ours.so");
        assert_eq!(with("/c/ours.so.1"), "/c/ours.so:/c/ours.so.1");
    }

    #[test]
    fn a_process_knows_what_it_was_started_with() {
        let started_with = b"A=b\0FSPRISM_DENSEFS=/a:/p\0FSPRISM_DENSEFS_DEVICE=7\0LD_PRELOAD=/o\0";
        let is_kept = |name: &str| (name == PLACE).then(|| OsString::from("/b:/q"));
        for (current, place, is_loaded) in [
            (&(|_: &str| None) as &dyn Fn(&str) -> Option<OsString>, "/a:/p", true),
            (&is_kept, "/b:/q", false),
        ] {
            let inherited = Inherited::new(started_with, current);
            assert_eq!(inherited.place, Some(place.into()));
            assert_eq!((inherited.device(), inherited.is_loaded), (Some(7), is_loaded));
            // What the library has left there is somebody else's.
            assert_eq!(inherited.preload, None);
        }
        let nothing = Inherited::new(b"A=b", |_| None);
        assert!(nothing.place.is_none() && !nothing.is_loaded);
    }

    #[test]
    fn a_process_that_sees_an_arena_sees_no_other() {
        let arena = tempfile::NamedTempFile::new().expect("there is room");
        let at = |prefix: &str| {
            let text = format!("{}:{prefix}", arena.path().display());
            Place::parse(text.as_ref()).unwrap_or_else(|why| panic!("{why}"))
        };
        let of = |place: Option<Place>, device| {
            let place = place.map(|place| place.to_text());
            Inherited { place, device, ..Inherited::default() }
        };
        assert!(matches!(of(None, None).is_inside(&at("/dense")), Ok(false)));
        assert!(matches!(of(Some(at("/dense")), None).is_inside(&at("/dense")), Ok(true)));
        let other = of(Some(at("/dense")), None).is_inside(&at("/other"));
        assert!(matches!(other, Err(ExecError::Elsewhere { .. })));
        // What is there is not the mount that the variable speaks of.
        let device = std::fs::metadata("/usr").expect("it is there").dev();
        let seen = |device| of(Some(at("/usr")), Some(device)).is_inside(&at("/usr"));
        assert!(matches!(seen(device), Ok(true)));
        assert!(matches!(seen(device + 1), Ok(false)));
    }
}
