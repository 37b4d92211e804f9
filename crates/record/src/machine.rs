//! The machine a run was measured on.
