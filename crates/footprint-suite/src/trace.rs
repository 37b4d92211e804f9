//! Traces a target: boots a guest, which does its job, and writes a trace with all its names.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use footprint::description::{Description, Identity, NumberedName, Repetitions, Subject};
use footprint_guest::{Failed, Job, JobOutcome, TracedCall, inside};
use footprint_symbols::describe::{KernelSources, Sources, describe};
use footprint_symbols::touched::TouchedAddresses;
use footprint_trace::attachments;
use footprint_trace::reader::{CutReason, TraceReader};
use lab::densefs::{DenseFsModule, Layout};
use lab::{Boot, BootError, Image, Kernel, LabError, Plugin};

use crate::error::TracingError;
use crate::{GuestTarget, TracingPlan};

/// Size limit of a trace: a thousand times the size of one of the suite's.
const LIMIT_BYTES: u64 = 4 << 30;

/// Size of a buffered read.
const BUFFER_BYTES: usize = 1 << 18;

/// What is needed to trace any target.
#[derive(Clone, Debug)]
pub struct Tracer {
    /// The guest's kernel.
    pub kernel: Kernel,
    /// The image that the guest boots.
    pub image: Image,
    /// DenseFS for the kernel in those layouts that the lab has, the one that was asked for last
    /// first.
    pub densefs: Vec<DenseFsModule>,
    /// The plugin that writes traces, as a shared library.
    pub library: PathBuf,
    /// Set by a signal handler to end a guest early.
    pub stop: Arc<AtomicBool>,
}

/// A target that was traced.
#[derive(Clone, Debug)]
pub struct TargetTraced {
    /// What the guest did.
    pub outcome: JobOutcome,
    /// The names of the trace's addresses, which are also in the trace.
    pub description: Description,
}

impl Tracer {
    /// Boots a guest that executes the plan on the target, and writes the trace to `trace`, where
    /// there must be no file. Operations that failed are listed in the outcome.
    ///
    /// # Errors
    /// If the guest fails or cannot make the target, or if the trace cannot be named or is
    /// incomplete. What had been traced is kept, with the names that can be found.
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
        let handed = tempfile::tempdir().map_err(file_error(Path::new("/tmp")))?;
        let mut boot = self.boot(target, plan)?;
        boot.plugin = Some(self.plugin(trace));
        let outcome = match perform(&boot, handed.path()) {
            Ok(outcome) => outcome,
            Err(error) => {
                // Report the first failure, whether or not names can be found.
                let _named = self.rescue(target, plan, trace, handed.path(), &error);
                return Err(error);
            }
        };
        let is_of_target = |failed: &&Failed| failed.operation.is_none();
        if let Some(failed) = outcome.failed.iter().find(is_of_target) {
            // Nothing was traced.
            fs::remove_file(trace).map_err(file_error(trace))?;
            return Err(TracingError::Target(failed.why.clone()));
        }
        let stops = attachments::end_early(trace)?;
        let (description, cut) = self.describe(target, plan, trace, handed.path(), &outcome)?;
        let attached = footprint_symbols::attach_description(trace, &description);
        if stops || cut.is_some() {
            let cut = cut.filter(|_| !stops);
            return Err(TracingError::Cut { path: trace.to_owned(), cut });
        }
        attached?;
        Ok(TargetTraced { outcome, description })
    }

    /// Names the addresses in the trace of a guest that did not finish. What the guest has not
    /// handed back is taken from another boot, in which nothing is done on the target: code is at
    /// the same addresses there, but data is not.
    fn rescue(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        trace: &Path,
        handed: &Path,
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
        let described = self.describe(target, plan, trace, handed, &outcome);
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
        if target.needs_module() {
            let is_it = |one: &&DenseFsModule| target.layout.is_none_or(|of| one.layout == of);
            let (release, layout) = (self.kernel.release.clone(), target.layout.map(Layout::name));
            let module = self.densefs.iter().find(is_it);
            let module = module.ok_or(LabError::NoDenseFs { release, layout })?;
            boot.job.push(module.job_file()?);
            boot.arguments.extend(DenseFsModule::arguments(target.size_bytes()));
        }
        Ok(boot)
    }

    /// The plugin, set up to write the marked regions to a trace.
    pub(crate) fn plugin(&self, trace: &Path) -> Plugin {
        Plugin {
            library: self.library.clone(),
            trace: trace.to_owned(),
            options: vec!["regions=marked".to_owned(), format!("limit={LIMIT_BYTES}")],
        }
    }

    /// A boot with memory and a device for the target, without a job.
    pub(crate) fn boot_for(&self, target: &GuestTarget) -> Boot {
        let mut boot = Boot::new(self.kernel.clone(), self.image.clone());
        boot.memory_bytes = target.memory_bytes();
        // Size of the guest's device, in KiB.
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
        trace: &Path,
        handed: &Path,
        outcome: &JobOutcome,
    ) -> Result<(Description, Option<CutReason>), TracingError> {
        let (Description { functions, inlined, data, types, .. }, cut) =
            self.named(trace, handed)?;
        let labelled = self.labelled(target, plan, outcome);
        Ok((Description { functions, inlined, data, types, ..labelled }, cut))
    }

    /// The names of a trace's addresses, from what the guest has handed back, and why the trace was
    /// cut, if it was.
    pub(crate) fn named(
        &self,
        trace: &Path,
        handed: &Path,
    ) -> Result<(Description, Option<CutReason>), TracingError> {
        let file = File::open(trace).map_err(file_error(trace))?;
        let mut reader = TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, file))?;
        let touched = TouchedAddresses::read(&mut reader)?;
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

    /// A description of what was traced, without the names of addresses.
    fn labelled(
        &self,
        target: &GuestTarget,
        plan: &TracingPlan,
        outcome: &JobOutcome,
    ) -> Description {
        let operations = TracedCall::all()
            .map(|call| NumberedName { number: call.number(), name: call.to_string() });
        Description {
            subject: self.subject(target, outcome),
            regions: vec![NumberedName { number: 0, name: target.spec.label.clone() }],
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

/// Lets a guest do its job, and reads the outcome.
fn perform(boot: &Boot, handed: &Path) -> Result<JobOutcome, TracingError> {
    boot.run(handed)?;
    let outcome = handed.join(inside::OUTCOME);
    let outcome = fs::read(&outcome).map_err(file_error(&outcome))?;
    serde_json::from_slice(&outcome).map_err(TracingError::Outcome)
}

/// The kernel's types (BTF) that were handed back, each with the name of its file.
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

pub(crate) fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> TracingError {
    let path = path.to_owned();
    |source| TracingError::File { path, source }
}
