//! The nano-benchmarks: each measures one particular aspect of a file system, and measures it well
//! (It *IS* Rocket Science, section 4), as a curve over what it depends on.
//!
//! Each dimension has a module, whose `quick` forms make up the survey and whose `curves` show the
//! whole.

mod caching;
mod curve;
mod data;
mod in_memory;
pub(crate) mod io;
mod layout;
mod metadata;
pub(crate) mod scaling;

use crate::benchmark::Benchmark;
pub(crate) use curve::Curve;

/// What the survey measures: the quick forms of all dimensions.
pub(crate) fn quick() -> Vec<Benchmark> {
    [
        in_memory::quick(),
        io::quick(),
        layout::quick(),
        caching::quick(),
        metadata::quick(),
        scaling::quick(),
    ]
    .concat()
}

/// A dimension's nano-benchmarks: its quick forms, then its curves.
pub(crate) fn dimension(name: &str) -> Vec<Benchmark> {
    match name {
        "io" => [io::quick(), io::curves()].concat(),
        "layout" => [layout::quick(), layout::curves()].concat(),
        "in-memory" => [in_memory::quick(), in_memory::curves()].concat(),
        "caching" => [caching::quick(), caching::curves()].concat(),
        "metadata" => [metadata::quick(), metadata::curves()].concat(),
        "scaling" => [scaling::baselines(), scaling::quick(), scaling::curves()].concat(),
        _ => Vec::new(),
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Benchmark> {
    let mut all: Vec<Benchmark> = Vec::new();
    for name in ["io", "layout", "in-memory", "caching", "metadata", "scaling"] {
        for benchmark in dimension(name) {
            // The baselines of one dimension are benchmarks of another.
            if all.iter().all(|other| other.name != benchmark.name) {
                all.push(benchmark);
            }
        }
    }
    all
}
