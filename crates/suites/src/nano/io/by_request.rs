//! Direct reads and writes over the request size, one after the other.

use workload::{Access, IoPath, Operation};

use super::requests::{Request, Requests, pair};
use crate::benchmark::Benchmark;
use crate::nano::curve::{Curve, usize_of};

/// On the device, and through the file system.
pub(super) fn curves() -> Vec<Benchmark> {
    let both = |operation, access, device, file_system| {
        let on_device = Requests { curve: device, operation, access };
        pair(on_device, file_system, &sizes(), request)
    };
    [
        both(
            Operation::Read,
            Access::Shuffled,
            curve("random-read-device-by-request", "random read on the device"),
            curve("random-read-direct-by-request", "random read, direct"),
        ),
        both(
            Operation::Read,
            Access::Sequential,
            curve("sequential-read-device-by-request", "sequential read on the device"),
            curve("sequential-read-direct-by-request", "sequential read, direct"),
        ),
        both(
            Operation::Write,
            Access::Shuffled,
            curve("random-write-device-by-request", "random write on the device"),
            curve("random-write-direct-by-request", "random write, direct"),
        ),
        both(
            Operation::Write,
            Access::Sequential,
            curve("sequential-write-device-by-request", "sequential write on the device"),
            curve("sequential-write-direct-by-request", "sequential write, direct"),
        ),
    ]
    .concat()
}

/// From a sector to 16 MiB.
fn sizes() -> Vec<u64> {
    (9..=24).map(|log2| 1 << log2).collect()
}

fn curve(name: &'static str, title: &'static str) -> Curve<'static> {
    Curve { name, title, axis: "request size", unit: "bytes" }
}

fn request(bytes: u64) -> Request {
    Request { bytes: usize_of(bytes), io_path: IoPath::PsyncDirect }
}
