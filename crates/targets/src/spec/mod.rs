//! The description of a target, as given on the command line.
//!
//! `[LABEL=]PATH[:key=value,...]` or `[LABEL=]FS[:key=value,...]`:
//!
//! - A label consists of letters, digits and `_ + - .`, and does not begin with a dot. Without one,
//!   the whole text is the label; a directory whose path does not end in a name (`.`) is labelled
//!   with [its own](labels).
//! - A path begins with `/` or `.`, or is an existing directory that does not have the name of a
//!   file system (`./ext4` is the directory, `ext4` the file system). It takes the keys that are
//!   [conditions](Conditions), except `read_ahead`, which would affect everyone, and `delay`, which
//!   needs a device of our own; a colon begins them only if followed by a known key and `=`, so
//!   that other colons belong to the path.
//! - If the target is reached by library calls, or as programs reach it (`door=preload`), that is
//!   appended to any label.
//! - The values of `mkfs` and `mount` may contain commas: there, a comma begins a new key only if
//!   followed by a known key and `=`. A tmpfs' own `size` is therefore `size=`, never part of
//!   `mount=`.

mod delays;
pub(crate) mod device_words;
mod error;
pub(crate) mod labels;
mod option_key;
pub(crate) mod options;
mod times;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use record::{Ageing, Conditions};

use file_system::{
    BY_EXEC, BY_LIBRARY, Feature, FileSystem, NotMade, UnknownFileSystem, given_label, not_made,
};
use textual::did_you_mean;

use crate::spec::option_key::OptionKey;
use crate::spec::options::TargetOptions;

pub use error::SpecError;
pub use labels::{refuse_duplicate_labels, tell_apart};

/// A target as it was asked for. The output of [`Display`](fmt::Display) parses back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// The label used in reports.
    pub label: String,
    /// Where it is.
    pub location: Location,
    /// The limits that it is measured under.
    pub conditions: Conditions,
}

/// Where a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory of a mounted file system; work happens in a fresh directory inside it.
    Directory(PathBuf),
    /// A file system made for the run and removed after it.
    Scratch(ScratchSpec),
}

/// A file system to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchSpec {
    /// Which one.
    pub file_system: FileSystem,
    /// The image's or the tmpfs' size; `None` takes [`Surroundings::image_bytes`] or
    /// [`Surroundings::memory_bytes`].
    ///
    /// [`Surroundings::image_bytes`]: super::Surroundings::image_bytes
    /// [`Surroundings::memory_bytes`]: super::Surroundings::memory_bytes
    pub size_bytes: Option<u64>,
    /// Whether every block of the image is written before it is used, and stays allocated.
    pub allocated: bool,
    /// Options for mkfs, separated by white space.
    pub mkfs: Option<String>,
    /// Options for mount, separated by commas.
    pub mount: Option<String>,
    /// The block device to format; `None` takes an image on a loop device.
    pub device: Option<PathBuf>,
    /// Rounds of ageing; 0 leaves it fresh, `None` means not specified.
    pub aged_rounds: Option<u32>,
    /// How full it is while it is aged, in percent; `None` takes [`Ageing::FILL_PERCENT`].
    pub fill_percent: Option<u32>,
    /// How full it is before it is aged or measured, in percent of what users can use.
    pub filled_percent: Option<u32>,
    /// The way into an arena; `None` means not specified.
    pub door: Option<ArenaDoor>,
}

/// A way into an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArenaDoor {
    /// Calls of its library.
    Library,
    /// Functions of the C library, which a library serves that is loaded before it: as programs
    /// reach it by `fsprism densefs exec`.
    Preload,
}

impl ScratchSpec {
    /// Whether all or much of its space is written before it is used: it is aged, allocated as a
    /// whole, or filled on a file system that cannot reserve space without writing.
    #[must_use]
    pub fn is_written_first(&self) -> bool {
        self.is_written() || self.written_percent() > 0
    }

    /// Whether all of its space may be written before it is used.
    pub(crate) fn is_written(&self) -> bool {
        self.allocated || self.aged_rounds.is_some_and(|rounds| rounds > 0)
    }

    /// The share of its space that is written to fill it, in percent; 0 if space is reserved
    /// instead.
    pub(crate) fn written_percent(&self) -> u32 {
        let reserves = self.file_system.lacks(Feature::Reservation).is_none();
        self.filled_percent.filter(|_| !reserves).unwrap_or(0)
    }
}

impl TargetSpec {
    /// Whether its files are reached by library calls.
    #[must_use]
    pub fn is_called_as_library(&self) -> bool {
        is_called_as_library(&self.location)
    }

    /// The way into its arena that was asked for.
    #[must_use]
    pub fn door(&self) -> Option<ArenaDoor> {
        match &self.location {
            Location::Scratch(scratch) => scratch.door,
            Location::Directory(_) => None,
        }
    }

    /// How full it must be before it is aged or measured, in percent; `None` if it is not filled.
    #[must_use]
    pub fn filled_percent(&self) -> Option<u32> {
        match &self.location {
            Location::Scratch(scratch) => scratch.filled_percent,
            Location::Directory(_) => None,
        }
    }

    /// How it is to be aged; `None` if it stays fresh, and for a directory.
    #[must_use]
    pub fn ageing(&self) -> Option<Ageing> {
        let Location::Scratch(scratch) = &self.location else { return None };
        let rounds = scratch.aged_rounds.filter(|&rounds| rounds > 0)?;
        Some(Ageing::new(rounds, scratch.fill_percent.unwrap_or(Ageing::FILL_PERCENT)))
    }

    /// Ages a scratch target on a device for `rounds` rounds, unless it specifies its own.
    pub fn age_unless_said(&mut self, rounds: u32) {
        if let Location::Scratch(scratch) = &mut self.location
            && !scratch.file_system.lives_in_memory()
        {
            scratch.aged_rounds.get_or_insert(rounds);
        }
    }
}

/// Parses a size: a whole number of bytes, or of the powers of 1024 denoted by k, m, g and t.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (end, 'k' | 'K') => (&text[..end], 10),
        (end, 'm' | 'M') => (&text[..end], 20),
        (end, 'g' | 'G') => (&text[..end], 30),
        (end, 't' | 'T') => (&text[..end], 40),
        _ => (text, 0),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl FromStr for TargetSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (label, rest) = split_label(text)?;
        let (location, options) = if begins_like_a_path(rest) {
            directory(rest)?
        } else {
            let (name, options) = rest.split_once(':').unwrap_or((rest, ""));
            match name.parse::<FileSystem>() {
                Ok(file_system) => {
                    let options = TargetOptions::parse(options, text)?;
                    (Location::Scratch(options.scratch(file_system)?), options)
                }
                Err(UnknownFileSystem) => {
                    let (path, _) = split_path(rest);
                    look_at(path).map_err(|why| why.unwrap_or_else(|| no_file_system(name)))?;
                    directory(rest)?
                }
            }
        };
        let called = match &location {
            Location::Scratch(scratch) if scratch.door == Some(ArenaDoor::Preload) => BY_EXEC,
            _ if is_called_as_library(&location) => BY_LIBRARY,
            Location::Directory(_) | Location::Scratch(_) => "",
        };
        let label = match label {
            Some(label) => label.to_owned(),
            None => labels::for_nameless(&location, text).unwrap_or_else(|| text.to_owned()),
        };
        let label = format!("{label}{called}");
        Ok(Self { label, location, conditions: options.conditions()? })
    }
}

impl TargetSpec {
    /// Says by its label that programs reach it, as they are, instead of calls of its library.
    pub fn reached_by_programs(&mut self) {
        if let Some(given) = self.label.strip_suffix(BY_LIBRARY) {
            self.label = format!("{given}{BY_EXEC}");
        }
    }

    /// Its text without the label: what the target is, whatever its label.
    #[must_use]
    pub fn specification(&self) -> String {
        let mut text = match &self.location {
            // A leading dot keeps a relative path from being read as a file system.
            Location::Directory(path) if path.is_relative() && !path.starts_with(".") => {
                format!("./{}", path.display())
            }
            Location::Directory(path) => path.display().to_string(),
            Location::Scratch(scratch) => scratch.file_system.to_string(),
        };
        let options = TargetOptions::from_spec(self).to_string();
        if !options.is_empty() {
            text = format!("{text}:{options}");
        }
        text
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.specification();
        let label = given_label(&self.label);
        let plain = !label.is_empty() && label.chars().all(is_label_char);
        match plain && label != text {
            true => write!(formatter, "{label}={text}"),
            false => formatter.write_str(&text),
        }
    }
}

fn is_called_as_library(location: &Location) -> bool {
    match location {
        Location::Scratch(scratch) => scratch.file_system.is_called_as_library(),
        Location::Directory(_) => false,
    }
}

/// Checks that a name is that of a directory. The error says why not, unless nothing has that name
/// or it is not a directory.
fn look_at(path: &str) -> Result<(), Option<SpecError>> {
    match std::fs::metadata(path) {
        Ok(seen) if seen.is_dir() => Ok(()),
        Ok(_) => Err(None),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(None)
        }
        Err(error) => {
            Err(Some(SpecError::Unseen { given: path.to_owned(), why: error.to_string() }))
        }
    }
}

/// Why a name is not that of a file system that can be made.
fn no_file_system(name: &str) -> SpecError {
    let given = name.to_owned();
    if let Some(NotMade { why, instead, .. }) = not_made(name) {
        return SpecError::NotMade { given, why, instead };
    }
    let suggestion = did_you_mean(name, FileSystem::makeable().map(|made| made.row().name));
    SpecError::UnknownFileSystem { given, suggestion }
}

fn directory(text: &str) -> Result<(Location, TargetOptions), SpecError> {
    let (path, options) = split_path(text);
    let options = TargetOptions::parse(options, text)?;
    options.refuse_beside_conditions()?;
    Ok((Location::Directory(PathBuf::from(path)), options))
}

fn split_label(text: &str) -> Result<(Option<&str>, &str), SpecError> {
    if begins_like_a_path(text) || Path::new(text).is_dir() {
        return Ok((None, text));
    }
    match text.split_once('=') {
        // What comes before the sign is an option's key, or a path.
        Some((before, _)) if before.contains([':', '/']) => Ok((None, text)),
        Some((label, rest)) if !label.is_empty() && label.chars().all(is_label_char) => {
            Ok((Some(label), rest))
        }
        Some((label, _)) => {
            Err(SpecError::BadLabel { label: label.to_owned(), target: text.to_owned() })
        }
        None => Ok((None, text)),
    }
}

/// The path, and the conditions after it.
fn split_path(text: &str) -> (&str, &str) {
    if Path::new(text).is_dir() {
        return (text, "");
    }
    let colon =
        text.match_indices(':').find(|(at, _)| OptionKey::at_start_of(&text[at + 1..]).is_some());
    colon.map_or((text, ""), |(at, _)| (&text[..at], &text[at + 1..]))
}

fn begins_like_a_path(text: &str) -> bool {
    text.starts_with(['/', '.'])
}

fn is_label_char(letter: char) -> bool {
    letter.is_alphanumeric() || "_+-.".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_that_a_target_is_reached_by_library_call() {
        let label = |text: &str| text.parse::<TargetSpec>().expect(text).label;
        assert_eq!(label("densefs"), "densefs (by library call)");
        assert_eq!(label("dense=densefs:size=64m"), "dense (by library call)");
        assert_eq!(label("densefs:size=64m"), "densefs:size=64m (by library call)");
        assert_eq!(label("densefs:door=preload"), "densefs:door=preload (by densefs exec)");
        assert_eq!(label("dense=densefs:door=library"), "dense (by library call)");
        assert_eq!(label("tmpfs"), "tmpfs");
    }

    #[test]
    fn what_cannot_be_looked_at_is_said_to_be_there() {
        let place = tempfile::tempdir().expect("a directory");
        let link = place.path().join("loop");
        std::os::unix::fs::symlink(&link, &link).expect("it is ours");
        let seen = look_at(link.to_str().expect("plain text"));
        let Err(Some(refused @ SpecError::Unseen { .. })) = seen else { panic!("{seen:?}") };
        assert!(refused.to_string().contains("cannot be looked at"), "{refused}");
        assert_eq!(look_at("nowhere"), Err(None));
        assert_eq!(look_at("Cargo.toml/x"), Err(None));
        assert_eq!(look_at("src"), Ok(()));
    }

    #[test]
    fn what_is_not_made_is_told_apart_from_what_is_unknown() {
        let refused = |text: &str| text.parse::<TargetSpec>().expect_err(text).to_string();
        for (text, words) in [
            ("zfs", ["zpool", "mount one"]),
            ("mine=nfs:size=1g", ["a server", "a directory on it"]),
            ("overlayfs", ["other file systems", "mount one"]),
            ("ntfs", ["knows no mkfs", "mount one"]),
            ("fat32", ["vfat", "give vfat"]),
        ] {
            let refused = refused(text);
            assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
            assert!(!refused.contains("did you mean"), "{refused}");
        }
        assert!(refused("xfz").contains("did you mean `xfs`?"), "{}", refused("xfz"));
    }
}
