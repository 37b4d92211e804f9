//! Tracing targets in guests, several at a time: what `run footprint` and `footprint trace` share.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ::lab::{Lab, Parts, image, kernel};
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
    pub(crate) trace: PathBuf,
    pub(crate) traced: Result<Traced, TracingError>,
}

impl Tracing {
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
        let begun = Instant::now();
        let traced = self.tracer.trace(&target, plan, &trace);
        let label = &target.spec.label;
        match &traced {
            Ok(_) => {
                let seconds = begun.elapsed().as_secs_f64();
                output::say(&format!("{label}: traced in {seconds:.1} s"));
            }
            Err(_) if self.is_stopped() => {}
            Err(error) => output::say(&format!("{label}: {error}")),
        }
        OfTarget { target, trace, traced }
    }
}

fn take<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The name of the file with a target's trace, which QEMU's options can hold.
pub(crate) fn trace_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    let name: String = label.chars().map(plain).collect();
    format!("{name}.{SUFFIX}")
}
