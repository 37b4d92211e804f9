//! `fsprism run sprite-lfs --cache-traffic`: what its phases move into and out of caches, counted
//! in guests, as a run beside the timed one.

use std::time::Instant;

use ::caches::Hierarchy;
use footprint_suite::{GuestTarget, PhasesPlan, PhasesTraced, SEED};
use record::{
    EndReason, Manifest, RunDirectory, RunKind, RunRecord, SimulatedCaches, Skipped,
    SpriteLfsOptions, SpriteLfsRun, TargetRecord, traffic,
};
use runner::Journal;
use suites::classic::sprite_lfs;

use crate::arguments::footprint_values::{CacheArgument, cache};
use crate::arguments::sprite_lfs::words;
use crate::commands::suites::footprint::{caches, recorded_caches};
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output;
use crate::session::tracing::Guests;

/// Executions of the phases on each target, not counting the first, which is dropped.
const EXECUTIONS: u32 = 3;
/// Limit on the bytes that all phases of one execution read and write together. The trace of that
/// much takes half a gigabyte, and a guest some minutes.
const BYTES_MAX: u64 = 96 << 20;

/// The caches of the computer in "The Effects of Memory-Rich Environments": a Pentium III Xeon of
/// 1 GHz with 256 KB of Advanced Transfer Cache (Table 1).
const CACHES_OF_PAPER: [&str; 3] = ["l1i=16k,32,4", "l1d=16k,32,4", "l2=256k,32,8"];

/// Counts what the paper counted, beside the run that was made for it.
pub(crate) fn count_for_paper(run: &RunDirectory) -> anyhow::Result<Outcome> {
    let caches: Result<Vec<CacheArgument>, String> =
        CACHES_OF_PAPER.map(cache).into_iter().collect();
    let caches = caches.map_err(anyhow::Error::msg)?;
    Traffic::new(&SpriteLfsOptions::published(), &caches, None)?.add_to(run)
}

/// Everything that is needed to count.
pub(crate) struct Traffic {
    guests: Guests,
    caches: Hierarchy,
    recorded: Option<SimulatedCaches>,
    plan: PhasesPlan,
}

impl Traffic {
    /// Prepares what the command line asks for, and refuses what cannot be counted before anything
    /// is timed.
    pub(crate) fn from_command_line(
        run: &SpriteLfsRun,
        targets: &[String],
        caches: &[CacheArgument],
        kernel: Option<&str>,
    ) -> anyhow::Result<Self> {
        if !run.further_file_bytes.is_empty() {
            let why = "--cache-traffic takes one size of files: give one --file-size";
            return Err(anyhow::anyhow!(why)).or_input_error();
        }
        check_targets(targets).or_input_error()?;
        Self::new(&run.options, caches, kernel)
    }

    /// Prepares to count the phases that these options make, in the given caches or those of this
    /// machine, and in a guest with this kernel or the one built last.
    fn new(
        options: &SpriteLfsOptions,
        given: &[CacheArgument],
        kernel: Option<&str>,
    ) -> anyhow::Result<Self> {
        let bytes = options.file_bytes.saturating_mul(options.files.into());
        if bytes.saturating_mul(sprite_lfs::phases_of(options)) > BYTES_MAX {
            let most = BYTES_MAX >> 20;
            let why = format!("--cache-traffic takes phases that move at most {most}m together");
            let then = "give a smaller --file-size, fewer --files or fewer repetitions";
            return Err(anyhow::anyhow!("{why}: {then}")).or_input_error();
        }
        let Some(caches) = caches(given)? else {
            let why = "--cache-traffic needs caches to simulate: give some with --cache";
            return Err(anyhow::anyhow!(why)).or_input_error();
        };
        let guests = Guests::find(kernel)?;
        if guests.is_stopped() {
            return Err(InterruptedEarly.into());
        }
        let words = [vec!["sprite-lfs".to_owned()], words(options)].concat();
        let plan = PhasesPlan { words, executions: EXECUTIONS };
        let recorded = recorded_caches(given, Some(&caches));
        Ok(Self { guests, caches, recorded, plan })
    }

    /// Counts on the targets of a run, and stores the counts in the run's directory. A target that
    /// cannot be made in a guest is reported.
    pub(crate) fn add_to(&self, run: &RunDirectory) -> anyhow::Result<Outcome> {
        output::say("counting in guests what each phase moves into and out of caches");
        let tracing = self.guests.ready()?;
        let manifest = run.read()?.manifest;
        let mut directory = run.reserve_traffic()?;
        let trace = directory.empty_traces()?.join("trace");
        let begun = Instant::now();
        let (mut traced, mut skipped) = (Vec::new(), Vec::new());
        let mut end = Outcome::Success;
        for target in &manifest.targets {
            let why = match in_guest(target) {
                _ if self.guests.is_stopped() => "it was interrupted".to_owned(),
                Ok(guest) => match tracing.phases(&guest, &self.plan, &self.caches, &trace) {
                    Ok(one) => {
                        traced.push(one);
                        continue;
                    }
                    Err(error) => {
                        end = Outcome::WithFailures;
                        directory.shown(&format!("{:#}", anyhow::Error::from(error)))
                    }
                },
                Err(error) => error.to_string(),
            };
            output::say(&format!("{}: not counted: {why}", target.label));
            skipped.push(Skipped { target: target.label.clone(), why });
        }
        if self.guests.is_stopped() {
            end = Outcome::Interrupted;
        }
        if traced.is_empty() {
            directory.give_up()?;
            return Ok(if end == Outcome::Success { Outcome::WithFailures } else { end });
        }
        directory.remove_traces()?;
        let manifest = self.manifest(manifest, &traced, skipped);
        let mut directory = directory.begin(&manifest)?;
        let mut journal = Journal::begin(&mut directory, manifest.cells.len(), begun)?;
        let mut first_cell = 0;
        for one in &traced {
            for line in one.lines(first_cell) {
                journal.write(&line)?;
            }
            first_cell += u32::try_from(one.cells.len())?;
        }
        journal.end(EndReason::Blocks)?;
        Ok(end)
    }

    /// The manifest of what was counted; otherwise the same as that of the run beside it.
    fn manifest(
        &self,
        manifest: Manifest,
        traced: &[PhasesTraced],
        skipped: Vec<Skipped>,
    ) -> Manifest {
        let run = RunRecord {
            suite: traffic::SUITE.to_owned(),
            kind: RunKind::Traffic,
            seed: SEED,
            blocks: Some(EXECUTIONS),
            guest_kernel: Some(self.guests.kernel().release.clone()),
            simulated_caches: self.recorded.clone(),
            ..manifest.run
        };
        let targets = traced.iter().map(|one| one.target.clone()).collect();
        let cells = traced.iter().flat_map(|one| one.cells.clone()).collect();
        Manifest { run, references: None, skipped, targets, cells, ..manifest }
    }
}

/// Checks that a guest can make at least one of the targets. If none is named, it can make the
/// default ones.
fn check_targets(texts: &[String]) -> anyhow::Result<()> {
    let mut whys = texts.iter().map(|text| GuestTarget::parse_mounted(text).err());
    match whys.next() {
        Some(Some(first)) if whys.all(|why| why.is_some()) => {
            Err(anyhow::anyhow!("--cache-traffic counts in guests: {first}"))
        }
        _ => Ok(()),
    }
}

/// The target of a run as a guest makes it.
fn in_guest(target: &TargetRecord) -> anyhow::Result<GuestTarget> {
    let mut guest = GuestTarget::parse_mounted(&target.specification)?;
    guest.spec.label.clone_from(&target.label);
    Ok(guest)
}
