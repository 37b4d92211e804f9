//! Why addresses cannot be given names.

use std::io;
use std::path::PathBuf;

/// A source of names that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolsError {
    /// A file that cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// The kernel shows all its symbols at address 0.
    #[error(
        "/proc/kallsyms has no addresses: read it as root, with `sysctl kernel.kptr_restrict=0`"
    )]
    NoAddresses,
    /// A line of text that cannot be parsed.
    #[error("line {line} of {what} is wrong: {text:?}")]
    Line {
        /// Which text.
        what: &'static str,
        /// Which line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// BTF that is truncated, damaged, or not from the kernel that it is combined with.
    #[error("the types of {what} (BTF) are damaged: {why}")]
    Btf {
        /// `vmlinux` or the module.
        what: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A type or field that the kernel's BTF lacks.
    #[error("the kernel's types (BTF) have no {0}: its slabs cannot be named")]
    NoType(&'static str),
    /// An ELF file or its debug information that cannot be understood.
    #[error("{} is not an ELF file with readable symbols: {why}", path.display())]
    Elf {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The guest's memory cannot be read.
    #[error(
        "/proc/kcore does not contain {what}, so the guest's slabs cannot be named: use a kernel \
         with CONFIG_PROC_KCORE, CONFIG_SPARSEMEM and SLUB"
    )]
    Kcore {
        /// What was looked for.
        what: &'static str,
    },
    /// A trace that cannot be read, or cannot be added to.
    #[error(transparent)]
    Trace(#[from] footprint_trace::TraceError),
    /// A description in a trace that cannot be understood.
    #[error("the trace's description cannot be read ({0}): describe the trace again")]
    Description(String),
}
