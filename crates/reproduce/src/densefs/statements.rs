//! The statements of all parts, and those of section 2, each compared with what was traced.
//!
//! "Typically" and "many" are interpreted as the median over all targets and the operations on
//! names, which the paper traced ("a variety of metadata operations"); reads and writes of data are
//! shown separately.

use super::figures::median;
use super::{
    CachemapSize, CodeShares, Estimate, Lacking, OperationFootprint, Outcome, Part, Reproduction,
    Statement, code, figure_3, figure_4, functions, grep, inode,
};
use crate::statement::{Found, statement};

/// Operations on names.
const METADATA: [&str; 4] = ["create", "unlink", "rename", "stat"];
/// Operations on data.
const DATA: [&str; 2] = ["write", "read"];
/// Which ratios count as "about" equal.
const ABOUT: std::ops::RangeInclusive<f64> = 0.67..=1.5;
/// Which ratios count as "about twice".
const ABOUT_TWICE: std::ops::RangeInclusive<f64> = 1.5..=2.5;

/// Statements, each made from what was found.
type Statements = &'static [fn(&Reproduction) -> Statement];

const FIGURE_1: Statements = &[
    create_instructions,
    create_data,
    unlink_instructions,
    rename_is_smaller,
    rename_instructions,
];
const SECTION_2: Statements = &[twice, wasted_data, sparse_data, less_wasted, once];
const FIGURE_2: Statements = &[vfs_and_page_cache, common, variation];

/// The statements of a part, in the paper's order.
pub(super) fn all(of: &Reproduction, part: Part, lacking: &Lacking) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut add = |own, statements: Vec<Statement>, why: &Option<String>| {
        if part.has(own) {
            let explained = |one: Statement| match (one.outcome, why) {
                (Outcome::Unknown, Some(why)) => one.because(why),
                _ => one,
            };
            all.extend(statements.into_iter().map(explained));
        }
    };
    let made = |statements: Statements| statements.iter().map(|one| one(of)).collect();
    add(Part::Figure1, made(FIGURE_1), &lacking.traces);
    add(Part::Section2, made(SECTION_2), &lacking.traces);
    add(Part::Figure2, made(FIGURE_2), &lacking.traces);
    add(Part::Section31, inode::statements(), &None);
    add(Part::Figure3, made(figure_3::STATEMENTS), &lacking.compaction);
    add(Part::Section32, made(code::STATEMENTS), &None);
    add(Part::Section32, made(functions::STATEMENTS), &lacking.functions);
    add(Part::Figure4, figure_4::statements(&of.figure_4), &lacking.pollution);
    add(Part::Section4, grep::statements(&of.grep), &lacking.grep);
    all
}

fn cachemap<'a>(of: &'a Reproduction, operation: &str) -> Option<&'a CachemapSize> {
    of.figure_1.iter().find(|one| one.operation.starts_with(operation))
}

fn create_instructions(of: &Reproduction) -> Statement {
    let claim = "creat on xfs touches over a thousand instruction lines";
    let none = statement("Figure 1 (a)", claim, "over 1,000 lines", None).within("none: a bound");
    let Some(found) = cachemap(of, "creat").map(|one| one.instruction_lines) else { return none };
    let Estimate { median, low, high } = found;
    let (low, high) = (low.unwrap_or(median), high.unwrap_or(median));
    let measured = format!("{median:.0} lines [{low:.0}, {high:.0}]");
    Statement { measured, outcome: Outcome::of_interval(low > 1000.0, high <= 1000.0), ..none }
}

fn create_data(of: &Reproduction) -> Statement {
    let found = cachemap(of, "creat").map(|one| one.data_lines);
    let claim = "creat on xfs touches about 450 data lines";
    about(
        statement("Figure 1 (a)", claim, "about 450 lines, read off the axis", None),
        found,
        450.0,
    )
}

fn unlink_instructions(of: &Reproduction) -> Statement {
    let found = cachemap(of, "unlink").map(|one| one.instruction_lines);
    let claim = "unlink of a 4 KiB file on xfs touches about a thousand instruction lines";
    about(
        statement("Figure 1 (b)", claim, "about 1,000 lines, read off the axis", None),
        found,
        1000.0,
    )
}

/// A statement whose number is about the published one, or not, by the whole of its interval.
fn about(unmeasured: Statement, found: Option<Estimate>, published: f64) -> Statement {
    let unmeasured = unmeasured.within("a factor of 1.5");
    let Some(Estimate { median, low, high }) = found else { return unmeasured };
    let (low, high) = (low.unwrap_or(median) / published, high.unwrap_or(median) / published);
    let times = median / published;
    let interval = if low < high { format!(" [{low:.2}, {high:.2}]") } else { String::new() };
    let measured = format!("{median:.0} lines, {times:.2}{interval} times as many");
    let agrees = ABOUT.contains(&low) && ABOUT.contains(&high);
    let disagrees = low > *ABOUT.end() || high < *ABOUT.start();
    let outcome = Outcome::of_interval(agrees, disagrees);
    let told = Statement { measured, outcome, ..unmeasured };
    match outcome {
        Outcome::Unknown => told.because("the interval is neither all within that nor all beyond"),
        Outcome::Holds | Outcome::DoesNotHold => told,
    }
}

fn rename_is_smaller(of: &Reproduction) -> Statement {
    let found = || {
        let lines = |operation| Some(cachemap(of, operation)?.instruction_lines.median);
        let (create, unlink, rename) = (lines("creat")?, lines("unlink")?, lines("rename")?);
        let measured = format!("rename {rename:.0}, unlink {unlink:.0}, creat {create:.0} lines");
        Some((measured, rename < unlink && rename < create))
    };
    let claim = "rename touches fewer instruction lines than creat and unlink";
    statement("Figure 1 (c)", claim, "a shorter axis than those of (a) and (b)", found())
        .within("any fewer")
}

fn rename_instructions(of: &Reproduction) -> Statement {
    let found = cachemap(of, "rename").map(|one| one.instruction_lines);
    let claim = "rename on xfs touches about 300 instruction lines, the highest number on the \
                 figure's axis";
    let published = "about 300 lines, read off the axis";
    about(statement("Figure 1 (c)", claim, published, None), found, 300.0)
        .because("that axis may go on above its highest number")
}

/// The footprints of these operations, in this order.
fn those<'a>(
    of: &'a Reproduction,
    operations: &'a [&str],
) -> impl Iterator<Item = &'a OperationFootprint> + Clone {
    let named = |name: &'a &str| of.footprints.iter().filter(move |one| one.operation == **name);
    operations.iter().flat_map(named)
}

/// The range of a figure over the targets, for each operation.
fn ranges(
    of: &Reproduction,
    operations: &[&str],
    figure: impl Fn(&OperationFootprint) -> Option<f64>,
    show: impl Fn(f64) -> String,
) -> String {
    let range = |name: &&str| {
        let values = those(of, std::slice::from_ref(name)).filter_map(&figure);
        let (least, most) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
                (least.min(value), most.max(value))
            });
        (least <= most).then(|| match (show(least), show(most)) {
            (least, most) if least == most => format!("{name} {least}"),
            (least, most) => format!("{name} {least} to {most}"),
        })
    };
    operations.iter().filter_map(range).collect::<Vec<String>>().join(", ")
}

/// The median of a figure over all targets and operations on names, followed by the ranges.
fn typically(
    of: &Reproduction,
    figure: fn(&OperationFootprint) -> Option<f64>,
    show: fn(f64) -> String,
    holds: impl Fn(f64) -> bool,
) -> Found {
    let values = || those(of, &METADATA).filter_map(figure);
    let typical = median(values())?;
    let (count, all) = (values().filter(|value| holds(*value)).count(), values().count());
    let beside = ranges(of, &DATA, figure, show);
    let beside = if beside.is_empty() { beside } else { format!("; on data: {beside}") };
    let ranges = ranges(of, &METADATA, figure, show);
    let measured =
        format!("median {}; {count} of {all} operations on names: {ranges}{beside}", show(typical));
    Some((measured, holds(typical)))
}

fn times(value: f64) -> String {
    format!("{value:.2}x")
}

fn percent(value: f64) -> String {
    format!("{value:.0} %")
}

fn twice(of: &Reproduction) -> Statement {
    let found = typically(of, |one| Some(one.ratio), times, |one| ABOUT_TWICE.contains(&one));
    let claim = "for operations on names, the instruction footprint is typically about twice the \
                 data footprint";
    statement("section 2, first", claim, "about twice", found)
        .within("1.5 to 2.5 times, median of all file systems and operations")
}

fn wasted_data(of: &Reproduction) -> Statement {
    let figure = |one: &OperationFootprint| Some(one.data_bytes_unused_percent);
    let found = typically(of, figure, percent, |one| one >= 33.0);
    let claim = "data lines are wasteful: accesses leave many of their bytes unused";
    statement("section 2, second", claim, "relatively wasteful", found)
        .within("a third of the bytes or more, in the median")
}

fn sparse_data(of: &Reproduction) -> Statement {
    let figure = |one: &OperationFootprint| one.sparse_data_lines_percent;
    let single = ranges(of, &METADATA, |one| Some(one.data_lines_used_once_percent), percent);
    let found = typically(of, figure, percent, |one| one >= 25.0);
    let found = found.map(|(text, holds)| {
        (format!("{text}. Lines touched by a single access: {single}"), holds)
    });
    let claim = "many data accesses drag in a line for a handful of bytes";
    statement("section 2, second", claim, "many, often for a single access", found)
        .within("8 bytes or fewer of 64, in a quarter of the lines or more, in the median")
}

fn less_wasted(of: &Reproduction) -> Statement {
    let found = || {
        let less = |one: &&OperationFootprint| {
            one.instruction_bytes_unused_percent < one.data_bytes_unused_percent
        };
        let all = those(of, &METADATA);
        let (count, total) = (all.clone().filter(less).count(), all.count());
        let figure = |one: &OperationFootprint| Some(one.instruction_bytes_unused_percent);
        let unused = |figure: fn(&OperationFootprint) -> f64| {
            median(those(of, &METADATA).map(figure)).map(percent)
        };
        let instructions = unused(|one| one.instruction_bytes_unused_percent)?;
        let data = unused(|one| one.data_bytes_unused_percent)?;
        let ranges = ranges(of, &METADATA, figure, percent);
        let beside = those(of, &DATA).filter(less).count();
        let measured = format!(
            "medians: {instructions} for instructions, {data} for data; instructions waste less in \
             {count} of {total} operations on names ({ranges}) and in {beside} of {} on data",
            those(of, &DATA).count()
        );
        Some((measured, 2 * count > total))
    };
    let claim = "instruction lines have a smaller share of unused bytes than data lines";
    statement("section 2, third", claim, "somewhat less wasteful", found())
        .within("any smaller, in more than half of all")
}

fn once(of: &Reproduction) -> Statement {
    let figure = |one: &OperationFootprint| Some(one.instruction_lines_used_once_percent);
    let found = typically(of, figure, percent, |one| one > 50.0);
    let claim = "little temporal locality: most instruction lines are executed once";
    statement("section 2, third", claim, "prevalence of cells executed once", found)
        .within("over half of the lines, in the median")
}

/// The minimum and maximum over the targets, with their names.
fn over_targets(of: &Reproduction, figure: impl Fn(&CodeShares) -> f64) -> Option<String> {
    let mut values: Vec<(f64, &str)> =
        of.figure_2.iter().map(|graph| (figure(graph), graph.target.as_str())).collect();
    values.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (least, most) = (values.first()?, values.last()?);
    Some(format!("{:.0} % ({}) to {:.0} % ({})", least.0, least.1, most.0, most.1))
}

const FILE_SYSTEM: [&str; 2] = ["file system", "journal"];
const VFS_AND_PAGE_CACHE: [&str; 2] = ["vfs", "page cache"];

fn vfs_and_page_cache(of: &Reproduction) -> Statement {
    let together = |graph: &CodeShares| graph.own_percent(&VFS_AND_PAGE_CACHE);
    let is_largest = |graph: &CodeShares| {
        let excluded =
            |name: &str| FILE_SYSTEM.contains(&name) || VFS_AND_PAGE_CACHE.contains(&name);
        let others = graph.categories.iter().filter(|one| !excluded(&one.category));
        others.fold(0.0, |most, one| f64::max(most, one.own_percent)) < together(graph)
    };
    let found = over_targets(of, together).map(|range| (range, of.figure_2.iter().all(is_largest)));
    let claim = "VFS and page cache play a large role in the code footprint";
    statement("Figure 2", claim, "a large role", found)
        .within("more than any other category of code that file systems share, on each")
}

fn common(of: &Reproduction) -> Statement {
    let common = |graph: &CodeShares| 100.0 - graph.own_percent(&FILE_SYSTEM);
    let is_large = |graph: &CodeShares| common(graph) >= 33.0;
    let found = over_targets(of, common).map(|range| (range, of.figure_2.iter().all(is_large)));
    let claim = "infrastructure that belongs to no file system is a large part of it";
    statement("Figure 2", claim, "a large role", found).within("a third or more, on each")
}

fn variation(of: &Reproduction) -> Statement {
    let found = || {
        let own = |graph: &CodeShares| graph.own_percent(&["file system"]);
        let range = over_targets(of, own)?;
        let values = || of.figure_2.iter().map(own);
        let spread = values().fold(0.0, f64::max) - values().fold(f64::INFINITY, f64::min);
        (of.figure_2.len() > 1)
            .then(|| (format!("the file system's own code: {range}"), { spread >= 5.0 }))
    };
    let claim = "the flame graphs vary between file systems";
    statement("Figure 2", claim, "some variation", found())
        .within("5 % or more between the file systems' own code")
}
