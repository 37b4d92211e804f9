//! Tracing a target: a guest is booted, does its job, and leaves a trace with all its names.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use footprint::description::{Description, Identity, Named, Repetitions, Subject};
use footprint_guest::{Failed, Job, JobOutcome, TracedCall, inside};
use footprint_symbols::describe::{KernelSources, Sources, describe};
use footprint_symbols::touched::Touched;
use footprint_trace::attachments;
use footprint_trace::reader::{Cut, TraceReader};
use lab::{Boot, BootError, Image, Kernel, Plugin};

use crate::error::TracingError;
use crate::{GuestTarget, TracingPlan};

/// Bytes that a trace never exceeds: a thousand times what one of the suite has.
const LIMIT_BYTES: u64 = 4 << 30;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// What all targets are traced with.
#[derive(Clone, Debug)]
pub struct Tracer {
    /// The guest's kernel.
    pub kernel: Kernel,
    /// The guest's files.
    pub image: Image,
    /// The plugin that writes traces, as a shared library.
    pub library: PathBuf,
    /// Set by a signal's handler to end a guest early.
    pub stop: Arc<AtomicBool>,
}

/// A target that was traced.
#[derive(Clone, Debug)]
pub struct TargetTraced {
    /// What the guest did.
    pub outcome: JobOutcome,
    /// The names of the trace's addresses, which are in the trace too.
    pub description: Description,
}

impl Tracer {
    /// Boots a guest that does the plan on the target, and writes the trace to `trace`, where
    /// nothing may be. An operation that failed is told in the outcome.
    ///
    /// # Errors
    /// The guest fails, or cannot make the target, or the trace cannot be named or is not whole.
    /// What was traced by then is kept, with the names that can be found.
    pub fn trace(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        trace: &Path,
    ) -> Result<TargetTraced, TracingError> {
        if plan.operations.is_empty() {
            let lacking = format!("{} supports none of the operations", target.file_system);
            return Err(TracingError::NoOperation(lacking));
        }
        let handed = tempfile::tempdir().map_err(at(Path::new("/tmp")))?;
        let mut boot = self.boot(target, plan)?;
        boot.plugin = Some(self.plugin(trace));
        let outcome = match perform(&boot, handed.path()) {
            Ok(outcome) => outcome,
            Err(error) => {
                // What failed first is what is told, whether or not there are names.
                let _named = self.rescue(target, plan, (trace, handed.path()), &error);
                return Err(error);
            }
        };
        let is_of_target = |failed: &&Failed| failed.operation.is_none();
        if let Some(failed) = outcome.failed.iter().find(is_of_target) {
            // Nothing was traced.
            fs::remove_file(trace).map_err(at(trace))?;
            return Err(TracingError::Target(failed.why.clone()));
        }
        let stops = attachments::end_early(trace)?;
        let (description, cut) = self.describe(target, plan, (trace, handed.path()), &outcome)?;
        let attached = footprint_symbols::attach_description(trace, &description);
        if stops || cut.is_some() {
            let cut = cut.filter(|_| !stops);
            return Err(TracingError::Cut { path: trace.to_owned(), cut });
        }
        attached?;
        Ok(TargetTraced { outcome, description })
    }

    /// Gives names to the trace of a guest that did not come to its end. What the guest has not
    /// handed back is taken from another boot, in which nothing is done on the target: code lies
    /// at the same addresses, data does not.
    fn rescue(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        (trace, handed): (&Path, &Path),
        error: &TracingError,
    ) -> Result<(), TracingError> {
        attachments::end_early(trace)?;
        let mut outcome =
            JobOutcome { kernel: self.kernel.release.clone(), ..JobOutcome::default() };
        let mut nameless = "data has";
        let wants_end = matches!(error, TracingError::Boot(BootError::Stopped));
        if !wants_end && !handed.join(inside::SYMBOLS).exists() {
            let idle = TracingPlan { operations: Vec::new(), ..plan.clone() };
            outcome = perform(&self.boot(target, &idle)?, handed).unwrap_or(outcome);
            for of_another_boot in [inside::MEMORY, inside::MAPPINGS] {
                let _is_missing = fs::remove_file(handed.join(of_another_boot));
            }
        }
        let described = self.describe(target, plan, (trace, handed), &outcome);
        let mut description = described.map(|(description, _)| description).unwrap_or_else(|_| {
            nameless = "addresses have";
            self.labelled(target, plan, &outcome)
        });
        description.missing = Some(format!(
            "the guest did not finish, so operations can be missing, and {nameless} no names"
        ));
        Ok(footprint_symbols::attach_description(trace, &description)?)
    }

    fn boot(&self, target: &GuestTarget, plan: &TracingPlan) -> Result<Boot, TracingError> {
        let job = Job {
            target: target.in_guest().to_string(),
            operations: plan.operations.clone(),
            warm_up: plan.warm_up,
            repetitions: plan.repetitions,
            state: plan.state,
        };
        let mut boot = self.boot_for(target);
        boot.job = vec![(
            inside::JOB.to_owned(),
            serde_json::to_vec(&job).map_err(TracingError::Outcome)?,
        )];
        Ok(boot)
    }

    /// The plugin that writes what is marked into a trace.
    pub(crate) fn plugin(&self, trace: &Path) -> Plugin {
        Plugin {
            library: self.library.clone(),
            trace: trace.to_owned(),
            options: vec!["regions=marked".to_owned(), format!("limit={LIMIT_BYTES}")],
        }
    }

    /// A guest that has memory and a device for the target, and no job.
    pub(crate) fn boot_for(&self, target: &GuestTarget) -> Boot {
        let mut boot = Boot::new(self.kernel.clone(), self.image.clone());
        boot.memory_bytes = target.memory_bytes();
        // How large the guest's device is.
        let size = target.size_bytes() >> 10;
        boot.arguments = vec![
            "brd.rd_nr=1".to_owned(),
            format!("brd.rd_size={size}"),
            "no_hash_pointers".to_owned(),
        ];
        boot.stop = Some(Arc::clone(&self.stop));
        boot
    }

    fn describe(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        of: (&Path, &Path),
        outcome: &JobOutcome,
    ) -> Result<(Description, Option<Cut>), TracingError> {
        let (Description { functions, inlined, data, types, .. }, cut) = self.named(of)?;
        let labelled = self.labelled(target, plan, outcome);
        Ok((Description { functions, inlined, data, types, ..labelled }, cut))
    }

    /// The names of a trace's addresses, by what the guest has handed back, and why the trace was
    /// cut if it was.
    pub(crate) fn named(
        &self,
        (trace, handed): (&Path, &Path),
    ) -> Result<(Description, Option<Cut>), TracingError> {
        let file = File::open(trace).map_err(at(trace))?;
        let mut reader = TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, file))?;
        let touched = Touched::of(&mut reader)?;
        let cut = reader.ending().and_then(|ending| ending.cut);
        let text = |name: &str| fs::read_to_string(handed.join(name)).ok();
        let symbols = text(inside::SYMBOLS).unwrap_or_default();
        let (memory, mappings) = (text(inside::MEMORY), text(inside::MAPPINGS));
        let types = types(&handed.join(inside::TYPES));
        let vmlinux = types.iter().find(|(name, _)| name == "vmlinux");
        let modules: Vec<(&str, &[u8])> = types
            .iter()
            .filter(|(name, _)| name != "vmlinux")
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect();
        let debug_file = self.kernel.debug_file();
        let kernel = KernelSources {
            kallsyms: &symbols,
            vmlinux: debug_file.as_deref(),
            types: vmlinux.map(|(_, bytes)| bytes.as_slice()),
            module_types: &modules,
            memory: memory.as_deref(),
            mappings: mappings.as_deref(),
        };
        let sources = Sources { kernel: Some(kernel), images: Vec::new() };
        Ok((describe(&touched, &sources)?, cut))
    }

    /// What was traced, without the names of any address.
    fn labelled(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        outcome: &JobOutcome,
    ) -> Description {
        let operations =
            TracedCall::all().map(|call| Named { number: call.number(), name: call.to_string() });
        Description {
            subject: self.subject(target, outcome),
            regions: vec![Named { number: 0, name: target.spec.label.clone() }],
            operations: operations.collect(),
            repetitions: Repetitions { warm_up: 0, traced: plan.repetitions },
            ..Description::default()
        }
    }

    fn subject(&self, target: &GuestTarget, outcome: &JobOutcome) -> Subject {
        let identity =
            |name: &str, value: &str| Identity { name: name.to_owned(), value: value.to_owned() };
        let facts = outcome.target.as_ref();
        let options = facts.map(|facts| identity("mount options", &facts.mount_options));
        let mkfs = facts.and_then(|facts| facts.mkfs.as_deref());
        let mkfs = mkfs.map(|mkfs| identity("mkfs", mkfs));
        Subject {
            title: format!("{} on Linux {}", target.spec.label, outcome.kernel),
            kernel: Some(outcome.kernel.clone()),
            identities: options.into_iter().chain(mkfs).collect(),
            ..Subject::default()
        }
    }
}

/// Has a guest do its job, and reads what it says of it.
fn perform(boot: &Boot, handed: &Path) -> Result<JobOutcome, TracingError> {
    boot.run(handed)?;
    let outcome = handed.join(inside::OUTCOME);
    let outcome = fs::read(&outcome).map_err(at(&outcome))?;
    serde_json::from_slice(&outcome).map_err(TracingError::Outcome)
}

/// The kernel's types that were handed back, by the name of their file.
fn types(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut types: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, fs::read(entry.path()).ok()?))
        })
        .collect();
    types.sort();
    types
}

pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> TracingError {
    let path = path.to_owned();
    |source| TracingError::File { path, source }
}
