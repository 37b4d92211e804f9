//! A file system as a pointer: for the library for C, which keeps no more than one word.
#![expect(unsafe_code, reason = "a pointer is only as good as whoever kept it")]

use std::ffi::c_void;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::dense_fs::DenseFs;

impl DenseFs {
    /// The file system as a pointer, for callers that keep no more than one. It stays attached
    /// until [`Self::from_raw`] gives it back.
    #[must_use]
    pub fn into_raw(self) -> *mut c_void {
        Arc::into_raw(self.attachment).cast_mut().cast()
    }

    /// The file system that such a pointer stands for.
    ///
    /// # Safety
    /// The pointer must come from [`Self::into_raw`]. Only one of those made from the same pointer
    /// may be dropped, and none of them used after that.
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_raw(raw: *mut c_void) -> Self {
        // SAFETY: the caller vouches for it.
        Self { attachment: unsafe { Arc::from_raw(raw.cast::<Attachment>()) } }
    }
}
