//! `fsprism run sprite-lfs`: timed like other suites and, on request, also counted in guests.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use record::SuiteOptions;
use suites::Suite;

use crate::arguments::footprint::CachesOptions;
use crate::arguments::guests::GuestKernel;
use crate::arguments::help;
use crate::arguments::sprite_lfs::{CACHE_TRAFFIC, SpriteLfsArguments};
use crate::commands::suites::timed::{Timed, TimedRequest};
use crate::commands::suites::traffic::Traffic;
use crate::commands::suites::{Runnable, SuiteRow};
use crate::exit::Outcome;

/// The suite sprite-lfs.
pub(super) struct SpriteLfs(pub(super) Suite);

/// What `--cache-traffic` takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --cache-traffic")]
struct Counting {
    #[command(flatten)]
    simulated: CachesOptions,
    #[command(flatten)]
    kernel: GuestKernel,
}

impl SpriteLfs {
    fn timed_suite(&self) -> Timed {
        Timed::with_options::<SpriteLfsArguments>(self.0.clone(), help::SPRITE_LFS_EXAMPLES)
    }
}

impl Runnable for SpriteLfs {
    fn row(&self) -> SuiteRow {
        self.timed_suite().row()
    }

    fn options(&self, command: Command) -> Command {
        // Neither option affects what is timed.
        let counting = Counting::augment_args(self.timed_suite().options(command));
        let counting = counting.mut_arg("caches", |one| one.requires(CACHE_TRAFFIC));
        counting.mut_arg("kernel", |one| one.requires(CACHE_TRAFFIC))
    }

    fn examples(&self) -> String {
        self.timed_suite().examples()
    }

    fn timed(&self) -> Option<&Suite> {
        Some(&self.0)
    }

    fn run(self: Box<Self>, given: &mut ArgMatches) -> anyhow::Result<Outcome> {
        let Counting { simulated, kernel } = Counting::from_arg_matches_mut(given)?;
        let is_counted = given.get_flag(CACHE_TRAFFIC);
        let traffic = |asked: &TimedRequest| match &asked.suite.classic {
            Some(SuiteOptions::SpriteLfs(run)) if is_counted => {
                let kernel = kernel.release.as_deref();
                Traffic::from_command_line(run, &asked.targets, &simulated.caches, kernel).map(Some)
            }
            _ => Ok(None),
        };
        self.timed_suite().run_as("run", given, traffic)
    }
}
