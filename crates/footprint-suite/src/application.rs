//! Traces a whole program in a guest, and counts whose code executes and misses what.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use caches::Hierarchy;
use footprint::owners::{Mapped, MappedNames, OwnerFigures};
use footprint::trace::{Completeness, FunctionId, Names, Region};
use footprint_guest::application::{ApplicationJob, ApplicationOutcome};
use footprint_guest::inside;
use footprint_study::{EXTENSION, owners};
use footprint_symbols::kallsyms::Kallsyms;
use footprint_symbols::symbol::SymbolTable;
use footprint_trace::attachments;
use footprint_trace::marked::PhasePosition;

use crate::several::for_each;
use crate::trace::file_error;
use crate::{GuestTarget, Tracer, TracingError};

/// Time limit of a guest, long enough even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(1800);
/// How the names of DenseFS' libraries begin that programs load.
const LIBRARY: &str = "libdensefs_preload";
/// Where a guest has the programs of its image.
const PROGRAMS: &str = "/sbin";

/// What to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationPlan {
    /// The program, which the guest's image has.
    pub program: String,
    /// Its arguments, with [`footprint_guest::application::DIRECTORY`] in place of the directory.
    pub arguments: Vec<String>,
    /// How many files the tree has.
    pub files: u32,
}

/// A program that was traced on a target.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationTraced {
    /// What the guest did.
    pub outcome: ApplicationOutcome,
    /// The program on an empty directory.
    pub start: OwnerFigures,
    /// The program on the tree.
    pub whole: OwnerFigures,
}

/// A program on a target, and what came of it.
#[derive(Debug)]
pub struct ApplicationResult {
    /// The target.
    pub target: GuestTarget,
    /// What was executed.
    pub plan: ApplicationPlan,
    /// What was traced, or why nothing was.
    pub traced: Result<ApplicationTraced, TracingError>,
}

impl Tracer {
    /// Executes programs on targets, each in a guest of its own, and counts what they execute and
    /// miss. Traces are kept in `directory`, which is empty, until they have been counted. Calls
    /// `on_traced` for each one that is done, with the time it took.
    pub fn applications(
        &self,
        all: Vec<(GuestTarget, ApplicationPlan)>,
        caches: &Hierarchy,
        directory: &Path,
        on_traced: &(dyn Fn(&str, &str, Duration) + Sync),
    ) -> Vec<ApplicationResult> {
        let numbered: Vec<_> = all.into_iter().enumerate().collect();
        for_each(numbered, |(number, (target, plan))| {
            let begun = Instant::now();
            let trace = directory.join(format!("{number}.{EXTENSION}"));
            let traced = self.trace_application(&target, &plan, caches, &trace);
            let _is_missing = fs::remove_file(trace);
            if traced.is_ok() {
                on_traced(&plan.program, &target.spec.label, begun.elapsed());
            }
            ApplicationResult { target, plan, traced }
        })
    }

    fn trace_application(
        &self,
        target: &GuestTarget,
        plan: &ApplicationPlan,
        caches: &Hierarchy,
        trace: &Path,
    ) -> Result<ApplicationTraced, TracingError> {
        let handed = tempfile::tempdir().map_err(file_error(&std::env::temp_dir()))?;
        let job = ApplicationJob {
            target: target.in_guest().to_string(),
            program: format!("{PROGRAMS}/{}", plan.program),
            arguments: plan.arguments.clone(),
            files: plan.files,
        };
        let mut boot = self.boot_for(target);
        boot.plugin = Some(self.plugin(trace));
        boot.time_limit = TIME_LIMIT;
        boot.job = vec![(
            inside::APPLICATION_JOB.to_owned(),
            serde_json::to_vec(&job).map_err(TracingError::Outcome)?,
        )];
        boot.run(handed.path())?;
        let read = |name: &str| {
            let path = handed.path().join(name);
            fs::read(&path).map_err(file_error(&path))
        };
        let outcome: ApplicationOutcome =
            serde_json::from_slice(&read(inside::OUTCOME)?).map_err(TracingError::Outcome)?;
        if let Some(why) = &outcome.failed {
            return Err(TracingError::Target(why.clone()));
        }
        if attachments::end_early(trace)? {
            return Err(incomplete());
        }
        // The names of the kernel's functions tell interrupts and other tasks apart.
        let symbols = String::from_utf8_lossy(&read(inside::SYMBOLS)?).into_owned();
        let kernel = KernelFunctions(Kallsyms::parse(&symbols)?.symbols);
        let names = MappedNames::new(kernel, Mapped::parse(&outcome.maps, LIBRARY));
        let figures = owners(trace, names, caches)?;
        let of = |position| {
            let found = figures.iter().find(|one| is_whole(one, position)).cloned();
            found.ok_or_else(incomplete)
        };
        let (start, whole) = (of(PhasePosition::First)?, of(PhasePosition::Later)?);
        Ok(ApplicationTraced { outcome, start, whole })
    }
}

/// The disk was full, or the trace has reached its limit.
fn incomplete() -> TracingError {
    let why = "the trace does not hold all of the program: give fewer --files, or a TMPDIR with \
               more room";
    TracingError::Target(why.to_owned())
}

fn is_whole(figures: &OwnerFigures, position: PhasePosition) -> bool {
    let Region::Marked { operation, .. } = figures.region else { return false };
    operation == position.operation() && figures.completeness == Completeness::Whole
}

/// The functions of a kernel.
struct KernelFunctions(SymbolTable);

impl Names for KernelFunctions {
    fn function(&self, address: u64) -> Option<FunctionId> {
        self.0.at(address).map(|symbol| FunctionId(symbol.address))
    }

    fn name(&self, function: FunctionId) -> Option<&str> {
        self.0.at(function.0).map(|symbol| symbol.name.as_str())
    }
}
