//! Options of pollution, of the suite and of its simulation.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use record::{CodeFootprints, LineOrder, LoadDependence, PollutionOptions, SuiteOptions};
use suites::pollution::{self, PollutionError};
use suites::{NoSuite, OwnOptions, Suite};
use user_code::CodeShape;

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::footprint::CachesOptions;
use crate::arguments::sizes::{self, SizeList};

/// The code between operations, and the operations.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of pollution")]
pub(crate) struct PollutionArguments {
    /// Size of the code's instructions: 4k, a list (4k,32k), or a range that doubles (4k..64k).
    /// Without --code and --data, instructions and data have the same size, from 4k to 64k; if only
    /// one is given, the other is 4k
    #[arg(long, value_name = "SIZE", value_parser = sizes::doubling, conflicts_with = "resume")]
    code: Option<SizeList>,
    /// Size of the data that the code reads, in the same form
    #[arg(long, value_name = "SIZE", value_parser = sizes::doubling, conflicts_with = "resume")]
    data: Option<SizeList>,
    /// Operations, separated by commas: stat, create, read-4k (the default is these three),
    /// write-4k, unlink, rename, open, open-close, stat-missing, mkdir, rmdir
    #[arg(long = "op", value_name = "NAME", value_delimiter = ',', conflicts_with = "resume")]
    operations: Vec<String>,
    /// Order in which cache lines are executed and read: random (the default), which defeats
    /// prefetching, or as they lie in memory
    #[arg(long, value_enum, conflicts_with = "resume")]
    lines: Option<GivenOrder>,
    /// Whether each read of data has to wait for the one before (dependent, the default) or not
    #[arg(long, value_enum, conflicts_with = "resume")]
    accesses: Option<GivenAccesses>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GivenOrder {
    Random,
    Sequential,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GivenAccesses {
    Dependent,
    Independent,
}

/// What `fsprism footprint pollution` takes.
#[derive(Debug, Args)]
pub(crate) struct PollutedOptions {
    /// A trace, or a directory of *.trace files, such as RUN/footprint
    #[arg(value_name = "TRACE_OR_DIR")]
    pub(crate) path: PathBuf,
    /// Show only this operation
    #[arg(id = "operation", long = "op", value_name = "OPERATION")]
    pub(crate) operation: Option<String>,
    /// Size of the code's instructions: 4k, a list (4k,32k), or a range that doubles (4k..64k).
    /// Without --code and --data, instructions and data have the same size, from 4k to 64k; if only
    /// one is given, the other is 4k
    #[arg(long, value_name = "SIZE", value_parser = sizes::doubling)]
    code: Option<SizeList>,
    /// Size of the data that the code reads, in the same form
    #[arg(long, value_name = "SIZE", value_parser = sizes::doubling)]
    data: Option<SizeList>,
    /// Order in which cache lines are executed and read: random (the default), or as they lie in
    /// memory
    #[arg(long, value_enum)]
    lines: Option<GivenOrder>,
    #[command(flatten)]
    pub(crate) simulated: CachesOptions,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

impl PollutedOptions {
    /// The code that is put between operations.
    pub(crate) fn shapes(&self) -> Result<Vec<CodeShape>, PollutionError> {
        let footprints = footprints(self.code.clone(), self.data.clone());
        pollution::shapes(&with(footprints, self.lines, None))
    }
}

/// The footprints that were asked for, or the usual ones.
fn footprints(code: Option<SizeList>, data: Option<SizeList>) -> CodeFootprints {
    let other = || SizeList(vec![pollution::OTHER_BYTES]);
    let (SizeList(code_bytes), SizeList(data_bytes)) = match (code, data) {
        (None, None) => return pollution::declared().footprints,
        (code, data) => (code.unwrap_or_else(other), data.unwrap_or_else(other)),
    };
    CodeFootprints::Each { code_bytes, data_bytes }
}

/// The usual options with these.
fn with(
    footprints: CodeFootprints,
    order: Option<GivenOrder>,
    loads: Option<GivenAccesses>,
) -> PollutionOptions {
    let declared = pollution::declared();
    PollutionOptions {
        footprints,
        order: order.map_or(declared.order, |given| match given {
            GivenOrder::Random => LineOrder::Random,
            GivenOrder::Sequential => LineOrder::Sequential,
        }),
        loads: loads.map_or(declared.loads, |given| match given {
            GivenAccesses::Dependent => LoadDependence::Dependent,
            GivenAccesses::Independent => LoadDependence::Independent,
        }),
        ..declared
    }
}

impl OwnOptions for PollutionArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let declared = with(footprints(self.code, self.data), self.lines, self.accesses);
        let is_default = self.operations.is_empty();
        let operations = if is_default { declared.operations } else { self.operations };
        let options = PollutionOptions { operations, ..declared };
        Ok(suite.with_classic(Some(&SuiteOptions::Pollution(options)))?)
    }
}
