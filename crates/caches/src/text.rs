//! A report as text.

use std::fmt::Write as _;

use textual::{Columns, percent};

use crate::access::Purpose;
use crate::report::{LevelReport, Report};

impl Report {
    /// The report as tables, at most 100 columns wide unless figures exceed a billion.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let (accesses, straddling) = (&self.accesses, &self.straddling);
        for purpose in Purpose::ALL.into_iter().filter(|&purpose| *accesses.get(purpose) > 0) {
            let (all, over) = (accesses.get(purpose), straddling.get(purpose));
            let _infallible = writeln!(text, "  {all} {}, {over} straddle lines", plural(purpose));
        }
        if self.fetches_left_out > 0 {
            let left_out = self.fetches_left_out;
            let _infallible =
                writeln!(text, "  {left_out} fetches left out: no l1i to look them up in");
        }
        text + &self.shapes() + &self.lookups() + &self.what_was_written()
    }

    fn shapes(&self) -> String {
        let mut columns = Columns::headed(["cache", "size", "line", "ways", "policy", "inclusion"]);
        for level in &self.levels {
            let is_first = level.name.starts_with("l1");
            let inclusion = if is_first { String::new() } else { level.inclusion.to_string() };
            columns.row([
                level.name.clone(),
                size(level.size_bytes),
                level.line_bytes.to_string(),
                level.ways.to_string(),
                level.policy.to_string(),
                inclusion,
            ]);
        }
        format!("\n{}", columns.render())
    }

    fn lookups(&self) -> String {
        let heading = ["cache", "lines for", "hits", "misses", "missed", "accesses missed"];
        let mut columns = Columns::headed(heading);
        for level in &self.levels {
            for purpose in Purpose::ALL {
                let found = level.lookups.get(purpose);
                if found.hits + found.misses == 0 {
                    continue;
                }
                columns.row([
                    level.name.clone(),
                    plural(purpose).to_owned(),
                    found.hits.to_string(),
                    found.misses.to_string(),
                    share(found.misses, found.hits + found.misses),
                    found.accesses_missed.to_string(),
                ]);
            }
        }
        format!("\n{}", columns.render())
    }

    fn what_was_written(&self) -> String {
        let heading =
            ["cache", "write-backs", "back-invalidations", "lines at the end", "dirty at the end"];
        let mut columns = Columns::headed(heading);
        for level in &self.levels {
            let LevelReport { write_backs, back_invalidations, resident_lines, .. } = level;
            columns.row([
                level.name.clone(),
                write_backs.to_string(),
                back_invalidations.to_string(),
                resident_lines.to_string(),
                format!("{} bytes", level.dirty_bytes),
            ]);
        }
        format!("\n{}", columns.render())
    }
}

fn plural(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Fetch => "fetches",
        Purpose::Load => "loads",
        Purpose::Store => "stores",
    }
}

/// A share in percent with two decimals.
fn share(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole);
    #[expect(clippy::cast_precision_loss, reason = "at most 10,000")]
    let share = hundredths as f64 / 10_000.0;
    percent(share)
}

/// A size in the largest unit in which it is a whole number.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} B"), |(unit, name)| format!("{} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use crate::{Access, Purpose};
    use crate::{
        CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LowerLevel, Shape, Simulation,
    };

    #[test]
    fn a_report_names_every_figure() {
        let shape =
            Shape { size_bytes: 1 << 10, line_bytes: 64, ways: 2, policy: CachePolicy::Lru };
        let small = Geometry::new(shape).expect("a cache");
        let lower = Shape { size_bytes: 1 << 20, policy: CachePolicy::TreePlru, ..shape };
        let geometry = Geometry::new(lower).expect("a cache");
        let lower = vec![LowerLevel { geometry, inclusion: Inclusion::Inclusive }];
        let caches = Hierarchy::new(FirstLevel::Data(small), lower).expect("two caches");
        let mut simulation = Simulation::new(&caches);
        for (purpose, address) in [(Purpose::Load, 60), (Purpose::Store, 64), (Purpose::Fetch, 0)] {
            simulation.access(Access { purpose, address, bytes: 8 });
        }
        let text = simulation.report().text();
        let wanted = [
            "1 loads, 1 straddle lines",
            "1 fetches left out",
            "l1d    1 KiB    64     2        LRU\n",
            "l2     1 MiB    64     2  tree-PLRU  inclusive\n",
            "l1d        loads     0       2   100 %                1\n",
            "l1d       stores     1       0     0 %                0\n",
            "l1d              0                   0                 2          64 bytes\n",
        ];
        for wanted in wanted {
            assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
        }
    }
}
