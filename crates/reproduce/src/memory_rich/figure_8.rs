//! Figure 8: statements that compare file systems in memory with any of several on a disk.

use super::claims::words;
use super::declared::SLOWER_STAT;
use super::{MeasuredRates, Outcome, Ratio, Statement};

const STAT: &str = "figure-8-stat-sequential";
/// The file systems on a disk.
const ON_DISK: [&str; 2] = ["ext2", "xfs"];
/// The file systems in memory, with what the paper says about them.
const IN_MEMORY: [(&str, &str); 2] = [
    ("ramfs", "stat in order is slower on ramfs than on some file system on a disk"),
    ("tmpfs", "stat in order is slower on tmpfs than on some file system on a disk"),
];

/// The statements, if the run has measured their benchmark on any target.
pub(super) fn statements(measured: &MeasuredRates) -> Vec<Statement> {
    if !measured.by_cell.keys().any(|(_, benchmark)| benchmark == STAT) {
        return Vec::new();
    }
    IN_MEMORY.into_iter().map(|(target, claim)| statement(measured, target, claim)).collect()
}

fn statement(measured: &MeasuredRates, target: &str, claim: &'static str) -> Statement {
    let rates = |target| measured.rates(target, STAT);
    let ratio = |disk| Ratio::of_products(&[rates(target)?], &[rates(disk)?]);
    let found = ON_DISK.map(|disk| (disk, ratio(disk)));
    let said = found.map(|(disk, ratio)| match ratio {
        Some(ratio) => format!("{} over {disk}", words(&ratio)),
        None => format!("not measured over {disk}"),
    });
    let judge = |ratio: Ratio| SLOWER_STAT.judge(ratio.low, ratio.high);
    let outcomes = found.map(|(_, ratio)| ratio.map_or(Outcome::Unknown, judge));
    Statement {
        source: "Figure 8",
        claim,
        published: "slower than some",
        measured: said.join("; "),
        outcome: of_any(outcomes),
        tolerance: Some(SLOWER_STAT.words()),
        why: None,
    }
}

/// Holds if at least one comparison holds, and does not hold if none does.
fn of_any(outcomes: [Outcome; 2]) -> Outcome {
    if outcomes.contains(&Outcome::Holds) {
        Outcome::Holds
    } else if outcomes.contains(&Outcome::Unknown) {
        Outcome::Unknown
    } else {
        Outcome::DoesNotHold
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn measured(rates: &[(&str, [f64; 3])]) -> MeasuredRates {
        let cell = |(target, rates): &(&str, [f64; 3])| {
            ((target.to_string(), STAT.to_owned()), (1_u32..).zip(*rates).collect())
        };
        let by_cell: BTreeMap<_, _> = rates.iter().map(cell).collect();
        let targets = rates.iter().map(|(target, _)| target.to_string()).collect();
        MeasuredRates { targets, by_cell }
    }

    fn outcomes(rates: &[(&str, [f64; 3])]) -> Vec<Outcome> {
        statements(&measured(rates)).iter().map(|one| one.outcome).collect()
    }

    #[test]
    fn one_file_system_on_a_disk_that_is_quicker_suffices() {
        let (slow, quick) = ([100.0, 101.0, 99.0], [200.0, 201.0, 199.0]);
        let found = outcomes(&[("ramfs", slow), ("tmpfs", quick), ("ext2", quick), ("xfs", slow)]);
        assert_eq!(found, [Outcome::Holds, Outcome::DoesNotHold]);
        let found = outcomes(&[("ramfs", slow), ("ext2", quick)]);
        assert_eq!(found, [Outcome::Holds, Outcome::Unknown], "the other may be missing");
        let found = outcomes(&[("ramfs", quick), ("ext2", slow)]);
        assert_eq!(found[0], Outcome::Unknown, "xfs might be quicker");
        assert!(outcomes(&[]).is_empty());
    }
}
