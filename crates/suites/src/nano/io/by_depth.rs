//! Direct reads and writes over the number in flight, by one thread with io_uring.

use workload::{Access, Buffering, IoPath, Operation, UringOptions};

use super::requests::{Request, Requests, pair};
use crate::benchmark::Benchmark;
use crate::nano::curve::Curve;
use crate::nano::data::KIB;

const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
const RANDOM_BYTES: usize = 4 * KIB;
const SEQUENTIAL_BYTES: usize = 128 * KIB;

/// On the device, and through the file system.
pub(super) fn curves() -> Vec<Benchmark> {
    [
        random(
            Operation::Read,
            curve("random-read-device-by-depth", "random read 4 KiB on the device, in flight"),
            curve("random-read-direct-by-depth", "random read 4 KiB, direct, in flight"),
        ),
        sequential(
            Operation::Read,
            curve(
                "sequential-read-device-by-depth",
                "sequential read 128 KiB on the device, in flight",
            ),
            curve("sequential-read-direct-by-depth", "sequential read 128 KiB, direct, in flight"),
        ),
        random(
            Operation::Write,
            curve("random-write-device-by-depth", "random write 4 KiB on the device, in flight"),
            curve("random-write-direct-by-depth", "random write 4 KiB, direct, in flight"),
        ),
        sequential(
            Operation::Write,
            curve(
                "sequential-write-device-by-depth",
                "sequential write 128 KiB on the device, in flight",
            ),
            curve(
                "sequential-write-direct-by-depth",
                "sequential write 128 KiB, direct, in flight",
            ),
        ),
    ]
    .concat()
}

fn curve(name: &'static str, title: &'static str) -> Curve<'static> {
    Curve { name, title, axis: "queue depth", unit: "count" }
}

fn random(operation: Operation, device: Curve<'_>, file_system: Curve<'_>) -> Vec<Benchmark> {
    let on_device = Requests { curve: device, operation, access: Access::Shuffled };
    pair(on_device, file_system, &DEPTHS, at_depth(RANDOM_BYTES))
}

fn sequential(operation: Operation, device: Curve<'_>, file_system: Curve<'_>) -> Vec<Benchmark> {
    let on_device = Requests { curve: device, operation, access: Access::Sequential };
    pair(on_device, file_system, &DEPTHS, at_depth(SEQUENTIAL_BYTES))
}

fn at_depth(bytes: usize) -> impl Fn(u64) -> Request {
    move |depth| {
        let depth = u32::try_from(depth).expect("depths are small");
        let io_path = IoPath::IoUring(UringOptions::new(depth, Buffering::Direct));
        Request { bytes, io_path }
    }
}
