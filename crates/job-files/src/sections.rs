//! The lines of job files: sections, comments, included files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::JobFileError;
use crate::place::Place;
use crate::setting::Setting;
use crate::substitution::{self, Surroundings};

/// A job as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobText {
    /// The name of its section.
    pub name: String,
    /// Where its section begins.
    pub place: Place,
    /// The settings of the `[global]` sections before it, then its own. Of two settings of an
    /// option, the later one counts.
    pub settings: Vec<Setting>,
    /// How many of the settings are global.
    pub global: usize,
}

/// Reads a job file. If `only` names sections, only those are read, and global ones.
///
/// # Errors
/// If the file or one that it includes cannot be read, is not a job file, or has no job.
pub fn read(
    path: &Path,
    only: &[String],
    surroundings: &Surroundings,
) -> Result<Vec<JobText>, JobFileError> {
    let unreadable = |source| JobFileError::Unreadable { path: path.to_owned(), source };
    let bytes = fs::read(path).map_err(unreadable)?;
    read_text(path, &bytes, only, surroundings)
}

/// Reads the content of a job file, which need not be at `path`. Files that it includes are.
///
/// # Errors
/// As [`read`].
pub fn read_text(
    path: &Path,
    bytes: &[u8],
    only: &[String],
    surroundings: &Surroundings,
) -> Result<Vec<JobText>, JobFileError> {
    let mut reader =
        Reader { only, surroundings, global: Vec::new(), jobs: Vec::new(), section: Section::None };
    for line in Lines::of(path, bytes)? {
        reader.take(&line)?;
    }
    let path = path.to_owned();
    let is_there = |name: &&String| reader.jobs.iter().any(|job| job.name == **name);
    match only.iter().find(|name| !is_there(name)) {
        Some(name) => Err(JobFileError::NoSuchSection { path, name: name.clone() }),
        None if reader.jobs.is_empty() => Err(JobFileError::NoJob { path }),
        None => Ok(reader.jobs),
    }
}

/// What the section is that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    None,
    Global,
    Job,
    /// One that was not asked for.
    Skipped,
}

struct Reader<'a> {
    only: &'a [String],
    surroundings: &'a Surroundings,
    global: Vec<Setting>,
    jobs: Vec<JobText>,
    section: Section,
}

impl Reader<'_> {
    fn take(&mut self, line: &Line) -> Result<(), JobFileError> {
        if line.text.starts_with('[') {
            return self.begin(line);
        }
        match self.section {
            Section::None => Err(JobFileError::OutsideOfSections {
                place: line.place.clone(),
                text: line.text.clone(),
            }),
            Section::Skipped => Ok(()),
            Section::Global | Section::Job => {
                let mut settings = Vec::new();
                self.settings(line, &mut Vec::new(), &mut settings)?;
                match (self.section, self.jobs.last_mut()) {
                    (Section::Job, Some(job)) => job.settings.append(&mut settings),
                    _ => self.global.append(&mut settings),
                }
                Ok(())
            }
        }
    }

    fn begin(&mut self, line: &Line) -> Result<(), JobFileError> {
        let place = line.place.clone();
        let Some(name) = line.text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            return Err(JobFileError::OpenSection { place, text: line.text.clone() });
        };
        if name.is_empty() {
            return Err(JobFileError::NamelessSection { place });
        }
        // fio takes every name that begins like this for a global section.
        self.section = if name.starts_with("global") {
            Section::Global
        } else if self.only.is_empty() || self.only.iter().any(|one| one == name) {
            let settings = self.global.clone();
            let global = settings.len();
            self.jobs.push(JobText { name: name.to_owned(), place, settings, global });
            Section::Job
        } else {
            Section::Skipped
        };
        Ok(())
    }

    /// The settings of a line: one, or those of a file that it includes. `including` are the files
    /// that are being included.
    fn settings(
        &self,
        line: &Line,
        including: &mut Vec<PathBuf>,
        into: &mut Vec<Setting>,
    ) -> Result<(), JobFileError> {
        match line.included() {
            Some(name) => self.include(line, name, including, into),
            None => {
                into.push(self.setting(line)?);
                Ok(())
            }
        }
    }

    fn include(
        &self,
        line: &Line,
        name: &str,
        including: &mut Vec<PathBuf>,
        into: &mut Vec<Setting>,
    ) -> Result<(), JobFileError> {
        let place = || line.place.clone();
        let path = beside(name, line.place.file());
        let not_included =
            |source| JobFileError::NotIncluded { place: place(), path: path.clone(), source };
        let real = fs::canonicalize(&path).map_err(not_included)?;
        if including.contains(&real) {
            return Err(JobFileError::IncludesItself { place: place(), path });
        }
        let bytes = fs::read(&real).map_err(not_included)?;
        including.push(real);
        for line in Lines::of(&path, &bytes)? {
            if line.text.starts_with('[') {
                return Err(JobFileError::SectionInIncluded { place: line.place, text: line.text });
            }
            self.settings(&line, including, into)?;
        }
        including.pop();
        Ok(())
    }

    fn setting(&self, line: &Line) -> Result<Setting, JobFileError> {
        let text = substitution::substituted(&line.text, self.surroundings);
        let text = text.map_err(|why| JobFileError::Calculation {
            place: line.place.clone(),
            text: line.text.clone(),
            why,
        })?;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start().to_owned())),
            None => (text.as_str(), None),
        };
        let place = line.place.clone();
        if name.is_empty() {
            return Err(JobFileError::NamelessSetting { place, text: line.text.clone() });
        }
        Ok(Setting { name: name.to_owned(), value, place })
    }
}

/// An included file: as it is named, or if it is not there, in the directory of the file that
/// includes it.
fn beside(name: &str, includer: Option<&Path>) -> PathBuf {
    let path = PathBuf::from(name);
    match includer.and_then(Path::parent) {
        Some(directory) if !path.exists() => directory.join(path),
        _ => path,
    }
}

/// A line with something on it.
#[derive(Debug)]
struct Line {
    /// Without comment and space around it.
    text: String,
    place: Place,
}

impl Line {
    /// The file that it includes.
    fn included(&self) -> Option<&str> {
        let rest = self.text.strip_prefix("include")?;
        rest.starts_with(char::is_whitespace).then(|| rest.trim())
    }
}

/// The lines of a file that have something on them.
struct Lines;

impl Lines {
    fn of(path: &Path, bytes: &[u8]) -> Result<Vec<Line>, JobFileError> {
        let text = std::str::from_utf8(bytes).map_err(|error| JobFileError::NotText {
            path: path.to_owned(),
            line: 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count(),
        })?;
        let file = Arc::new(path.to_owned());
        let lines = text.split('\n').enumerate().filter_map(|(index, line)| {
            // A comment begins anywhere, even within a value.
            let line = line.split([';', '#']).next().unwrap_or_default();
            let line = line.trim_matches(|one: char| one.is_whitespace() || one.is_control());
            let place = Place::Line { file: Arc::clone(&file), line: index + 1 };
            (!line.is_empty()).then(|| Line { text: line.to_owned(), place })
        });
        Ok(lines.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs_of(text: &str, only: &[&str]) -> Result<Vec<JobText>, JobFileError> {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        read_text(Path::new("jobs.fio"), text.as_bytes(), &only, &Surroundings::invented())
    }

    fn words(job: &JobText) -> String {
        job.settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn refused(text: &str) -> String {
        jobs_of(text, &[]).expect_err(text).to_string()
    }

    #[test]
    fn a_job_has_what_is_global_before_it() {
        let jobs = jobs_of(
            "[global]\nbs=4k\n[one]\nrw=read\n[global]\nbs=8k\ndirect\n[two]\n[globally]\nsize=1m\n\
             [three]\nrw=write\n",
            &[],
        )
        .expect("a job file");
        let found: Vec<(&str, String, usize)> =
            jobs.iter().map(|job| (job.name.as_str(), words(job), job.global)).collect();
        assert_eq!(found[0], ("one", "bs=4k rw=read".to_owned(), 1));
        assert_eq!(found[1], ("two", "bs=4k bs=8k direct".to_owned(), 3));
        assert_eq!(found[2], ("three", "bs=4k bs=8k direct size=1m rw=write".to_owned(), 4));
    }

    #[test]
    fn comments_and_space_are_no_part_of_it() {
        let jobs = jobs_of(
            "; first\r\n\r\n  # second\r\n [ a job ] ; third\r\n\tbs = 4k # fourth\r\n  \
             direct \r\n",
            &[],
        )
        .expect("a job file");
        assert_eq!((jobs[0].name.as_str(), words(&jobs[0]).as_str()), (" a job ", "bs=4k direct"));
        assert_eq!(jobs[0].settings[1].place.to_string(), "jobs.fio, line 6");
    }

    #[test]
    fn only_the_sections_that_are_named_are_read() {
        let text = "[global]\nbs=4k\n[one]\nrw=read\n[two]\nrw=write\n";
        let jobs = jobs_of(text, &["two"]).expect("a job file");
        assert_eq!((jobs.len(), words(&jobs[0]).as_str()), (1, "bs=4k rw=write"));
        let error = jobs_of(text, &["two", "three"]).expect_err("it is not there").to_string();
        assert_eq!(error, "the job file jobs.fio has no section [three]");
    }

    #[test]
    fn files_are_included_from_beside_the_file() {
        let place = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = place.path().join(name);
            fs::write(&path, text).expect("it can be written");
            path
        };
        write("inner", "; of both\nsize=1m\n");
        write("outer", "bs=4k\ninclude inner\n");
        let path = write("jobs.fio", "[one]\nrw=read\ninclude outer\ndirect=1\n");
        let surroundings = Surroundings::invented();
        let jobs = read(&path, &[], &surroundings).expect("a job file");
        assert_eq!(words(&jobs[0]), "rw=read bs=4k size=1m direct=1");
        assert_eq!(jobs[0].settings[2].place.file(), Some(&*place.path().join("inner")));

        let refused = || read(&path, &[], &surroundings).expect_err("refused").to_string();
        write("inner", "include outer\n");
        assert!(refused().contains("outer includes itself"), "{}", refused());
        write("inner", "[two]\n");
        assert!(refused().contains("inner, line 1: `[two]` begins a section"), "{}", refused());
        fs::remove_file(place.path().join("inner")).expect("it is there");
        assert!(refused().contains("cannot be included: No such file"), "{}", refused());
    }

    #[test]
    fn what_is_no_job_file_is_refused_with_its_line() {
        assert!(refused("\nbs=4k\n").starts_with("jobs.fio, line 2: `bs=4k` stands before"));
        assert!(refused("[one\nbs=4k\n").contains("does not end with `]`"));
        assert!(refused("[]\n").contains("this section has no name"));
        assert!(refused("[one]\n=4k\n").contains("line 2: `=4k` has no option"));
        assert!(refused("[global]\nbs=4k\n").contains("jobs.fio has no job"));
        assert!(refused("").contains("has no job"));
        let bytes = b"[one]\nfilename=\xff\n";
        let error = read_text(Path::new("x"), bytes, &[], &Surroundings::invented());
        let error = error.expect_err("not text").to_string();
        assert_eq!(error, "the job file x is not text: line 2 is not UTF-8");
    }
}
