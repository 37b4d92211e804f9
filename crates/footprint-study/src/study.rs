//! Walks a trace: once to choose the repetition of each operation that is shown and, if there are
//! several, a second time to look at only that one.

use std::path::{Path, PathBuf};

use caches::Hierarchy;
use footprint::cachemap::WalkedTrace;
use footprint::categories::Categories;
use footprint::cgstacks::CategorizedTrace;
use footprint::description::{Description, NumberedName};
use footprint::regions::{RegionQuery, for_each_region};
use footprint::simulated::{CacheOutcome, CachesToSimulate, Warmth};
use footprint::touched::{Figures, Footprint};
use footprint::trace::{Region, Walk};
use footprint_trace::TraceError;
use footprint_trace::header::Scope;

use crate::choice::{Choice, Shown, key};
use crate::regions::figures_of;
use crate::trace_file::open;
use crate::{Repetition, StudyError};

/// The doubt about a trace without names.
const NAMELESS: &str = "it has no names, so addresses are shown";
/// The doubt about a trace whose names come from the files that the program had mapped.
const LOOKED_UP: &str = "it has no names, so they are taken from the program's files as they are \
     now";

/// What to find out about a trace besides its footprints.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// The caches to simulate, which are empty when an operation begins.
    pub caches: Option<Hierarchy>,
}

/// A trace that has been studied.
#[derive(Debug)]
pub struct Studied {
    /// The trace's file.
    pub path: PathBuf,
    /// For each operation on each target, the execution whose counts are nearest to the medians,
    /// among those traced completely if there are any. In the order of the marks' numbers.
    pub executed: Vec<Executed>,
    /// Why the trace is incomplete, in a sentence.
    pub doubt: Option<String>,
    walk: Walk<Description>,
    categories: Categories,
}

/// One execution of one operation.
#[derive(Debug)]
pub struct Executed {
    /// The label of the target, or what was traced if there is no target.
    pub target: String,
    /// The operation's name, or its number if the trace does not name it.
    pub operation: String,
    /// Which of its repetitions it is.
    pub repetition: Repetition,
    /// What it touched.
    pub footprint: Footprint,
    /// How simulated caches fared, if there were any.
    pub outcome: Option<CacheOutcome>,
}

impl Studied {
    /// Reads a trace. Of a truncated or damaged one, the readable part is kept, with a
    /// [`doubt`](Self::doubt).
    ///
    /// # Errors
    /// The file is not a trace, has a newer format, or contains no operations.
    pub fn read(path: &Path, questions: &Questions) -> Result<Self, StudyError> {
        let failed = |source| StudyError::Trace { path: path.to_owned(), source };
        let mut reader = open(path)?;
        let header = *reader.header();
        let (description, missing) = description_of(path, header.scope)?;
        let mut choice = Choice::new(description.repetitions);
        let mut walk = Walk::new(header, description);
        let warmth = Warmth::Empty;
        let caches = questions.caches.as_ref();
        let caches = caches.map(|hierarchy| CachesToSimulate { hierarchy, warmth });
        let wanted = choice.query(caches);
        let walked = for_each_region(&mut walk, &mut reader, wanted, |walk, footprint, outcome| {
            choice.add(figures_of(walk, &footprint), footprint, outcome);
        });
        let (chosen, mut shown) = choice.finish();
        if shown.is_empty() && !chosen.is_empty() {
            walk.rewind();
            let regions: Vec<Region> = chosen.iter().map(|(region, _)| *region).collect();
            let wanted = RegionQuery { regions: Some(&regions), caches };
            let again =
                for_each_region(&mut walk, &mut open(path)?, wanted, |_, footprint, outcome| {
                    shown.push((footprint, outcome));
                });
            // An incomplete trace stops at the same place again.
            let _as_before = again;
        }
        let executed = name_executions(&walk, path, &chosen, shown);
        let doubt = match walked {
            Err(source) if executed.is_empty() => return Err(failed(source)),
            Err(source) => Some(source.to_string()),
            Ok(()) if executed.is_empty() => {
                return Err(StudyError::Empty { path: path.to_owned() });
            }
            Ok(()) => reader.ending().and_then(|ending| ending.cut).map(|cut| cut.to_string()),
        };
        // What makes a damaged trace unreadable also hides its description: report it once.
        let missing = missing.filter(|missing| doubt.as_ref() != Some(missing));
        let doubts: Vec<String> = doubt.into_iter().chain(missing).collect();
        let said = || format!("{}: {}", path.display(), doubts.join("; "));
        let doubt = (!doubts.is_empty()).then(said);
        Ok(Self { path: path.to_owned(), executed, doubt, walk, categories: Categories::default() })
    }

    /// Replaces fsprism's own mapping of functions to categories.
    #[must_use]
    pub fn with_categories(self, categories: Categories) -> Self {
        Self { categories, ..self }
    }

    /// What the trace is about, and the names of its addresses.
    #[must_use]
    pub fn description(&self) -> &Description {
        self.walk.names()
    }

    /// The inputs of a cachemap.
    #[must_use]
    pub fn walked_trace(&self) -> WalkedTrace<'_> {
        let (code, stacks) = (self.walk.code(), self.walk.stacks());
        WalkedTrace { code, stacks, scope: self.walk.scope(), names: self.walk.names() }
    }

    /// The inputs of a tree of stacks.
    #[must_use]
    pub fn categorized_trace(&self) -> CategorizedTrace<'_> {
        let (code, stacks) = (self.walk.code(), self.walk.stacks());
        let (scope, names) = (self.walk.scope(), self.walk.names());
        CategorizedTrace { scope, code, stacks, names, categories: &self.categories }
    }

    /// The figures of one execution.
    #[must_use]
    pub fn figures(&self, executed: &Executed) -> Figures {
        figures_of(&self.walk, &executed.footprint)
    }

    /// What was executed of an operation, or everything if none is named.
    ///
    /// # Errors
    /// There is no such operation; the message lists those that exist.
    pub fn executions(&self, operation: Option<&str>) -> Result<Vec<&Executed>, StudyError> {
        let is_asked = |one: &&Executed| operation.is_none_or(|asked| one.operation == asked);
        let found: Vec<&Executed> = self.executed.iter().filter(is_asked).collect();
        match operation {
            Some(asked) if found.is_empty() => {
                let mut known: Vec<String> = Vec::new();
                for one in &self.executed {
                    if !known.contains(&one.operation) {
                        known.push(one.operation.clone());
                    }
                }
                Err(StudyError::NoOperation {
                    path: self.path.clone(),
                    asked: asked.to_owned(),
                    known,
                })
            }
            _ => Ok(found),
        }
    }
}

/// A trace's description, and a sentence about what is missing from it. A trace without an end has
/// no description either; for a program, names are then looked up in the files that it had mapped,
/// which may still exist.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
pub(crate) fn description_of(
    path: &Path,
    scope: Scope,
) -> Result<(Description, Option<String>), StudyError> {
    let without = |why: String| Ok((Description::default(), Some(why)));
    match footprint_symbols::read_description(path) {
        Ok(Some(mut description)) => {
            let missing = description.missing.take();
            Ok((description, missing))
        }
        Ok(None) if scope == Scope::Program => match footprint_symbols::describe::program(path) {
            Ok((description, _)) if description.missing.is_none() => {
                Ok((description, Some(LOOKED_UP.to_owned())))
            }
            _ => without(NAMELESS.to_owned()),
        },
        Ok(None) => without(NAMELESS.to_owned()),
        Err(footprint_symbols::SymbolsError::Trace(error)) => match error {
            TraceError::Truncated { .. } | TraceError::Damaged { .. } => without(error.to_string()),
            source => Err(StudyError::Trace { path: path.to_owned(), source }),
        },
        Err(source) => Err(StudyError::Description { path: path.to_owned(), source }),
    }
}

/// The chosen executions with their names, in the order of the choice.
fn name_executions(
    walk: &Walk<Description>,
    path: &Path,
    chosen: &[(Region, Repetition)],
    mut shown: Vec<Shown>,
) -> Vec<Executed> {
    let executed = chosen.iter().filter_map(|&(region, repetition)| {
        let at = shown.iter().position(|(footprint, _)| footprint.region == region)?;
        let (footprint, outcome) = shown.swap_remove(at);
        let (target, operation) = names_of(walk.names(), region, path);
        Some(Executed { target, operation, repetition, footprint, outcome })
    });
    executed.collect()
}

/// The names of the target and the operation.
pub(crate) fn names_of(description: &Description, region: Region, path: &Path) -> (String, String) {
    let find = |named: &[NumberedName], number: u16| {
        named.iter().find(|named| named.number == number).map(|named| named.name.clone())
    };
    let file = || {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        textual::plain_text(&name).into_owned()
    };
    match key(region) {
        None => {
            let title = Some(&description.subject.title).filter(|title| !title.is_empty());
            (title.cloned().unwrap_or_else(file), "program".to_owned())
        }
        Some((region, operation)) => {
            let target = find(&description.regions, u16::from(region)).unwrap_or_else(file);
            let number = || operation.to_string();
            (target, find(&description.operations, operation).unwrap_or_else(number))
        }
    }
}
