//! Where targets are made: the private mount namespace, the mount area, and the guardian.
//!
//! It is opened once, before the process starts a second thread. The order matters: first the
//! guardian, then the namespace, so that the guardian stays outside it. On the host, the mount area
//! is one empty directory; the mount points are in a tmpfs that only we see.

use std::io;
use std::sync::Arc;

use rustix::process::Pid;

use crate::availability;
use crate::error::TargetError;
use crate::live::Target;
use crate::spec::{Location, TargetSpec};
use crate::surroundings::Surroundings;
use crate::workshop_inner::WorkshopInner;

/// Makes targets, and leaves nothing behind however the process ends.
#[derive(Debug)]
pub struct Workshop {
    inner: Arc<WorkshopInner>,
}

impl Workshop {
    /// Starts the guardian, removes what earlier, dead processes left behind, and gives this
    /// process its own mounts if it may mount.
    ///
    /// # Errors
    /// [`TargetError::SeveralThreads`] if called too late, [`TargetError::Workshop`] if the kernel
    /// refuses.
    pub fn open(surroundings: Surroundings) -> Result<Self, TargetError> {
        Ok(Self { inner: Arc::new(WorkshopInner::open(surroundings)?) })
    }

    /// Makes a target. It may outlive the workshop.
    ///
    /// # Errors
    /// [`TargetError::Unavailable`] before anything is made; otherwise what failed, after removing
    /// everything that was made.
    pub fn make(&self, spec: &TargetSpec) -> Result<Target, TargetError> {
        if let (Some(errno), Location::Scratch(_)) = (self.inner.mounts_refused, &spec.location)
            && !spec.is_called_as_library()
        {
            return Err(TargetError::MountsRefused { source: errno.into() });
        }
        let promised_bytes = self.inner.promised_bytes();
        let device = availability::check(spec, &self.inner.surroundings, promised_bytes)?;
        Target::make(Arc::clone(&self.inner), spec, device)
    }

    /// The process that cleans up if this one dies.
    #[must_use]
    pub fn guardian(&self) -> Pid {
        self.inner.guardian.pid()
    }

    /// Whether the guardian is still there. If this process died without it, everything with a name
    /// on the host would stay until the next workshop.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.inner.guardian.is_alive()
    }

    /// Removes what is left and waits for the guardian. Dropping does the same without reporting.
    ///
    /// # Errors
    /// [`TargetError::LeftBehind`] if something could not be removed, or if targets are still
    /// alive.
    pub fn close(self) -> Result<(), TargetError> {
        let Some(inner) = Arc::into_inner(self.inner) else {
            let source = io::Error::other("a target is still in use");
            return Err(TargetError::LeftBehind { source });
        };
        inner.finish().map_err(|source| TargetError::LeftBehind { source })
    }
}
