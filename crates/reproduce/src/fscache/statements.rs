//! What the paper says, and whether it holds here.
//!
//! What each state must show before it counts (that nothing comes from the server with a hot cache,
//! and all bytes with a cold one) is no finding, so nothing here says it.

use std::collections::BTreeMap;

use network_suite::{EMULATED_TIME, RPCS};
use record::network::{CACHE_LOOKUP_TIME, CACHE_READ_TIME};

use super::{MeasuredRun, Ratio};
use crate::margin::Margin;
use crate::statement::{Outcome, Statement, statement};

const NOT_MUCH_MORE: Margin = Margin::below(1.1, "at most a tenth is not very much more");
const MANY_TIMES: Margin = Margin::above(5.0, "many, of the paper's 55, on any link");
const LITTLE_FASTER: Margin = Margin::below(1.25, "at most a quarter is little");
const A_LITTLE_MORE_THAN_HALF: Margin = Margin::between(0.5, 0.75, "more than half, not most");
const ALIKE: Margin = Margin::between(0.95, 1.05, "a twentieth; the paper's differ by 0.6 %");
const ALL: Margin = Margin::between(0.9, 1.1, "the READs, give or take a tenth of them");
const GREATER: Margin = Margin::above(1.1, "a tenth more of the calls saved, or further");

const THREE_MINUTES: Margin =
    Margin::above(10.0, "many times, of the paper's 548; emulation only makes it smaller");
const ON_ITS_FILE_SYSTEM: Margin =
    Margin::above(0.5, "most of it; the paper takes all of it to be spent there");

pub(super) fn statements(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    let all = [times(measured), beside_reads(measured), calls(measured)];
    all.into_iter().flatten().collect()
}

/// A statement about a ratio, judged by its interval.
fn judged(unmeasured: Statement, means: &Margin, found: Option<(Ratio, &str)>) -> Statement {
    let tolerance = Some(means.words());
    let Some((Ratio { mean, interval }, what)) = found else {
        return Statement { tolerance, ..unmeasured };
    };
    let (interval, outcome) = match interval {
        Some((low, high)) => (format!(" [{low:.3}, {high:.3}]"), means.judge(low, high)),
        None => (", without an interval: it takes two blocks".to_owned(), Outcome::Unknown),
    };
    Statement { measured: format!("{mean:.3}{interval} {what}"), outcome, tolerance, ..unmeasured }
}

fn times(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    let bound = |benchmark: &str, states: [&str; 2]| {
        let is_bound = states.iter().all(|state| measured.is_network_bound(benchmark, state));
        measured.over(benchmark, states, EMULATED_TIME).filter(|_| is_bound)
    };
    let both = "times as long, emulated; the link took both";
    let cold = |benchmark| Some((bound(benchmark, ["cold", "none"])?, both));
    // Emulation can only make the cache slower.
    let hot = || {
        let is_bound = measured.is_network_bound("file", "none");
        measured.over("file", ["none", "hot"], EMULATED_TIME).filter(|_| is_bound)
    };
    vec![
        judged(
            statement(
                "first table",
                "filling the cache takes not very much more time than reading one large file \
                 without",
                "2.020 and 2.007 minutes: 1.007 times as long",
                None,
            ),
            &NOT_MUCH_MORE,
            cold("file"),
        ),
        judged(
            statement(
                "second table",
                "filling the cache takes not very much more time than reading a tree without it",
                "7.900 and 7.612 minutes: 1.038 times as long",
                None,
            ),
            &NOT_MUCH_MORE,
            cold("tree"),
        ),
        judged(
            statement(
                "first table",
                "from a hot cache one large file is read many times faster",
                "2.007 and 0.036 minutes: 55 times",
                None,
            ),
            &MANY_TIMES,
            hot().map(|ratio| (ratio, "times as fast, or faster: emulation slows the cache")),
        ),
        judged(
            statement(
                "discussion",
                "for many smaller files the link is about at the break-even point: a hot cache \
                 saves little time",
                "7.612 and 7.235 minutes: 1.052 times as fast",
                None,
            ),
            &LITTLE_FASTER,
            bound("tree", ["none", "hot"])
                .map(|ratio| (ratio, "times as fast, emulated; the link took both")),
        ),
        judged(
            statement(
                "discussion",
                "without a cache, a little more than half of the time of the tree is spent in \
                 READs",
                "4.4 of 7.6 minutes, all but that of the page cache: 0.58",
                None,
            ),
            &A_LITTLE_MORE_THAN_HALF,
            bound("tree", ["pgcache", "none"])
                .map(|ratio| (ratio.taken_from_one(), "of the time, emulated")),
        ),
    ]
}

/// Statements about the time that is not spent in READs.
fn beside_reads(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    vec![
        judged(
            statement(
                "discussion",
                "the server reads the tree in a fraction of the time that the client takes, even \
                 from its own memory",
                "0.348 seconds and 190.864: 548 times",
                None,
            ),
            &THREE_MINUTES,
            measured
                .over("tree", ["pgcache", "server"], EMULATED_TIME)
                .map(|ratio| (ratio, "times as long, or longer: both are emulated")),
        ),
        judged(
            statement(
                "discussion",
                "what a hot cache takes longer for the tree than the client's own memory, it \
                 spends on lookups, getxattrs and reads of its file system",
                "about 4 of 7.2 minutes, without a measurement",
                None,
            ),
            &ON_ITS_FILE_SYSTEM,
            on_its_file_system(measured)
                .map(|ratio| (ratio, "of the difference, emulated: where functions are timed")),
        ),
    ]
}

fn calls(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    let over = |states, metric| measured.over("tree", states, metric);
    vec![
        judged(
            statement(
                "third table",
                "with a cold cache as many READs are made as without one",
                "21402 and 21402 READs",
                None,
            ),
            &ALIKE,
            over(["cold", "none"], "rpc_read").map(|ratio| (ratio, "times as many")),
        ),
        judged(
            statement(
                "discussion",
                "a hot cache spares the network the READs, and little else",
                "about 21,000 fewer calls, of 21402 READs",
                None,
            ),
            &ALL,
            fewer_over_reads(measured).map(|ratio| (ratio, "calls fewer for each READ")),
        ),
        judged(
            statement(
                "third table",
                "with a hot cache attributes are asked for as often as without one",
                "22495 over 22371 GETATTRs: 1.006",
                None,
            ),
            &ALIKE,
            over(["hot", "none"], "rpc_getattr").map(|ratio| (ratio, "times as many GETATTRs")),
        ),
        judged(
            statement(
                "third table",
                "with a hot cache access is asked for as often as without one",
                "20481 over 20486 ACCESSes: 1.000",
                None,
            ),
            &ALIKE,
            over(["hot", "none"], "rpc_access").map(|ratio| (ratio, "times as many ACCESSes")),
        ),
        other_calls(measured),
        judged(
            statement(
                "discussion",
                "for fewer but larger files the cache has a proportionately greater effect",
                "55 times as fast, against 1.05 times",
                None,
            ),
            &GREATER,
            greater_effect(measured).map(|ratio| {
                (ratio, "times the share of calls saved: times from a cache are emulated")
            }),
        ),
    ]
}

/// By how many calls fewer a hot cache asks, for each READ without a cache.
fn fewer_over_reads(measured: &MeasuredRun<'_>) -> Option<Ratio> {
    let by_block = |state, metric| measured.by_block("tree", state, metric);
    let (none, hot) = (by_block("none", RPCS)?, by_block("hot", RPCS)?);
    let reads = by_block("none", "rpc_read")?;
    let one = |(block, calls): (&u32, &f64)| {
        Some((calls - hot.get(block)?).max(0.0) / reads.get(block)?.max(1.0))
    };
    Ratio::new(&none.iter().filter_map(one).collect::<Vec<_>>())
}

/// Numbers by block.
type ByBlock = BTreeMap<u32, f64>;

/// The time that lookups and reads of a hot cache's file system take (a lookup includes its
/// getxattr), over what reading from it takes longer than from the client's memory.
fn on_its_file_system(measured: &MeasuredRun<'_>) -> Option<Ratio> {
    let of = |state, metric| measured.by_block("tree", state, metric);
    let (lookups, reads) = (of("hot", CACHE_LOOKUP_TIME)?, of("hot", CACHE_READ_TIME)?);
    if lookups.values().chain(reads.values()).all(|ns| *ns == 0.0) {
        return None;
    }
    share_of_longer([&lookups, &reads], &of("hot", EMULATED_TIME)?, &of("pgcache", EMULATED_TIME)?)
}

/// Parts of a time, over by how much it is longer than another one; `None` if it is not in every
/// block.
fn share_of_longer(parts: [&ByBlock; 2], time: &ByBlock, other: &ByBlock) -> Option<Ratio> {
    let mut shares = Vec::new();
    for (block, time) in time {
        let Some(other) = other.get(block) else { continue };
        let spent: f64 = parts.iter().filter_map(|part| part.get(block)).sum();
        let longer = time - other;
        shares.push((longer > 0.0).then_some(spent / longer)?);
    }
    Ratio::new(&shares)
}

fn other_calls(measured: &MeasuredRun<'_>) -> Statement {
    let found = || {
        let calls = measured.by_block("tree", "pgcache", RPCS)?;
        let least = calls.values().copied().reduce(f64::min)?;
        Some((format!("at least {least} calls in each block"), least > 0.0))
    };
    statement(
        "discussion",
        "reading the tree from the client's own memory still asks the server for other things",
        "more than 3 minutes of GETATTR, ACCESS and READDIRPLUS",
        found(),
    )
    .within("any, in every block")
}

/// The share of calls that a hot cache saves of the file's, over that of the tree's.
fn greater_effect(measured: &MeasuredRun<'_>) -> Option<Ratio> {
    let saved = |benchmark: &str| {
        let none = measured.by_block(benchmark, "none", RPCS)?;
        let hot = measured.by_block(benchmark, "hot", RPCS)?;
        let one = |(block, calls): (&u32, &f64)| Some((*block, 1.0 - hot.get(block)? / calls));
        Some(none.iter().filter_map(one).collect::<ByBlock>())
    };
    let (file, tree) = (saved("file")?, saved("tree")?);
    let one = |(block, share): (&u32, &f64)| Some(share / tree.get(block)?.max(0.001));
    Ratio::new(&file.iter().filter_map(one).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(means: &Margin, values: &[f64]) -> Outcome {
        let unmeasured = statement("a table", "something", "some", None);
        let ratio = Ratio::new(values).expect("there are values");
        judged(unmeasured, means, Some((ratio, "times"))).outcome
    }

    #[test]
    fn parts_are_set_beside_by_how_much_a_time_is_longer() {
        let by_block = |values: &[f64]| -> ByBlock { (0..).zip(values.iter().copied()).collect() };
        let [lookups, reads] = [by_block(&[2.0, 1.0]), by_block(&[4.0, 5.0])];
        let (hot, memory) = (by_block(&[20.0, 18.0, 9.0]), by_block(&[10.0, 8.0]));
        let share = share_of_longer([&lookups, &reads], &hot, &memory).expect("it is longer");
        assert!((share.mean - 0.6).abs() < 1e-9, "{share:?}");
        assert_eq!(share_of_longer([&lookups, &reads], &hot, &by_block(&[10.0, 18.0])), None);
    }

    #[test]
    fn what_differs_from_block_to_block_is_not_judged_by_its_middle() {
        assert_eq!(outcome(&ALIKE, &[1.0, 1.0, 1.0]), Outcome::Holds);
        assert_eq!(outcome(&ALIKE, &[1.23, 1.0, 1.01]), Outcome::Unknown);
        assert_eq!(outcome(&ALIKE, &[1.5, 1.5, 1.51]), Outcome::DoesNotHold);
        assert_eq!(outcome(&ALIKE, &[1.0]), Outcome::Unknown, "one block has no interval");
        assert_eq!(outcome(&MANY_TIMES, &[6.0, 6.1, 6.05]), Outcome::Holds);
        let all = judged(statement("a table", "it", "some", None), &ALL, None);
        assert_eq!((all.outcome, all.measured.as_str()), (Outcome::Unknown, "not measured"));
    }
}
