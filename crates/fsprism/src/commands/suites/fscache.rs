//! `fsprism run fscache`: a network file system in every state of its caches, measured in a rig of
//! guests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::lab::rig::{RigConditions, RigError, Shape};
use ::lab::{ImageParts, Kernel, Lab, LabError, image, kernel};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use machine::measuring_lock::Purpose;
use network_guest::Version;
use network_guest::content::{Content, TreeShape};
use network_suite::break_even::{self, BreakEven};
use network_suite::{
    Ended, KernelCounts, NetfsStatistics, NetworkBenchmark, NetworkRig, NetworkState, Plan,
    RunRecorder, SUITE,
};
use record::{
    Dimension, EndReason, Manifest, ReservedDirectory, Run, RunDirectory, RunKind, RunRecord,
};

use crate::arguments::format::Format;
use crate::arguments::help;
use crate::arguments::network::{FscacheOptions, NetworkArguments};
use crate::commands::suites::{BenchmarkRow, Runnable, SuiteRow, mounted};
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output::{self, ReportForm, page};
use crate::session::start;

/// Default size of the large file, in bytes.
const FILE_BYTES: u64 = 20 << 20;
/// The default tree: a tenth of the paper's.
const TREE: TreeShape = TreeShape { directories: 123, files: 2000 };
/// Default rate of the link, in bits per second: one that emulation keeps up with.
const LINK_BITS_PER_S: u64 = 20_000_000;
/// Default number of rounds, as in the paper.
pub(crate) const RUNS: u32 = 3;
/// Default seed of the files, fixed so that two runs read the same ones.
const SEED: u64 = 1;
/// How long a guest may take to boot.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

/// The suite fscache.
pub(super) struct FscacheSuite;

impl Runnable for FscacheSuite {
    fn row(&self) -> SuiteRow {
        let benchmark = |one: NetworkBenchmark| BenchmarkRow {
            name: one.name().to_owned(),
            title: one.title().to_owned(),
            dimension: Dimension::Caching,
            exercises: vec![Dimension::Io, Dimension::Metadata],
            curve: None,
        };
        SuiteRow {
            name: SUITE,
            summary: "a network file system in every state of its caches, in a rig of guests",
            benchmarks: NetworkBenchmark::ALL.into_iter().map(benchmark).collect(),
        }
    }

    fn options(&self, command: Command) -> Command {
        FscacheOptions::augment_args(command)
    }

    fn examples(&self) -> String {
        help::FSCACHE_EXAMPLES.to_owned()
    }

    fn run(self: Box<Self>, given: &mut ArgMatches) -> anyhow::Result<Outcome> {
        let options = FscacheOptions::from_arg_matches_mut(given)?;
        let format = options.guests.output.format;
        format.check(SUITE)?;
        if let Some(at) = &options.network.at {
            return mounted::run(&options, at);
        }
        let is_search = !options.network.break_even.is_empty();
        let made = if is_search { search_break_even(&options)? } else { measure("run", &options)? };
        print(&made.directory, format)?;
        Ok(made.outcome())
    }
}

/// A run that was made.
pub(crate) struct FscacheRun {
    pub(crate) directory: RunDirectory,
    ended: Ended,
    /// Whether some cell could not be measured.
    failed: bool,
}

impl FscacheRun {
    /// The run in this directory, which ended this way.
    pub(crate) fn new(directory: RunDirectory, ended: Ended) -> anyhow::Result<Self> {
        let failed = |line: &record::Line| matches!(line, record::Line::CellFailed(_));
        let failed = directory.read()?.lines.iter().any(failed);
        Ok(Self { directory, ended, failed })
    }

    /// How the command that made the run ends.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.ended {
            Ended::Stopped => Outcome::Interrupted,
            Ended::Done if self.failed => Outcome::WithFailures,
            Ended::Done => Outcome::Success,
        }
    }
}

/// Measures on behalf of a command, which prints the run itself.
pub(crate) fn measure(command: &str, options: &FscacheOptions) -> anyhow::Result<FscacheRun> {
    let run = run_record(command, options);
    let plan = plan(options, run.seed)?;
    let opened = open(options, run, &plan)?;
    let OpenedRun { mut rig, stop, base, reserved, counts } = opened;
    let plan = Plan { counts, ..plan };
    output::say("booting the server");
    if let Err(error) = rig.serve(&plan) {
        reserved.give_up()?;
        let is_stopped = matches!(error, RigError::Stopped);
        return Err(if is_stopped { InterruptedEarly.into() } else { error.into() });
    }
    let mut directory = reserved.begin(&network_suite::manifest(base, &plan))?;
    let mut recorded = RunRecorder::begin(&mut directory, plan)?;
    let ended = network_suite::conduct(&mut rig, &mut recorded, &stop, &output::say)?;
    recorded.end(match ended {
        Ended::Done => EndReason::Blocks,
        Ended::Stopped => EndReason::Interrupted,
    })?;
    FscacheRun::new(directory, ended)
}

/// Searches for the link rates up to which a cache pays.
fn search_break_even(options: &FscacheOptions) -> anyhow::Result<FscacheRun> {
    let run = RunRecord { blocks: None, ..run_record("run", options) };
    let asked = plan(options, run.seed)?;
    let link = options.network.link.unwrap_or_default();
    let asked = Plan { link, ..asked };
    let search = BreakEven::new(&options.network.break_even, &asked, options.guests.confidence);
    let search = search.or_input_error()?;
    let opened = open(options, run, &search.plan())?;
    let OpenedRun { mut rig, stop, base, reserved, counts } = opened;
    let search = search.with_counts(counts);
    let mut directory = reserved.begin(&search.manifest(base))?;
    let ended = break_even::search(&mut rig, &mut directory, &search, &stop, &output::say)?;
    FscacheRun::new(directory, ended)
}

/// What a run has when it starts to measure.
struct OpenedRun {
    rig: NetworkRig,
    stop: Arc<AtomicBool>,
    base: Manifest,
    /// Its directory, still without a manifest.
    reserved: ReservedDirectory,
    /// What the guests' kernel counts.
    counts: KernelCounts,
}

/// Waits for this run's turn on this computer, and sets up the rig that a plan needs.
fn open(options: &FscacheOptions, run: RunRecord, plan: &Plan) -> anyhow::Result<OpenedRun> {
    let FscacheOptions { guests: how, network: arguments, kernel, .. } = options;
    if let Some(path) = &how.out {
        RunDirectory::check_new(path).or_input_error()?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let lab = Lab::for_user().or_input_error()?;
    let kernel = kernel_for(plan, &lab, kernel.release.as_deref())?;
    let counts = KernelCounts::of_guests(&kernel)?;
    if counts.netfs == NetfsStatistics::Absent {
        output::say(&format!(
            "Linux {} has no /proc/fs/netfs/stats (6.8 and newer have): reads from the cache that \
             fail are not counted",
            kernel.release
        ));
    }
    let counts = match arguments.cache_times {
        true => counts.with_times(&kernel).or_input_error()?,
        false => counts,
    };
    start::take_signals(&stop)?;
    start::take_turn(Purpose::Time, how.no_wait, &stop)?;
    let conditions = conditions(&lab, kernel, arguments, &stop)?;
    let run = RunRecord { guest_kernel: Some(conditions.kernel.release.clone()), ..run };
    let rig = NetworkRig::new(conditions, plan)?;
    let reserved = runner::run_directory(how.out.as_deref(), &run).or_input_error()?;
    let (_, _, clock) = start::clock();
    let base = runner::manifest(run, &how.scratch, clock);
    Ok(OpenedRun { rig, stop, base, reserved, counts })
}

/// Prints the closing tables, or the run in another format, and writes its page.
pub(super) fn print(directory: &RunDirectory, format: Format) -> anyhow::Result<()> {
    let run: Run = directory.read()?;
    let form = ReportForm::full(format);
    let source = form.source(&run, directory.path());
    output::print_report(&source, &form)?;
    page::write_into(directory, &source);
    output::print_path(directory.path(), &form)
}

fn plan(options: &FscacheOptions, seed: u64) -> anyhow::Result<Plan> {
    let arguments = &options.network;
    let plan = Plan {
        states: or_default(&arguments.states, &NetworkState::ALL),
        versions: or_default(&arguments.nfs, &[Version::V42]),
        caches: or_default(&arguments.cache_fs, &["ext4".to_owned()]),
        link: arguments
            .link
            .unwrap_or(Shape { rate_bits_per_s: Some(LINK_BITS_PER_S), ..Shape::default() }),
        benchmarks: benchmarks(options)?,
        runs: runs(options),
        content: content(arguments, seed),
        cache_bytes: arguments.cache_size,
        cache_disk: arguments.cache_disk.unwrap_or_default(),
        limits: arguments.cull_limits(),
        counts: KernelCounts::default(),
        mount: None,
    };
    plan.check().or_input_error()?;
    Ok(plan)
}

/// The benchmarks that were asked for.
pub(super) fn benchmarks(options: &FscacheOptions) -> anyhow::Result<Vec<NetworkBenchmark>> {
    let benchmarks = options.benchmarks.iter().map(|name| name.parse());
    let benchmarks: Vec<NetworkBenchmark> =
        benchmarks.collect::<Result<_, _>>().or_input_error()?;
    Ok(or_default(&benchmarks, &[NetworkBenchmark::File, NetworkBenchmark::Tree]))
}

/// The rounds that were asked for.
pub(super) fn runs(options: &FscacheOptions) -> u32 {
    options.runs.unwrap_or(RUNS)
}

/// The files that were asked for.
pub(super) fn content(arguments: &NetworkArguments, seed: u64) -> Content {
    Content {
        file_bytes: arguments.file.unwrap_or(FILE_BYTES),
        tree: arguments.tree.unwrap_or(TREE),
        seed,
    }
}

/// The given values without duplicates, or the default if none are given.
fn or_default<T: Clone + PartialEq>(given: &[T], default: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for one in if given.is_empty() { default } else { given } {
        if !once.contains(one) {
            once.push(one.clone());
        }
    }
    once
}

/// Finds the kernel, which must support everything that the plan's rig needs.
fn kernel_for(plan: &Plan, lab: &Lab, release: Option<&str>) -> anyhow::Result<Kernel> {
    let kernel = kernel::find(lab, release).or_input_error()?;
    check_kernel(&kernel, plan).or_input_error()?;
    Ok(kernel)
}

/// What the guests are booted from and with.
fn conditions(
    lab: &Lab,
    kernel: Kernel,
    arguments: &NetworkArguments,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<RigConditions> {
    let program = start::this_program()?;
    let further = network_suite::programs();
    let parts = ImageParts { kernel: &kernel, program: &program, further: &further };
    let image = image::build(lab, parts)?;
    if let Some(directory) = &arguments.consoles {
        std::fs::create_dir_all(directory).or_input_error()?;
    }
    let (consoles, stop) = (arguments.consoles.clone(), Some(Arc::clone(stop)));
    Ok(RigConditions { kernel, image, boot_limit: BOOT_LIMIT, consoles, stop })
}

fn check_kernel(kernel: &Kernel, plan: &Plan) -> Result<(), LabError> {
    let known = kernel.knows()?;
    let netem = (plan.link.delay_us > 0 || plan.link.loss_ppm > 0).then_some("netem");
    let needs = network_suite::NEEDS.into_iter().chain(netem);
    let mut needs = needs.chain(plan.caches.iter().map(String::as_str));
    match needs.find(|need| !known.iter().any(|name| name == need)) {
        Some(lacking) => {
            Err(LabError::NoModule { release: kernel.release.clone(), module: lacking.to_owned() })
        }
        None => Ok(()),
    }
}

/// The record of a run that starts now.
pub(super) fn run_record(command: &str, options: &FscacheOptions) -> RunRecord {
    let seed = options.guests.seed.or(Some(SEED));
    let record = options.guests.record(command, SUITE, RunKind::Networked, seed);
    RunRecord { blocks: Some(runs(options)), ..record }
}
