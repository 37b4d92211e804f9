//! Direct reads and writes, of which curves are made.

use record::{CacheState, Dimension};
use workload::{Access, IoPath, Operation, Workload};

use crate::benchmark::Benchmark;
use crate::nano::curve::Curve;
use crate::operations::Layer;
use crate::place::Place;

/// Direct reads or writes in one order, and the curve that they make.
#[derive(Clone, Copy)]
pub(super) struct Requests<'a> {
    pub(super) curve: Curve<'a>,
    pub(super) operation: Operation,
    /// Random is shuffled: no block is asked for twice, for something below may keep it.
    pub(super) access: Access,
    pub(super) layer: Layer,
}

/// One point of such a curve.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub(super) bytes: usize,
    pub(super) io_path: IoPath,
}

impl Requests<'_> {
    /// Its points; `floor` is the name of the same curve on the device, if it is there.
    pub(super) fn points(
        &self,
        values: &[u64],
        floor: Option<&str>,
        request: impl Fn(u64) -> Request,
    ) -> Vec<Benchmark> {
        let Self { curve, operation, access, layer } = *self;
        curve.points(values, |value| {
            let Request { bytes, io_path } = request(value);
            let workload =
                Workload { access, request_bytes: bytes, io_path, ..Workload::new(operation) };
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
                floor: floor.map(|floor| format!("{floor}-{value}")),
                ..benchmark
            }
        })
    }
}
