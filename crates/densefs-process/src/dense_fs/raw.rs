//! A file system as a raw pointer, for the C library, which stores it in one word.
#![expect(unsafe_code, reason = "a raw pointer comes back from C")]

use std::ffi::c_void;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::dense_fs::DenseFs;

impl DenseFs {
    /// Turns the file system into a pointer, for callers that store nothing else. It stays attached
    /// until a value made by [`Self::from_raw`] is dropped.
    #[must_use]
    pub fn into_raw(self) -> *mut c_void {
        Arc::into_raw(self.attachment).cast_mut().cast()
    }

    /// Turns a pointer back into the file system.
    ///
    /// # Safety
    /// The pointer must come from [`Self::into_raw`]. Only one of those made from the same pointer
    /// may be dropped, and none of them used after that.
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_raw(raw: *mut c_void) -> Self {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        Self { attachment: unsafe { Arc::from_raw(raw.cast::<Attachment>()) } }
    }
}
