//! Direct reads and writes by the size of the request, one after the other.

use record::{CacheState, Dimension};
use workload::{Access, IoPath, Operation, Workload};

use crate::benchmark::Benchmark;
use crate::nano::curve::{Curve, usize_of};
use crate::operations::Layer;
use crate::place::Place;

/// One curve.
#[derive(Clone, Copy)]
struct Requests {
    name: &'static str,
    title: &'static str,
    operation: Operation,
    access: Access,
    layer: Layer,
}

/// From a sector to 16 MiB.
fn sizes() -> Vec<u64> {
    (9..=24).map(|log2| 1 << log2).collect()
}

/// Random ones are shuffled: no block is asked for twice, for something below may keep it.
const READS: [Requests; 2] = [
    Requests {
        name: "random-read-direct-by-request",
        title: "random read, direct",
        operation: Operation::Read,
        access: Access::Shuffled,
        layer: Layer::FileSystem,
    },
    Requests {
        name: "sequential-read-direct-by-request",
        title: "sequential read, direct",
        operation: Operation::Read,
        access: Access::Sequential,
        layer: Layer::FileSystem,
    },
];

const WRITES: [Requests; 2] = [
    Requests {
        name: "random-write-direct-by-request",
        title: "random write, direct",
        operation: Operation::Write,
        access: Access::Shuffled,
        layer: Layer::FileSystem,
    },
    Requests {
        name: "sequential-write-direct-by-request",
        title: "sequential write, direct",
        operation: Operation::Write,
        access: Access::Sequential,
        layer: Layer::FileSystem,
    },
];

/// Through the file system, and reads on the device.
pub(super) fn curves() -> Vec<Benchmark> {
    let mut all = Vec::new();
    for reads in READS {
        let floor = reads.on_device();
        all.extend(floor.points(None));
        all.extend(reads.points(Some(floor.name)));
    }
    all.extend(WRITES.iter().flat_map(|writes| writes.points(None)));
    all
}

impl Requests {
    /// The same on the device.
    fn on_device(self) -> Self {
        let (name, title) = match self.access {
            Access::Sequential => {
                ("sequential-read-device-by-request", "sequential read on the device")
            }
            _ => ("random-read-device-by-request", "random read on the device"),
        };
        Self { name, title, layer: Layer::Device, ..self }
    }

    fn points(&self, floor: Option<&str>) -> Vec<Benchmark> {
        let Self { name, title, operation, access, layer } = *self;
        let curve = Curve { name, title, axis: "request size", unit: "bytes" };
        curve.points(&sizes(), |bytes| {
            let io_path = IoPath::PsyncDirect;
            let request_bytes = usize_of(bytes);
            let workload = Workload { access, request_bytes, io_path, ..Workload::new(operation) };
            let (benchmark, exercises) = match layer {
                Layer::FileSystem => {
                    let exercises = vec![Dimension::OnDiskLayout];
                    (Benchmark::of_operations(workload, Place::Data), exercises)
                }
                Layer::Device => (Benchmark::of_device_reads(workload, Place::Data), vec![]),
            };
            Benchmark {
                dimension: Dimension::Io,
                exercises,
                cache_state: CacheState::Cold,
                floor: floor.map(|floor| format!("{floor}-{bytes}")),
                ..benchmark
            }
        })
    }
}
