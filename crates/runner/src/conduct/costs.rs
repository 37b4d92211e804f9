//! Expected costs, from what this run has measured so far, or from the pilot before that.

use super::Conductor;
use crate::economy::Costs;
use crate::executor::Executor;

impl<E: Executor> Costs for Conductor<'_, '_, E> {
    fn turn_s(&self, cell: u32) -> f64 {
        if let Some(known_s) = self.ledger.turn_s(cell) {
            return known_s;
        }
        // Before the cell's first turn, estimate from the pilot.
        let Some(pilot) = self.pilots.get(&cell) else { return 0.0 };
        let size = self.ledger.sizes.get(&cell);
        let operations = size.map_or(0, |size| size.start_operations + size.operations);
        let timed_ns = operations as f64 * pilot.time_per_operation_ns;
        (pilot.overhead_ns as f64 + pilot.turn_per_timed * timed_ns) / 1e9
    }

    fn making_s(&self, cells: &[u32]) -> f64 {
        let seen = &self.ledger.makings_s;
        let mean_s = || seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        self.executor.making(cells).map_or_else(mean_s, |making| making.as_secs_f64())
    }
}
