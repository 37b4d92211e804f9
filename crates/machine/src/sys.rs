//! The thinnest edge to system calls that no library wraps.
