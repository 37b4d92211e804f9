//! Which replacement policy explains what stayed in memory, if a benchmark asked that.

use record::{CellReport, Observation, PolicyFit, PolicyRanking};

use super::names;
use textual::plural;

/// Number of policies after the best one that are named.
const OTHERS: usize = 3;

/// One sentence per ranking, for example `eviction on ext4: told apart from the others; Linux,
/// stale, agrees by 0.98 [0.97, 0.99], then LFU 0.91, LRU 0.85 (kappa over all pages)`.
pub(super) fn sentences(cells: &[&CellReport]) -> Vec<String> {
    let of = |cell: &&CellReport| {
        let rankings = cell.observations.iter().filter_map(|one| {
            if let Observation::Policies(ranking) = one { Some(ranking) } else { None }
        });
        let target = names::label(&cell.target);
        rankings.map(|ranking| sentence(&target, ranking)).collect::<Vec<String>>()
    };
    cells.iter().flat_map(of).collect()
}

fn sentence(target: &str, ranking: &PolicyRanking) -> String {
    let Some((best, others)) = ranking.ranking.split_first() else {
        return format!("{target}: {}: nothing was ranked", ranking.title);
    };
    let (low, high) = best.interval;
    let others: Vec<String> = others.iter().take(OTHERS).map(behind).collect();
    let left = ranking.ranking.len().saturating_sub(OTHERS + 1);
    format!(
        "{target}: {}: {}; {} agrees by {:.2} [{low:.2}, {high:.2}], then {} and {} (kappa over \
         all pages: 1 is perfect, 0 is chance; in the first block)",
        ranking.title,
        ranking.verdict,
        best.policy,
        best.agreement,
        others.join(", "),
        plural(left, "other"),
    )
}

fn behind(fit: &PolicyFit) -> String {
    format!("{} {:.2}", fit.policy, fit.agreement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn the_best_policy_is_named_with_its_agreement_and_those_behind_it() {
        let mut document = Sample::new(&["ext4"]).benchmark("eviction", &[&[1.0; 6]]).document();
        let fit = |policy: &str, agreement| PolicyFit {
            policy: policy.to_owned(),
            agreement,
            interval: (agreement - 0.01, agreement + 0.01),
            explained: agreement,
            capacity_pages: 1,
        };
        let names = ["LRU", "FIFO", "CLOCK", "2Q", "LFU", "MRU"];
        let ranking = names.iter().zip([0.98, 0.9, 0.8, 0.7, 0.6, 0.5]);
        document.cells[0].observations = vec![Observation::Policies(PolicyRanking {
            title: "eviction".to_owned(),
            verdict: "told apart".to_owned(),
            pages_per_group: 1,
            ranking: ranking.map(|(name, agreement)| fit(name, agreement)).collect(),
        })];
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let said = sentences(&cells);
        let expected = "ext4: eviction: told apart; LRU agrees by 0.98 [0.97, 0.99], then \
                        FIFO 0.90, CLOCK 0.80, 2Q 0.70 and 2 others (kappa over all pages: \
                        1 is perfect, 0 is chance; in the first block)";
        assert_eq!(said, [expected]);
    }
}
