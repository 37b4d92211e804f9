//! Options of pollution.

use clap::{Args, ValueEnum};
use record::{ClassicOptions, CodeFootprints, LineOrder, LoadDependence, PollutionOptions};
use suites::{NoSuite, OwnOptions, Suite, pollution};

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

impl OwnOptions for PollutionArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let declared = pollution::declared();
        let footprints = match (self.code, self.data) {
            (None, None) => declared.footprints,
            (Some(SizeList(code_bytes)), Some(SizeList(data_bytes))) => {
                CodeFootprints::Each { code_bytes, data_bytes }
            }
            (Some(SizeList(code_bytes)), None) => {
                CodeFootprints::Each { code_bytes, data_bytes: vec![pollution::OTHER_BYTES] }
            }
            (None, Some(SizeList(data_bytes))) => {
                CodeFootprints::Each { code_bytes: vec![pollution::OTHER_BYTES], data_bytes }
            }
        };
        let is_default = self.operations.is_empty();
        let options = PollutionOptions {
            footprints,
            operations: if is_default { declared.operations } else { self.operations },
            order: self.lines.map_or(declared.order, |given| match given {
                GivenOrder::Random => LineOrder::Random,
                GivenOrder::Sequential => LineOrder::Sequential,
            }),
            loads: self.accesses.map_or(declared.loads, |given| match given {
                GivenAccesses::Dependent => LoadDependence::Dependent,
                GivenAccesses::Independent => LoadDependence::Independent,
            }),
        };
        Ok(suite.with_classic(Some(&ClassicOptions::Pollution(options)))?)
    }
}
