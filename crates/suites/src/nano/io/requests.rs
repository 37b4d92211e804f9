//! Direct reads and writes, from which curves are made.

use record::{CacheState, Dimension};
use workload::{Access, IoPath, Operation, Workload, WriteMemory};

use crate::benchmark::Benchmark;
use crate::file_set_kind::FileSetKind;
use crate::nano::curve::Curve;
use crate::operations::Layer;

/// Direct reads or writes in one order, and the curve that they form.
#[derive(Clone, Copy)]
pub(super) struct Requests<'a> {
    pub(super) curve: Curve<'a>,
    pub(super) operation: Operation,
    /// Random accesses are shuffled: no block is requested twice, since a layer below may cache it.
    pub(super) access: Access,
}

/// One point of such a curve.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub(super) bytes: usize,
    pub(super) io_path: IoPath,
}

/// The points of a curve on the device, and of the corresponding one through the file system.
pub(super) fn pair(
    on_device: Requests<'_>,
    file_system: Curve<'_>,
    values: &[u64],
    request: impl Fn(u64) -> Request,
) -> Vec<Benchmark> {
    let above = Requests { curve: file_system, ..on_device };
    let floor = Some(on_device.curve.name);
    [
        on_device.points(Layer::Device, values, None, &request),
        above.points(Layer::FileSystem, values, floor, &request),
    ]
    .concat()
}

impl Requests<'_> {
    /// Its points on one layer; `floor` is the name of the curve below.
    fn points(
        &self,
        layer: Layer,
        values: &[u64],
        floor: Option<&str>,
        request: impl Fn(u64) -> Request,
    ) -> Vec<Benchmark> {
        let Self { curve, operation, access } = *self;
        curve.points(values, |value| {
            let Request { bytes, io_path } = request(value);
            let workload = Workload {
                access,
                request_bytes: bytes,
                io_path,
                // As on the device, where each write has its own memory with what was read from its
                // location.
                write_memory: WriteMemory::Own,
                ..Workload::new(operation)
            };
            let (benchmark, exercises) = match layer {
                Layer::FileSystem => {
                    let exercises = vec![Dimension::OnDiskLayout];
                    (Benchmark::from_workload(workload, FileSetKind::Data), exercises)
                }
                Layer::Device => (Benchmark::on_device(workload, FileSetKind::Data), vec![]),
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
