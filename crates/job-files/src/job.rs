//! A job: its options with their values.

use std::collections::BTreeMap;

use textual::nearest;

use crate::error::JobFileError;
use crate::options::{FioOption, OPTIONS, find};
use crate::place::Place;
use crate::quantity::KbBase;
use crate::sections::JobText;
use crate::setting::Setting;
use crate::values::Value;

/// The engine of a job that names none, on Linux.
const DEFAULT_ENGINE: &str = "psync";

/// A job whose every option is one of fio's, with a value that it can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    given: BTreeMap<&'static str, Given>,
}

/// A value, and where it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The value.
    pub value: Value,
    /// Where.
    pub place: Place,
}

impl Job {
    /// Reads the values of a job's settings. Of two settings of an option, the later one counts;
    /// `kb_base` counts for all, wherever it stands.
    ///
    /// # Errors
    /// The first setting that is none, and why.
    pub fn from_text(text: &JobText) -> Result<Self, JobFileError> {
        let settings = &text.settings;
        let mut bases = settings.iter().filter(|setting| setting.name == "kb_base");
        let base = match bases.next_back().and_then(|setting| setting.value.as_deref()) {
            Some("1000") => KbBase::Decimal,
            _ => KbBase::Binary,
        };
        let (mut given, mut options) = (BTreeMap::new(), Vec::new());
        for setting in settings {
            let option = option_of(setting)?;
            let value = option.value(setting.value.as_deref(), base);
            let value = value.map_err(|why| JobFileError::BadValue {
                place: setting.place.clone(),
                text: setting.to_string(),
                why,
            })?;
            options.push((option, setting));
            given.insert(option.name, Given { value, place: setting.place.clone() });
        }
        let job = Self { name: text.name.clone(), place: text.place.clone(), given };
        let engine = job.engine();
        let has =
            |option: &FioOption| option.engines.is_empty() || option.engines.contains(&engine);
        match options.into_iter().find(|(option, _)| !has(option)) {
            Some((option, setting)) => Err(JobFileError::NotOfEngine {
                place: setting.place.clone(),
                name: option.name,
                engines: option.engines.join(", "),
                engine: engine.to_owned(),
            }),
            None => Ok(job),
        }
    }

    /// The name of its engine.
    #[must_use]
    pub fn engine(&self) -> &str {
        match self.given("ioengine").map(|given| &given.value) {
            Some(Value::Text(name)) => name,
            _ => DEFAULT_ENGINE,
        }
    }

    /// What an option was given as, if it was.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// All options that were given, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Given)> {
        self.given.iter().map(|(name, given)| (*name, given))
    }
}

fn option_of(setting: &Setting) -> Result<&'static FioOption, JobFileError> {
    find(&setting.name).ok_or_else(|| {
        let names = OPTIONS.iter().flat_map(|one| [one.name, one.alias]);
        let hint = nearest(&setting.name, names.filter(|name| !name.is_empty()));
        JobFileError::NoSuchOption {
            place: setting.place.clone(),
            name: setting.name.clone(),
            hint: hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?")),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sections::read_text;
    use crate::substitution::Surroundings;

    fn job(text: &str) -> Result<Job, JobFileError> {
        let text = format!("[one]\n{text}");
        let surroundings = Surroundings::invented();
        let jobs = read_text(Path::new("jobs.fio"), text.as_bytes(), &[], &surroundings);
        Job::from_text(&jobs.expect("a job file")[0])
    }

    #[test]
    fn the_later_setting_counts_and_the_base_counts_for_all() {
        let one = job("bs=4k\nblocksize=8k\nsize=1k\nkb_base=1000\n").expect("a job");
        let value = |name| one.given(name).map(|given| given.value.clone());
        assert_eq!(value("bs"), Some(Value::Sizes([Some(8000); 3])));
        assert_eq!(one.given("bs").expect("it is").place.to_string(), "jobs.fio, line 3");
        assert_eq!(one.all().map(|(name, _)| name).collect::<Vec<_>>(), ["bs", "kb_base", "size"]);
        assert_eq!(value("iodepth"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let refused = |text| job(text).expect_err(text).to_string();
        assert_eq!(
            refused("rw=read\nblocksise=4k\n"),
            "jobs.fio, line 3: fio has no option `blocksise`; did you mean `blocksize`?"
        );
        assert_eq!(
            refused("hipri\nioengine=libaio\n"),
            "jobs.fio, line 2: `hipri` is an option of pvsync2, io_uring, and the engine is libaio"
        );
        assert!(job("hipri\nioengine=io_uring\n").is_ok());
        assert_eq!(refused("direct=2\n"), "jobs.fio, line 2: `direct=2`: `2` is neither 0 nor 1");
    }
}
