//! Traces targets in guests, several at a time: the common part of `run footprint` and `footprint
//! trace`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::caches::Hierarchy;
use ::lab::command::Command;
use ::lab::densefs::Layout;
use ::lab::{
    Boot, BootError, GuestProgram, Image, ImageParts, Kernel, Lab, LabError, densefs, image, kernel,
};
use footprint_suite::{
    ApplicationPlan, ApplicationResult, GuestTarget, PhasesPlan, PhasesTraced, TraceOutcome,
    Tracer, TracingError, TracingPlan,
};
use machine::measuring_lock::Purpose;
use tempfile::TempDir;

use crate::exit::{InterruptedEarly, OrInputError};
use crate::output;
use crate::session::start;

/// What guests need to be traced, found before a run waits for its turn.
pub(crate) struct Guests {
    lab: Lab,
    kernel: Kernel,
    stop: Arc<AtomicBool>,
}

impl Guests {
    /// Finds guests with the kernel of this release, or the one that was built last.
    pub(crate) fn find(release: Option<&str>) -> anyhow::Result<Self> {
        let stop = start::flag_of_signals()?;
        let lab = Lab::for_user().or_input_error()?;
        let kernel = kernel::find(&lab, release).or_input_error()?;
        Ok(Self { lab, kernel, stop })
    }

    /// Their kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether a signal has asked for the end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Checks that the lab has what the targets need, and notes the layout of each DenseFS.
    pub(crate) fn check(&self, targets: &mut [GuestTarget]) -> anyhow::Result<()> {
        let built = densefs::built(&self.lab, &self.kernel);
        for target in targets.iter_mut().filter(|target| target.needs_module()) {
            let (release, layout) = (self.kernel.release.clone(), target.layout.map(Layout::name));
            let found = built.iter().find(|one| target.layout.is_none_or(|of| one.layout == of));
            let found = found.ok_or(LabError::NoDenseFs { release, layout }).or_input_error()?;
            target.layout = Some(found.layout);
        }
        Ok(())
    }

    /// Builds DenseFS for the kernel in the layouts that the targets ask for, unless the lab has
    /// it.
    pub(crate) fn build_densefs(&self, targets: &[GuestTarget]) -> anyhow::Result<()> {
        for layout in targets.iter().filter_map(|target| target.layout) {
            let plan = densefs::plan(&self.lab, &self.kernel, layout).or_input_error()?;
            plan.sentence().iter().for_each(|sentence| output::say(sentence));
            let built = densefs::build_beside(&self.lab, &plan);
            if self.is_stopped() {
                return Err(InterruptedEarly.into());
            }
            built?;
        }
        Ok(())
    }

    /// What a guest prints that runs a script of its shell.
    pub(crate) fn say(&self, script: &str) -> anyhow::Result<String> {
        let boot = Boot {
            stop: Some(Arc::clone(&self.stop)),
            ..Boot::new(self.kernel.clone(), self.image(&[])?)
        };
        let ran = match Command::from_words(&[script.to_owned()]).run(boot) {
            Err(BootError::Stopped) => return Err(InterruptedEarly.into()),
            ran => ran?,
        };
        let said = String::from_utf8_lossy(&ran.output).into_owned();
        anyhow::ensure!(ran.status == 0, "a guest's command failed: {}", said.trim());
        Ok(said)
    }

    fn image(&self, further: &[GuestProgram]) -> anyhow::Result<Image> {
        let program = start::this_program()?;
        let parts = ImageParts { kernel: &self.kernel, program: &program, further };
        Ok(image::build(&self.lab, parts)?)
    }

    /// Waits until no run on this computer is timing, as guests would take processors from it. With
    /// `beside`, does not wait.
    pub(crate) fn take_turn(&self, beside: bool, no_wait: bool) -> anyhow::Result<()> {
        match beside {
            true => Ok(()),
            false => start::take_turn(Purpose::Count, no_wait, &self.stop),
        }
    }

    /// Waits until no other run on this computer is timing or counting: afterwards, this process
    /// can do both.
    pub(crate) fn take_turn_to_time(&self, no_wait: bool) -> anyhow::Result<()> {
        start::take_turn(Purpose::Time, no_wait, &self.stop)
    }

    /// Builds their image, after which they can be traced.
    pub(crate) fn ready(&self) -> anyhow::Result<Tracing> {
        self.ready_with(&[])
    }

    /// Like [`Self::ready`], with more programs in the image.
    pub(crate) fn ready_with(&self, further: &[GuestProgram]) -> anyhow::Result<Tracing> {
        let image = self.image(further)?;
        let directory = TempDir::new()?;
        let library = footprint_library::write_into(directory.path())?;
        let (kernel, stop) = (self.kernel.clone(), Arc::clone(&self.stop));
        let densefs = densefs::built(&self.lab, &self.kernel);
        let tracer = Tracer { kernel, image, densefs, library, stop };
        Ok(Tracing { tracer, _library: directory })
    }
}

/// A lab that is ready to trace.
pub(crate) struct Tracing {
    tracer: Tracer,
    /// Keeps the plugin's library for as long as guests need it.
    _library: TempDir,
}

impl Tracing {
    /// Counts what programs execute and miss on targets, and reports each one that is done.
    pub(crate) fn applications(
        &self,
        all: Vec<(GuestTarget, ApplicationPlan)>,
        caches: &Hierarchy,
        directory: &Path,
    ) -> Vec<ApplicationResult> {
        self.tracer.applications(all, caches, directory, &|program, label, took| {
            output::say(&format!("{program} on {label}: traced in {:.1} s", took.as_secs_f64()));
        })
    }

    /// Counts what the phases of a benchmark move into and out of caches on a target.
    pub(crate) fn phases(
        &self,
        target: &GuestTarget,
        plan: &PhasesPlan,
        caches: &Hierarchy,
        trace: &Path,
    ) -> Result<PhasesTraced, TracingError> {
        self.tracer.phases(target, plan, caches, trace)
    }

    /// Traces the targets into a directory, and reports each one that is done.
    pub(crate) fn trace(
        &self,
        targets: Vec<GuestTarget>,
        plan: &TracingPlan,
        directory: &Path,
    ) -> Vec<TraceOutcome> {
        self.tracer.trace_all(targets, plan, directory, &|label, took| {
            output::say(&format!("{label}: traced in {:.1} s", took.as_secs_f64()));
        })
    }
}
