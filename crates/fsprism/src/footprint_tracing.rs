//! Tracing targets in guests, several at a time: what `run footprint` and `footprint trace` share.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ::lab::{Kernel, Lab, Parts, image, kernel};
use footprint_guest::TracedCall;
use footprint_suite::{GuestTarget, Plan, SUFFIX, Traced, Tracer, TracingError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::exit::Blame;
use crate::{lab, output};

/// A lab that is ready to trace.
pub(crate) struct Tracing {
    tracer: Tracer,
    stop: Arc<AtomicBool>,
    /// Holds the plugin's library as long as guests need it.
    _library: TempDir,
}

/// A target, its trace, and what came of it.
pub(crate) struct OfTarget {
    pub(crate) target: GuestTarget,
    /// What was to be done: all but what is left out.
    pub(crate) plan: Plan,
    /// Operations that mean nothing on the target, each with why.
    pub(crate) left_out: Vec<(TracedCall, String)>,
    pub(crate) trace: PathBuf,
    pub(crate) traced: Result<Traced, TracingError>,
}

impl Tracing {
    /// The guests' kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.tracer.kernel
    }

    /// Takes the kernel of this release, or the one that was built last, and packs the image.
    pub(crate) fn open(release: Option<&str>) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let lab = Lab::of_user().blame_input()?;
        let kernel = kernel::find(&lab, release).blame_input()?;
        let program = lab::this_program()?;
        let image = image::build(&lab, Parts { kernel: &kernel, program: &program })?;
        let directory = TempDir::new()?;
        let library = footprint_library::write_into(directory.path())?;
        let tracer = Tracer { kernel, image, library, stop: Arc::clone(&stop) };
        Ok(Self { tracer, stop, _library: directory })
    }

    /// Whether a signal asked for the end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Traces the targets, as many at a time as there are processors, each into a file of its
    /// label in `directory`. What fails does not keep the others from being traced.
    pub(crate) fn trace(
        &self,
        targets: Vec<GuestTarget>,
        plan: &Plan,
        directory: &Path,
    ) -> Vec<OfTarget> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = processors.min(targets.len());
        let queue: Mutex<VecDeque<_>> = Mutex::new(targets.into_iter().enumerate().collect());
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((at, target)) = take(&queue) {
                        let one = self.trace_one(target, plan, directory);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, one)| one).collect()
    }

    fn trace_one(&self, target: GuestTarget, plan: &Plan, directory: &Path) -> OfTarget {
        let trace = directory.join(trace_name(&target.spec.label));
        let (operations, left_out) = target.divide(&plan.operations);
        let plan = Plan { operations, ..plan.clone() };
        let begun = Instant::now();
        let traced = self.tracer.trace(&target, &plan, &trace);
        if traced.is_ok() {
            let seconds = begun.elapsed().as_secs_f64();
            output::say(&format!("{}: traced in {seconds:.1} s", target.spec.label));
        }
        OfTarget { target, plan, left_out, trace, traced }
    }
}

fn take<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The name of the file with a target's trace, which QEMU's options can hold: no two labels have
/// one.
pub(crate) fn trace_name(label: &str) -> String {
    let mut name = String::new();
    for &byte in label.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' => {
                name.push(char::from(byte));
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{name}.{SUFFIX}")
}

#[cfg(test)]
mod tests {
    use super::trace_name;

    #[test]
    fn labels_have_names_of_their_own() {
        assert_eq!(trace_name("xfs-5.1"), "xfs-5.1.trace");
        assert_eq!(trace_name("xfs:mkfs=-m crc=0,a"), "xfs%3amkfs%3d-m%20crc%3d0%2ca.trace");
        assert_ne!(trace_name("a b"), trace_name("a_b"));
    }
}
