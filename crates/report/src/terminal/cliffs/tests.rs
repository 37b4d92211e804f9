//! The cliff report as text.
