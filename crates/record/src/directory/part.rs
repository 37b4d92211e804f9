//! A part of a run: some of its benchmarks, as if only these had been measured.

use std::collections::BTreeSet;

use super::Run;
use crate::journal::Line;

impl Run {
    /// Leaves nothing but the cells of these benchmarks, as a run of the suite that has only them.
    /// Cells that searches added are left out.
    pub fn keep_only(&mut self, suite: &str, benchmarks: &BTreeSet<String>) {
        suite.clone_into(&mut self.manifest.run.suite);
        let mut next = 0..;
        let cells = self.manifest.cells.iter();
        let places: Vec<Option<u32>> = cells
            .map(|cell| benchmarks.contains(&cell.benchmark).then(|| next.next()).flatten())
            .collect();
        let place = |cell: u32| places.get(cell as usize).copied().flatten();
        let all = |cells: &mut Vec<u32>| *cells = cells.iter().copied().filter_map(place).collect();
        let one = |cell: &mut u32| place(*cell).map(|place| *cell = place).is_some();
        self.manifest.cells.retain(|cell| benchmarks.contains(&cell.benchmark));
        self.lines.retain_mut(|line| match line {
            Line::Replicate(replicate) => one(&mut replicate.cell),
            Line::Discarded(discarded) => one(&mut discarded.cell),
            Line::CellFailed(failed) => one(&mut failed.cell),
            Line::CellAdded(_) => false,
            Line::Block(block) => {
                block.cells.iter_mut().for_each(all);
                true
            }
            Line::Planned(planned) => {
                planned.pilots.retain_mut(|pilot| one(&mut pilot.cell));
                planned.left_out.iter_mut().for_each(|left| all(&mut left.cells));
                planned.left_out.retain(|left| !left.cells.is_empty());
                true
            }
            Line::Start(_) | Line::Search(_) | Line::Waited(_) | Line::End(_) => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{cell, manifest};
    use super::*;
    use crate::journal::{CellFailed, Replicate};

    #[test]
    fn cells_that_are_kept_have_their_own_lines() {
        let mut manifest = manifest();
        manifest.cells = ["one", "two", "three"].map(cell).to_vec();
        let replicate =
            |cell, value| Line::Replicate(Box::new(Replicate::from_metrics(cell, 0, vec![value])));
        let failed =
            |cell| Line::CellFailed(CellFailed { cell, block: 0, why: "it was full".to_owned() });
        let lines = vec![replicate(0, 1.0), replicate(1, 2.0), failed(1), replicate(2, 3.0)];
        let mut run = Run { manifest, lines, damage: Vec::new() };
        let wanted: BTreeSet<String> = ["one", "three"].map(str::to_owned).into();
        run.keep_only("paper/item", &wanted);
        assert_eq!(run.manifest.run.suite, "paper/item");
        let names: Vec<&str> =
            run.manifest.cells.iter().map(|cell| cell.benchmark.as_str()).collect();
        assert_eq!(names, ["one", "three"]);
        assert_eq!(run.lines, [replicate(0, 1.0), replicate(1, 3.0)]);
    }
}
