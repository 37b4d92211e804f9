//! Direct reads and writes by how many are in flight, from one thread by io_uring.

use workload::{Access, Buffering, IoPath, Operation, UringOptions};

use super::requests::{Request, Requests};
use crate::benchmark::Benchmark;
use crate::nano::curve::Curve;
use crate::nano::data::KIB;
use crate::operations::Layer;

const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
const RANDOM_BYTES: usize = 4 * KIB;
const SEQUENTIAL_BYTES: usize = 128 * KIB;

/// Through the file system, and reads on the device.
pub(super) fn curves() -> Vec<Benchmark> {
    let mut all = reads(
        Access::Shuffled,
        RANDOM_BYTES,
        curve("random-read-device-by-depth", "random read 4 KiB on the device, in flight"),
        curve("random-read-direct-by-depth", "random read 4 KiB, direct, in flight"),
    );
    all.extend(reads(
        Access::Sequential,
        SEQUENTIAL_BYTES,
        curve(
            "sequential-read-device-by-depth",
            "sequential read 128 KiB on the device, in flight",
        ),
        curve("sequential-read-direct-by-depth", "sequential read 128 KiB, direct, in flight"),
    ));
    let writes = Requests {
        curve: curve("random-write-direct-by-depth", "random write 4 KiB, direct, in flight"),
        operation: Operation::Write,
        access: Access::Shuffled,
        layer: Layer::FileSystem,
    };
    all.extend(writes.points(&DEPTHS, None, at_depth(RANDOM_BYTES)));
    all
}

fn curve(name: &'static str, title: &'static str) -> Curve<'static> {
    Curve { name, title, axis: "queue depth", unit: "count" }
}

fn at_depth(bytes: usize) -> impl Fn(u64) -> Request {
    move |depth| {
        let depth = u32::try_from(depth).expect("depths are small");
        let io_path = IoPath::IoUring(UringOptions::new(depth, Buffering::Direct));
        Request { bytes, io_path }
    }
}

fn reads(
    access: Access,
    bytes: usize,
    device: Curve<'_>,
    file_system: Curve<'_>,
) -> Vec<Benchmark> {
    let operation = Operation::Read;
    let floor = Requests { curve: device, operation, access, layer: Layer::Device };
    let own = Requests { curve: file_system, layer: Layer::FileSystem, ..floor };
    [
        floor.points(&DEPTHS, None, at_depth(bytes)),
        own.points(&DEPTHS, Some(floor.curve.name), at_depth(bytes)),
    ]
    .concat()
}
