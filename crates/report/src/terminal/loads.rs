//! Sentences about loads: which target is fastest for each, by how much, and why.

use record::{Document, LoadComparison, LoadCost, LoadReport, LoadValidation, Verdict};
use textual::{Indent, list, unbroken};

use super::grid::{self, CostRatio, RelativeCost};
use super::names;
use super::ranking::{Slowdown, has_too_few_blocks};
use super::text::{Page, SENTENCE, Style};
use crate::sentences::{LoadDoubt, LoadLine};
use crate::units::{self, Wording};

/// The share of a difference from which one kind of operation is named alone.
const MAJORITY: f64 = 0.5;
/// If loads have more lines than this, one of them says what programs do not confirm.
const NOTE_BEYOND: usize = 2;
/// The indentation below the sentence of a load.
const DETAIL: Indent = Indent { first: 4, rest: 6 };

/// The section of the full report: each load with its origin and what it leaves out.
pub(super) fn render(page: &mut Page, document: &Document) {
    if document.loads.is_empty() {
        return;
    }
    page.heading("Loads, estimated from the times of their operations");
    for load in &document.loads {
        page.sentence(&sentence(load, Detail::All));
        notes(load).iter().for_each(|note| page.paragraph(note, DETAIL, Style::Dim));
    }
}

/// The same information for the page.
pub(crate) fn lines(document: &Document) -> Vec<LoadLine> {
    let line = |load: &LoadReport| LoadLine {
        title: load.title.clone(),
        answer: answer(load, Detail::All),
        doubt: doubt(load),
        notes: notes(load),
    };
    document.loads.iter().map(line).collect()
}

/// What the estimate of a load is based on.
fn notes(load: &LoadReport) -> Vec<String> {
    let mut notes = vec![format!("A unit is {}.", load.unit), format!("Mix: {}.", load.source)];
    if !load.leaves_out.is_empty() {
        notes.push(format!("Left out: {}.", load.leaves_out));
    }
    notes.extend(
        load.missing
            .iter()
            .map(|missing| format!("Not for {}: {}.", names::label(&missing.target), missing.why)),
    );
    notes.extend(load.validation.as_ref().map(confirmed));
    notes.extend(doubted(load));
    notes
}

/// `Confirmed by a program (tar and cat): ext4 before btrfs and xfs before btrfs.`
fn confirmed(validation: &LoadValidation) -> String {
    let rankings: Vec<String> = validation
        .confirmed
        .iter()
        .map(|ranking| format!("{} before {}", ranking.faster, ranking.slower))
        .collect();
    let rankings = if rankings.is_empty() { "nothing".to_owned() } else { list(&rankings, "and") };
    format!("Confirmed by a program ({}): {rankings}.", validation.program)
}

/// `Contradicted by it: xfs before ext4.`, `Not confirmed: tmpfs before ext4.`: rankings of this
/// run that a program contradicts, or that none has confirmed.
fn doubted(load: &LoadReport) -> Vec<String> {
    let doubted = |what: &str, is_it: fn(&LoadComparison) -> bool| {
        let found = load.comparisons.iter().filter(|found| is_it(found));
        let rankings: Vec<String> = found.map(ranking).collect();
        (!rankings.is_empty()).then(|| format!("{what}: {}.", list(&rankings, "and")))
    };
    let contradicted = doubted("Contradicted by it", |found| found.contradicted);
    contradicted.into_iter().chain(doubted("Not confirmed", is_merely_unconfirmed)).collect()
}

/// `xfs before ext4`.
fn ranking(found: &LoadComparison) -> String {
    let is_first_faster = found.ratio.is_some_and(|ratio| ratio > 1.0);
    let [faster, slower] =
        if is_first_faster { [&found.first, &found.second] } else { [&found.second, &found.first] };
    format!("{} before {}", names::label(faster), names::label(slower))
}

fn is_merely_unconfirmed(found: &LoadComparison) -> bool {
    found.confirmed == Some(false) && !found.contradicted
}

/// The strongest doubt that programs cast on a load's answer, for any target compared with the
/// fastest.
fn doubt(load: &LoadReport) -> Option<LoadDoubt> {
    let best = quickest(load)?;
    let told: Vec<&LoadComparison> = load
        .comparisons
        .iter()
        .filter(|found| found.first == best.target || found.second == best.target)
        .collect();
    if told.iter().any(|found| found.contradicted) {
        return Some(LoadDoubt::Contradicted);
    }
    told.into_iter().any(is_merely_unconfirmed).then_some(LoadDoubt::Unconfirmed)
}

/// A row for each load, with an entry for each target, in at most `most` lines; `None` if no load
/// can be estimated.
pub(super) fn part(document: &Document, most: usize) -> Option<grid::RowGroup> {
    if document.loads.is_empty() || has_too_few_blocks(document) {
        return None;
    }
    let marks = [
        (LoadDoubt::Unconfirmed, "*: no program confirms it"),
        (LoadDoubt::Contradicted, "!: a program contradicts it"),
    ];
    let has = |wanted| document.loads.iter().any(|load| doubt(load) == Some(wanted));
    let said = marks.iter().filter(|(wanted, _)| has(*wanted)).map(|it| it.1);
    let said: Vec<&str> = std::iter::once("estimated").chain(said).collect();
    let heading = format!("Best for ({})", said.join("; "));
    let (told, others) = shown_and_rest(document, most);
    let row = |load: &LoadReport| {
        let mark = match doubt(load) {
            Some(LoadDoubt::Unconfirmed) => " *",
            Some(LoadDoubt::Contradicted) => " !",
            None => "",
        };
        let entries = document.targets.iter().map(|target| entry(load, &target.label)).collect();
        grid::RatioRow { title: format!("{}{mark}", load.name), entries }
    };
    let rows = document.loads.iter().take(told).map(row).collect();
    Some(grid::RowGroup { heading, rows, note: others })
}

/// How many loads get a line, and a note about the others.
fn shown_and_rest(document: &Document, most: usize) -> (usize, Option<String>) {
    let all = document.loads.len();
    let told = if all <= most { all } else { most.saturating_sub(1) };
    (told, (told < all).then(|| format!("and {} more (--full)", all - told)))
}

/// How a target compares with the fastest.
fn entry(load: &LoadReport, target: &str) -> RelativeCost {
    let Some(best) = quickest(load) else { return RelativeCost::Without("not measured") };
    if best.target == target {
        return RelativeCost::Best;
    }
    if load.costs.iter().all(|cost| cost.target != target) {
        return RelativeCost::Without("not measured");
    }
    let found = comparison(load, &best.target, target);
    let by = found.and_then(|found| Some((found, slowness(found, target)?)));
    let Some((found, Slowdown { ratio, low, high })) = by else {
        return RelativeCost::Without("too little data");
    };
    let span = CostRatio { ratio, low, high };
    if found.verdict.is_different() && low > 1.0 {
        RelativeCost::Worse(span)
    } else {
        RelativeCost::Level(span)
    }
}

/// `programs contradict build; unconfirmed: database`
fn doubts_in_short(document: &Document) -> Option<String> {
    let named = |wanted: LoadDoubt| {
        let of_it = document.loads.iter().filter(|load| doubt(load) == Some(wanted));
        of_it.map(|load| load.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let [contradicted, other] = [named(LoadDoubt::Contradicted), named(LoadDoubt::Unconfirmed)];
    match (contradicted.is_empty(), other.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("not confirmed by a program: {other}")),
        (false, true) => Some(format!("programs contradict {contradicted}")),
        (false, false) => Some(format!("programs contradict {contradicted}; unconfirmed: {other}")),
    }
}

/// One line for each load, in at most `most` lines; the loads without a line are counted.
pub(super) fn render_lines(page: &mut Page, document: &Document, most: usize) {
    if document.loads.is_empty() || has_too_few_blocks(document) {
        return;
    }
    let note = doubts_in_short(document);
    // In the heading, it does not take a line from a load.
    let heading = note.as_ref().map(|note| format!("Loads, estimated ({note})"));
    let heading = heading.filter(|heading| heading.chars().count() <= page.width());
    page.heading(heading.as_deref().unwrap_or("Loads, estimated from their operations"));
    // If there is little room, the loads themselves get all of it.
    let note = note.filter(|_| heading.is_none() && most > NOTE_BEYOND);
    let most = most - usize::from(note.is_some());
    let (told, others) = shown_and_rest(document, most);
    for load in document.loads.iter().take(told) {
        let room = page.width().saturating_sub(SENTENCE.first);
        let whole = sentence(load, Detail::All);
        let fits = whole.chars().count() <= room;
        page.sentence(&if fits { whole } else { sentence(load, Detail::Least) });
    }
    if let Some(others) = others {
        page.sentence(&others);
    }
    if let Some(note) = note {
        page.paragraph(&note, SENTENCE, Style::Dim);
    }
}

/// How much detail an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Also why.
    All,
    /// Only which target, and by how much.
    Least,
}

/// `For a mail server: ext4; xfs 1.2x [1.1, 1.4] slower, mostly fsync`.
fn sentence(load: &LoadReport, detail: Detail) -> String {
    format!("For {}: {}", load.title, answer(load, detail))
}

/// `ext4; xfs 1.2x [1.1, 1.4] slower, mostly fsync`.
fn answer(load: &LoadReport, detail: Detail) -> String {
    let Some(best) = quickest(load) else {
        let why = load.missing.first().map_or("nothing was measured", |missing| &missing.why);
        return why.to_owned();
    };
    let others: Vec<&LoadCost> =
        load.costs.iter().filter(|cost| cost.target != best.target).collect();
    if others.is_empty() {
        return alone(load, best, detail);
    }
    let related: Vec<(&LoadCost, &LoadComparison)> = others
        .iter()
        .filter_map(|&other| Some((other, comparison(load, &best.target, &other.target)?)))
        .collect();
    if related.iter().all(|(_, found)| found.verdict == Verdict::NotEnoughData) {
        return "too little data to tell".to_owned();
    }
    let mut slower: Vec<(&LoadCost, Slowdown)> = Vec::new();
    let mut alike = vec![names::label(&best.target)];
    for (cost, found) in related {
        let by = slowness(found, &cost.target).filter(|by| by.low > 1.0);
        match by.filter(|_| found.verdict.is_different()) {
            Some(by) => slower.push((cost, by)),
            None => alike.push(names::label(&cost.target)),
        }
    }
    slower.sort_by(|left, right| left.1.ratio.total_cmp(&right.1.ratio));
    let Some((second, _)) = slower.first() else {
        return format!("{} cannot be told apart", list(&alike, "and"));
    };
    let why = if detail == Detail::Least { None } else { why(best, second) };
    let told = |(at, (cost, by)): (usize, &(&LoadCost, Slowdown))| {
        let ratio = units::ratio(by.ratio, by.low, by.high);
        let label = names::label(&cost.target);
        // If several targets are slower, it is given for the first.
        let why = why.as_ref().filter(|_| at == 0 && slower.len() > 1);
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        unbroken(&format!("{label} {} {}", ratio.value, ratio.interval)) + &why
    };
    let behind: Vec<String> = slower.iter().enumerate().map(told).collect();
    let why = why.as_ref().filter(|_| slower.len() == 1);
    let why = why.map(|why| format!(", {why}")).unwrap_or_default();
    format!("{}; {} slower{why}", list(&alike, "or"), behind.join(", "))
}

/// The target that is slower than the fewest others, block by block.
fn quickest(load: &LoadReport) -> Option<&LoadCost> {
    let losses = |cost: &LoadCost| {
        let of_target = load.comparisons.iter().filter_map(|found| {
            let is_in = found.first == cost.target || found.second == cost.target;
            is_in.then(|| slowness(found, &cost.target)).flatten()
        });
        of_target.filter(|by| by.ratio > 1.0).count()
    };
    load.costs.iter().min_by(|left, right| {
        losses(left).cmp(&losses(right)).then(left.time_ns.total_cmp(&right.time_ns))
    })
}

/// The time of a unit if there is only one target, or only one for which the load can be estimated.
fn alone(load: &LoadReport, cost: &LoadCost, detail: Detail) -> String {
    let text = units::figure("ns", cost.time_ns, cost.interval.as_ref(), Wording::Short);
    let unit = match detail {
        _ if text.is_none() => " to tell".to_owned(),
        Detail::All => format!(" for {}", load.unit),
        Detail::Least => " a unit (--full)".to_owned(),
    };
    let interval = text.interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    let most = cost.parts.iter().max_by(|left, right| left.time_ns.total_cmp(&right.time_ns));
    let why = most
        .filter(|part| part.time_ns >= MAJORITY * cost.time_ns)
        .map(|part| format!(", mostly {}", part.kind));
    let time = format!("{}{interval}{unit}", text.value.trim_end());
    let Some(missing) = load.missing.first() else {
        return format!("{time}{}", why.unwrap_or_default());
    };
    let label = names::label(&cost.target);
    format!("{label}, {time} ({}: {})", names::label(&missing.target), missing.why)
}

fn comparison<'a>(load: &'a LoadReport, one: &str, other: &str) -> Option<&'a LoadComparison> {
    load.comparisons.iter().find(|found| {
        let pair = (found.first.as_str(), found.second.as_str());
        pair == (one, other) || pair == (other, one)
    })
}

/// How many times as long `target` takes as the other of the comparison.
fn slowness(found: &LoadComparison, target: &str) -> Option<Slowdown> {
    let (ratio, interval) = found.ratio.zip(found.interval)?;
    Some(Slowdown::new(ratio, &interval, found.second == target))
}

/// Which operations account for the difference: `mostly fsync`, `from reads and opens`.
fn why(best: &LoadCost, other: &LoadCost) -> Option<String> {
    let mut parts: Vec<(&str, f64)> = other
        .parts
        .iter()
        .filter_map(|part| {
            let same = best.parts.iter().find(|one| one.kind == part.kind)?;
            Some((part.kind.as_str(), part.time_ns - same.time_ns))
        })
        .filter(|(_, more)| *more > 0.0)
        .collect();
    parts.sort_by(|left, right| right.1.total_cmp(&left.1));
    let all: f64 = parts.iter().map(|(_, more)| more).sum();
    match parts.as_slice() {
        [(kind, _)] => Some(format!("all of it {kind}")),
        [(kind, more), ..] if *more >= MAJORITY * all => Some(format!("mostly {kind}")),
        [(first, _), (second, _), ..] => Some(format!("from {first} and {second}")),
        [] => None,
    }
}
