//! What the paper says, and whether it holds here.

use network_suite::{RPCS, SERVER_BYTES};

use super::MeasuredRun;
use crate::statement::{Found, Statement, statement};

/// "Not very much more" time for a cold cache means at most a tenth more.
const MUCH: f64 = 1.1;
/// How much counts that are called alike may differ: a twentieth.
const ALIKE: f64 = 0.05;

pub(super) fn statements(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    all.extend(times(measured));
    all.extend(calls(measured));
    all
}

fn times(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    let cold = |benchmark| {
        let ratio = measured.ratio(benchmark, "cold", "none")?;
        Some((format!("{ratio:.3} times as long, emulated; the link took both"), ratio <= MUCH))
    };
    vec![
        statement(
            "first table",
            "filling the cache takes not very much more time than reading one large file without",
            "2.020 and 2.007 minutes: 1.007 times as long",
            cold("file"),
        ),
        statement(
            "second table",
            "filling the cache takes not very much more time than reading a tree without it",
            "7.900 and 7.612 minutes: 1.038 times as long",
            cold("tree"),
        ),
        statement(
            "first table",
            "from a hot cache one large file is read many times faster",
            "2.007 and 0.036 minutes: 55 times",
            faster_hot(measured, "file"),
        ),
        statement(
            "discussion",
            "for many smaller files the link is about at the break-even point: a hot cache saves \
             little time",
            "7.612 and 7.235 minutes: 1.052 times as fast",
            break_even(measured),
        ),
        statement(
            "discussion",
            "without a cache, a little more than half of the time of the tree is spent in READs",
            "4.4 of 7.6 minutes, all but that of the page cache",
            reading(measured),
        ),
    ]
}

/// Whether a hot cache is faster. Times from the cache are emulated, and can only be too long.
fn faster_hot(measured: &MeasuredRun<'_>, benchmark: &str) -> Found {
    let none = measured.seconds(benchmark, "none")?;
    let hot = measured.seconds(benchmark, "hot")?;
    if !measured.is_network_bound(benchmark, "none") {
        return None;
    }
    let times = none / hot;
    Some((
        format!("at least {times:.1} times (emulation only makes the cache slower)"),
        times > 2.0,
    ))
}

fn break_even(measured: &MeasuredRun<'_>) -> Found {
    let ratio = measured.ratio("tree", "none", "hot")?;
    Some((format!("{ratio:.3} times as fast, emulated; the link took both"), ratio < 1.25))
}

fn reading(measured: &MeasuredRun<'_>) -> Found {
    let share = 1.0 - measured.ratio("tree", "pgcache", "none")?;
    Some((format!("{:.0} %", share * 100.0), (0.4..0.8).contains(&share)))
}

fn calls(measured: &MeasuredRun<'_>) -> Vec<Statement> {
    vec![
        statement(
            "third table",
            "a cold cache asks for as many READs and bytes as none",
            "21402 READs and 221252168 bytes each",
            same_reads(measured),
        ),
        statement(
            "third table",
            "a hot cache reads nothing over the network",
            "0 READs, 0 bytes",
            nothing_read(measured),
        ),
        statement(
            "discussion",
            "the network is spared the READs, and little else",
            "about 21,000 fewer calls, of 21402 READs",
            fewer_calls(measured),
        ),
        statement(
            "third table",
            "a hot cache asks for attributes as often as none",
            "22371 and 22495 GETATTRs",
            as_often(measured, "rpc_getattr"),
        ),
        statement(
            "third table",
            "a hot cache asks for access as often as none",
            "20486 and 20481 ACCESSes",
            as_often(measured, "rpc_access"),
        ),
        statement(
            "discussion",
            "reading the tree from the client's own memory still asks the server for other things",
            "more than 3 minutes of GETATTR, ACCESS and READDIRPLUS",
            other_calls(measured),
        ),
        statement(
            "discussion",
            "for fewer but larger files the cache has a proportionately greater effect",
            "55 times as fast, against 1.05 times",
            greater_effect(measured),
        ),
    ]
}

fn same_reads(measured: &MeasuredRun<'_>) -> Found {
    let of = |state| {
        let reads = measured.median("tree", state, "rpc_read")?;
        Some((reads, measured.median("tree", state, SERVER_BYTES)?))
    };
    let (none, cold) = (of("none")?, of("cold")?);
    let said = format!("{} and {} READs, {} and {} bytes", none.0, cold.0, none.1, cold.1);
    Some((said, none == cold))
}

fn nothing_read(measured: &MeasuredRun<'_>) -> Found {
    let reads = measured.median("tree", "hot", "rpc_read")?;
    let bytes = measured.median("tree", "hot", SERVER_BYTES)?;
    Some((format!("{reads} READs, {bytes} bytes"), reads == 0.0 && bytes == 0.0))
}

fn fewer_calls(measured: &MeasuredRun<'_>) -> Found {
    let none = measured.median("tree", "none", RPCS)?;
    let hot = measured.median("tree", "hot", RPCS)?;
    let reads = measured.median("tree", "none", "rpc_read")?;
    let fewer = none - hot;
    let said = format!("{none} to {hot}: {fewer} fewer, of {reads} READs");
    Some((said, (fewer - reads).abs() <= ALIKE * reads))
}

fn as_often(measured: &MeasuredRun<'_>, metric: &str) -> Found {
    let none = measured.median("tree", "none", metric)?;
    let hot = measured.median("tree", "hot", metric)?;
    Some((format!("{none} and {hot}"), (none - hot).abs() <= ALIKE * none.max(1.0)))
}

fn other_calls(measured: &MeasuredRun<'_>) -> Found {
    let calls = measured.median("tree", "pgcache", RPCS)?;
    let reads = measured.median("tree", "pgcache", "rpc_read")?;
    Some((format!("{calls} calls, {reads} of them READs"), calls > 0.0 && reads == 0.0))
}

fn greater_effect(measured: &MeasuredRun<'_>) -> Found {
    let saved = |benchmark| {
        let none = measured.median(benchmark, "none", RPCS)?;
        Some(1.0 - measured.median(benchmark, "hot", RPCS)? / none)
    };
    let (file, tree) = (saved("file")?, saved("tree")?);
    let said = format!(
        "the cache saves {:.0} % of the calls of the file, {:.0} % of those of the tree",
        file * 100.0,
        tree * 100.0
    );
    Some((said, file > tree))
}
