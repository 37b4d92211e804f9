//! Section 2.2: what Bonnie printed, beside what the paper goes on to analyse.

use textual::Columns;

use super::published::{ACTIONS, RATES, RAW, RawRow};
use super::{Finding, PaperTable};
use crate::item::{Item, Printed};

/// The paper's memory, in MB.
const MEMORY_MB: f64 = 64.0;
/// The size of the file whose rates the paper analyses, in MB.
const ANALYSED_MB: u32 = 320;
/// Bonnie's axiom: seeks per second once nothing is cached.
const SEEKS: f64 = 30.0;

/// What it printed for input per character on FAT32.
pub(super) const PRINTED: f64 = RAW[5].actions[3][0];

/// The rates that the paper analyses, beside those that Bonnie printed.
pub(super) fn table() -> PaperTable {
    let analysed = RAW.into_iter().filter(|row| row.file_mb == ANALYSED_MB);
    let items = analysed.enumerate().flat_map(|(place, row)| {
        let of = row.actions.into_iter().zip(ACTIONS).zip(RATES);
        of.map(move |(([rate, _], action), rates)| {
            let printed = Printed { value: rates[place], decimals: 0 };
            Item::new(row.file_system, action, printed, rate)
        })
        .collect::<Vec<_>>()
    });
    PaperTable { title: "3.1 Observations, and what Bonnie printed (2.2)", items: items.collect() }
}

/// What differs between both sizes of the file, and what seeks show.
pub(super) fn findings() -> Vec<Finding> {
    let (mut far, mut largest) = (0, (0.0, String::new()));
    for pair in RAW.chunks_exact(2) {
        for (action, ([small, _], [large, _])) in
            ACTIONS.iter().zip(pair[0].actions.iter().zip(&pair[1].actions))
        {
            let percent: f64 = 100.0 * (large / small - 1.0);
            far += usize::from(percent.abs() > 2.0);
            if percent.abs() > f64::abs(largest.0) {
                largest = (percent, format!("{} of {}", action, pair[0].file_system));
            }
        }
    }
    let sizes = Finding {
        what: "the results of 256 MB and of 320 MB are \"more or less the same\", except on FAT32"
            .to_owned(),
        why: format!(
            "{far} of 15 rates differ by more than 2 %, all of FAT32; the largest difference is \
             {:+.1} % ({}). The paper analyses one execution of each, so it cannot tell whether \
             that is the size or chance.",
            largest.0, largest.1
        ),
    };
    let all = || RAW.iter().map(|row| row.seeks[0]);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let seeks = Finding {
        what: "seeks are twice what Bonnie's axiom says".to_owned(),
        why: format!(
            "It expects them to decline to near {SEEKS:.0} per second once nothing is cached. With \
             files of 4 and 5 times the memory ({MEMORY_MB:.0} MB), they are {least:.0} to \
             {most:.0}, and fewer with the larger file on all three file systems. The paper does \
             not analyse them."
        ),
    };
    vec![sizes, seeks]
}

/// What Bonnie printed, for people.
pub(super) fn text(rows: &[RawRow]) -> String {
    let short = ["out char", "out block", "rewrite", "in char", "in block"].map(str::to_owned);
    let heads = [String::new(), "MB".to_owned()].into_iter().chain(short);
    let mut columns = Columns::headed(heads.chain(["seeks/s".to_owned()]));
    for row in rows {
        let cells = row.actions.map(|[rate, percent]| format!("{rate:.0} {percent:.0}%"));
        let seeks = format!("{:.1} {:.0}%", row.seeks[0], row.seeks[1]);
        let head = [row.file_system.to_owned(), row.file_mb.to_string()];
        columns.row(head.into_iter().chain(cells).chain([seeks]));
    }
    format!(
        "\n2.2 What Bonnie printed: kB/s and % of the processor, as published\n{}",
        columns.render()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Agreement;

    #[test]
    fn one_observation_is_not_what_bonnie_printed() {
        let items = table().items;
        assert_eq!(items.len(), 15);
        let wrong: Vec<&Item> =
            items.iter().filter(|item| item.agreement != Agreement::Same).collect();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!((wrong[0].published, wrong[0].recomputed), (2404.0, 2407.0));
        assert_eq!((wrong[0].row.as_str(), wrong[0].column.as_str()), ("FAT32", "input per char"));
    }

    #[test]
    fn sizes_differ_on_fat32_alone() {
        let found = findings();
        assert!(found[0].why.starts_with("3 of 15"), "{}", found[0].why);
        assert!(found[0].why.contains("-11.1 % (input per block of FAT32)"), "{}", found[0].why);
        assert!(found[1].why.contains("60 to 78"), "{}", found[1].why);
    }
}
