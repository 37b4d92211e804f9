//! Direct reads and writes by the size of the request, one after the other.

use workload::{Access, IoPath, Operation};

use super::requests::{Request, Requests};
use crate::benchmark::Benchmark;
use crate::nano::curve::{Curve, usize_of};
use crate::operations::Layer;

/// Through the file system, and reads on the device.
pub(super) fn curves() -> Vec<Benchmark> {
    let random = Access::Shuffled;
    let sequential = Access::Sequential;
    let mut all = reads(
        random,
        curve("random-read-device-by-request", "random read on the device"),
        curve("random-read-direct-by-request", "random read, direct"),
    );
    all.extend(reads(
        sequential,
        curve("sequential-read-device-by-request", "sequential read on the device"),
        curve("sequential-read-direct-by-request", "sequential read, direct"),
    ));
    all.extend(writes(random, curve("random-write-direct-by-request", "random write, direct")));
    let title = "sequential write, direct";
    all.extend(writes(sequential, curve("sequential-write-direct-by-request", title)));
    all
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

fn reads(access: Access, device: Curve<'_>, file_system: Curve<'_>) -> Vec<Benchmark> {
    let operation = Operation::Read;
    let floor = Requests { curve: device, operation, access, layer: Layer::Device };
    let own = Requests { curve: file_system, layer: Layer::FileSystem, ..floor };
    [floor.points(&sizes(), None, request), own.points(&sizes(), Some(floor.curve.name), request)]
        .concat()
}

fn writes(access: Access, curve: Curve<'_>) -> Vec<Benchmark> {
    let (operation, layer) = (Operation::Write, Layer::FileSystem);
    Requests { curve, operation, access, layer }.points(&sizes(), None, request)
}
