//! `fsprism run fscache`: a network file system in every state of its caches, measured in a rig of
//! guests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::lab::rig::{RigConditions, RigError, Shape};
use ::lab::{Kernel, Lab, LabError, Parts, image, kernel};
use machine::turn::Purpose;
use network_guest::Version;
use network_guest::content::{Content, TreeShape};
use network_suite::break_even::{self, BreakEven};
use network_suite::{Ended, NetworkBenchmark, NetworkRig, NetworkState, Plan, Recorded, SUITE};
use record::{EndReason, Manifest, ReservedDirectory, Run, RunDirectory, RunRecord};

use crate::arguments::network::NetworkArguments;
use crate::arguments::{Format, Measuring, Order, RunOptions};
use crate::commands::{lab, mounted};
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::output::{self, Form, page};
use crate::session::start;

/// Bytes of the large file by default.
const FILE_BYTES: u64 = 20 << 20;
/// The tree by default: a tenth of the paper's.
const TREE: TreeShape = TreeShape { directories: 123, files: 2000 };
/// Bits per second of the link by default: what emulation keeps up with.
const LINK_BITS_PER_S: u64 = 20_000_000;
/// Rounds by default, as in the paper.
pub(crate) const RUNS: u32 = 3;
/// Seed of the files unless another is given: two runs read the same ones.
const SEED: u64 = 1;
/// How long a guest may take to come up.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    let measuring = &options.measuring;
    refuse_what_has_no_effect(options)?;
    if let Some(at) = &options.network.at {
        return mounted::run(options, at);
    }
    let kernel = options.tracing.kernel.as_deref();
    let arguments = &options.network;
    let made = if arguments.break_even.is_empty() {
        made("run", (arguments, kernel), measuring)?
    } else {
        refuse_what_is_searched(measuring)?;
        searched((arguments, kernel), measuring)?
    };
    print(&made.directory, measuring.output.format)?;
    Ok(made.done())
}

/// A run that was made.
pub(crate) struct Made {
    pub(crate) directory: RunDirectory,
    ended: Ended,
    /// Whether a cell could not be measured.
    failed: bool,
}

impl Made {
    /// A run that ended so.
    pub(crate) fn of(directory: RunDirectory, ended: Ended) -> anyhow::Result<Self> {
        let failed = |line: &record::Line| matches!(line, record::Line::CellFailed(_));
        let failed = directory.read()?.lines.iter().any(failed);
        Ok(Self { directory, ended, failed })
    }

    /// How the command ends that made it.
    pub(crate) fn done(&self) -> Done {
        match self.ended {
            Ended::Stopped => Done::Interrupted,
            Ended::Done if self.failed => Done::WithFailures,
            Ended::Done => Done::Well,
        }
    }
}

/// Measures for a command, which prints what it makes of the run.
pub(crate) fn made(
    command: &str,
    (arguments, release): (&NetworkArguments, Option<&str>),
    measuring: &Measuring,
) -> anyhow::Result<Made> {
    let run = run_record(command, measuring);
    let plan = plan(arguments, measuring, run.seed)?;
    let opened = opened((arguments, release), (run, &plan), measuring)?;
    let Opened { mut rig, stop, base, reserved } = opened;
    output::say("booting the server");
    if let Err(error) = rig.serve(&plan) {
        reserved.give_up()?;
        let is_stopped = matches!(error, RigError::Stopped);
        return Err(if is_stopped { InterruptedEarly.into() } else { error.into() });
    }
    let mut directory = reserved.begin(&network_suite::manifest(base, &plan))?;
    let mut recorded = Recorded::begin(&mut directory, plan)?;
    let ended = network_suite::conduct(&mut rig, &mut recorded, &stop, &output::say)?;
    recorded.end(match ended {
        Ended::Done => EndReason::Blocks,
        Ended::Stopped => EndReason::Interrupted,
    })?;
    Made::of(directory, ended)
}

/// Searches for the rates up to which a cache pays.
fn searched(
    (arguments, release): (&NetworkArguments, Option<&str>),
    measuring: &Measuring,
) -> anyhow::Result<Made> {
    let run = RunRecord { blocks: None, ..run_record("run", measuring) };
    let asked = plan(arguments, measuring, run.seed)?;
    let link = arguments.link.unwrap_or_default();
    let asked = Plan { link, ..asked };
    let search = BreakEven::new(&arguments.break_even, &asked, measuring.confidence);
    let search = search.blame_input()?;
    let opened = opened((arguments, release), (run, &search.plan()), measuring)?;
    let Opened { mut rig, stop, base, reserved } = opened;
    let mut directory = reserved.begin(&search.manifest(base))?;
    let rig = (&mut rig, &mut directory);
    let ended = break_even::search(rig, &search, &stop, &output::say)?;
    Made::of(directory, ended)
}

/// What a run has when it begins to measure.
struct Opened {
    rig: NetworkRig,
    stop: Arc<AtomicBool>,
    base: Manifest,
    /// Its directory, before it begins.
    reserved: ReservedDirectory,
}

/// Takes the turn of this computer and sets up the rig that a plan needs.
fn opened(
    (arguments, release): (&NetworkArguments, Option<&str>),
    (run, plan): (RunRecord, &Plan),
    measuring: &Measuring,
) -> anyhow::Result<Opened> {
    if let Some(path) = &measuring.out {
        RunDirectory::check_new(path).blame_input()?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let lab = Lab::of_user().blame_input()?;
    let kernel = kernel_for(plan, &lab, release)?;
    start::take_signals(&stop)?;
    start::take_turn(Purpose::Time, measuring.making.no_wait, &stop)?;
    let conditions = conditions(&lab, kernel, arguments, &stop)?;
    let run = RunRecord { guest_kernel: Some(conditions.kernel.release.clone()), ..run };
    let rig = NetworkRig::new(conditions, plan)?;
    let reserved = runner::run_directory(measuring.out.as_deref(), &run).blame_input()?;
    let (_, _, clock) = start::clock();
    let base = runner::manifest(run, measuring.making.scratch(), clock);
    Ok(Opened { rig, stop, base, reserved })
}

/// Prints the closing tables, or the run in another format, and writes its page.
pub(crate) fn print(directory: &RunDirectory, format: Format) -> anyhow::Result<()> {
    let run: Run = directory.read()?;
    let form = Form::full(format);
    let source = form.source(&run, directory.path());
    output::print_report(&source, &form)?;
    page::write_into(directory, &source);
    output::print_path(directory.path(), &form)
}

/// A run of guests that are gone cannot be resumed.
pub(crate) fn refuse_to_resume(path: &Path) -> anyhow::Result<()> {
    // What cannot be read is refused by who would resume it.
    if Run::read(path).is_ok_and(|run| run.manifest.run.suite == SUITE) {
        let path = path.display();
        let why =
            anyhow::anyhow!("{path} is a run of {SUITE}, which cannot be resumed: run it anew");
        return Err(why).blame_input();
    }
    Ok(())
}

/// Options that say nothing of a rig must not look as if they did.
fn refuse_what_has_no_effect(options: &RunOptions) -> anyhow::Result<()> {
    let (measuring, tracing) = (&options.measuring, &options.tracing);
    let given = [
        (measuring.resume.is_some(), "--resume"),
        (measuring.size.is_some(), "--size (use --file or --tree)"),
        (measuring.verify, "--verify"),
        (measuring.offered.rate.is_some(), "--rate (use --link)"),
        (measuring.order != Order::Random, "--order"),
        (measuring.dry_run, "--dry-run"),
        (measuring.plan_for.is_some(), "--plan-for"),
        (measuring.budget.is_some(), "--budget (use --runs)"),
        (measuring.making.aged.is_some(), "--aged"),
        (!measuring.making.destroy_data.is_empty(), "--destroy-data"),
        (!options.targets.is_empty(), "targets (use --nfs and --cache-fs)"),
        (!tracing.operations.is_empty(), "--op"),
        (tracing.cold, "--cold (use --states)"),
        (tracing.beside, "--beside"),
        (!options.simulated.caches.is_empty(), "--cache (use --cache-fs)"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            let why = anyhow::anyhow!("run {SUITE} does not take {option}");
            Err(why).blame_input()
        }
        None => Ok(()),
    }
}

/// What a search decides itself must not look as if it were asked for.
fn refuse_what_is_searched(measuring: &Measuring) -> anyhow::Result<()> {
    let given = [
        (!measuring.benchmarks.is_empty(), "--benchmark"),
        (measuring.runs.or(measuring.blocks).is_some(), "--runs or --blocks"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            let why = anyhow::anyhow!("--break-even does not take {option}: leave it out");
            Err(why).blame_input()
        }
        None => Ok(()),
    }
}

fn plan(arguments: &NetworkArguments, measuring: &Measuring, seed: u64) -> anyhow::Result<Plan> {
    let plan = Plan {
        states: or_default(&arguments.states, &NetworkState::ALL),
        versions: or_default(&arguments.nfs, &[Version::V42]),
        caches: or_default(&arguments.cache_fs, &["ext4".to_owned()]),
        link: arguments
            .link
            .unwrap_or(Shape { rate_bits_per_s: Some(LINK_BITS_PER_S), ..Shape::default() }),
        benchmarks: benchmarks(measuring)?,
        runs: runs(measuring),
        content: content(arguments, seed),
        cache_bytes: arguments.cache_size,
        mount: None,
    };
    plan.check().blame_input()?;
    Ok(plan)
}

/// The benchmarks that were asked for.
pub(crate) fn benchmarks(measuring: &Measuring) -> anyhow::Result<Vec<NetworkBenchmark>> {
    let benchmarks = measuring.benchmarks.iter().map(|name| name.parse());
    let benchmarks: Vec<NetworkBenchmark> = benchmarks.collect::<Result<_, _>>().blame_input()?;
    Ok(or_default(&benchmarks, &[NetworkBenchmark::File, NetworkBenchmark::Tree]))
}

/// The rounds that were asked for.
pub(crate) fn runs(measuring: &Measuring) -> u32 {
    measuring.runs.or(measuring.blocks).unwrap_or(RUNS)
}

/// The files that were asked for.
pub(crate) fn content(arguments: &NetworkArguments, seed: u64) -> Content {
    Content {
        file_bytes: arguments.file.unwrap_or(FILE_BYTES),
        tree: arguments.tree.unwrap_or(TREE),
        seed,
    }
}

/// What was given, each once; else the default.
fn or_default<T: Clone + PartialEq>(given: &[T], default: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for one in if given.is_empty() { default } else { given } {
        if !once.contains(one) {
            once.push(one.clone());
        }
    }
    once
}

/// The kernel, which must know everything that the rig of a plan needs.
fn kernel_for(plan: &Plan, lab: &Lab, release: Option<&str>) -> anyhow::Result<Kernel> {
    let kernel = kernel::find(lab, release).blame_input()?;
    check_kernel(&kernel, plan).blame_input()?;
    Ok(kernel)
}

/// What guests are made of.
fn conditions(
    lab: &Lab,
    kernel: Kernel,
    arguments: &NetworkArguments,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<RigConditions> {
    let program = lab::this_program()?;
    let further = network_suite::programs();
    let parts = Parts { kernel: &kernel, program: &program, further: &further };
    let image = image::build(lab, parts)?;
    if let Some(directory) = &arguments.consoles {
        std::fs::create_dir_all(directory).blame_input()?;
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

/// The record of a run that begins now.
pub(crate) fn run_record(command: &str, measuring: &Measuring) -> RunRecord {
    RunRecord {
        budget_s: measuring.budget().as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: Some(runs(measuring)),
        ..runner::run_record(command, SUITE, measuring.seed.or(Some(SEED)))
    }
}
