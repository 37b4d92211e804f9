//! The places where the C library and the dynamic linker make system calls.
