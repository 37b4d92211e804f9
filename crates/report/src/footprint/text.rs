//! Footprints in the terminal.

use std::fmt::Write as _;

use footprint::cachemap::Cachemap;
use footprint::cachemap::text::{LineFilter, text};
use footprint::diff::Change;
use footprint_study::{Executed, Repetition};
use textual::plural;

use super::documents::{Difference, Tree};

/// Nodes with less than this share of the whole are left out.
const SHARE_MIN: f64 = 0.005;
/// Number of functions that are shown in a difference.
const FUNCTIONS_SHOWN: usize = 40;

/// A cachemap with a heading.
#[must_use]
pub fn map(map: &Cachemap, executed: &Executed, rows: LineFilter, width: usize) -> String {
    let used: usize = map.lines.iter().map(footprint::cachemap::MappedLine::bytes_used).sum();
    let heading = format!(
        "{}, {}, {}: {}, {used} of {} bytes used{}",
        executed.target,
        executed.operation,
        map.of.name(),
        plural(map.lines.len(), "line"),
        map.lines.len() * 64,
        repetition_text(executed.repetition),
    );
    format!("{heading}\n\n{}", text(map, rows, width))
}

/// Which repetition is shown, to be appended to a heading.
fn repetition_text(repetition: Repetition) -> String {
    repetition.text().map_or_else(String::new, |text| format!(" ({text})"))
}

/// A tree, with callees indented below their callers and shares of the whole. Nodes with less than
/// 0.5 % of it are left out, and counted.
#[must_use]
pub fn tree(tree: &Tree) -> String {
    let whole = tree.nodes.first().map_or(0.0, |root| root.total);
    let repetition = Repetition { number: tree.repetition, of: tree.repetitions };
    let (target, operation, unit) = (&tree.target, &tree.operation, &tree.unit);
    let mut text =
        format!("{target}, {operation}: {whole} {unit}{}\n\n", repetition_text(repetition));
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    for (place, node) in tree.nodes.iter().enumerate().skip(1) {
        children[node.parent as usize].push(place);
    }
    let mut left_out = 0;
    let mut waiting: Vec<(usize, usize)> = vec![(0, 0)];
    while let Some((place, depth)) = waiting.pop() {
        let node = &tree.nodes[place];
        if node.total < SHARE_MIN * whole {
            left_out += 1;
            continue;
        }
        let share = if whole > 0.0 { node.total / whole * 100.0 } else { 0.0 };
        let (total, own) = (node.total, node.own);
        let name = format!("{:indent$}{}", "", node.name, indent = depth * 2);
        let _ = writeln!(text, "{share:5.1} %  {total:>9}  {own:>9}  {name}");
        let mut below = std::mem::take(&mut children[place]);
        below.sort_by(|&one, &other| tree.nodes[one].total.total_cmp(&tree.nodes[other].total));
        waiting.extend(below.into_iter().map(|child| (child, depth + 1)));
    }
    let text = text.replacen("\n\n", "\n\n  share      total        own\n", 1);
    match left_out {
        0 => text,
        1 => format!("{text}\n1 branch below 0.5 % is not shown\n"),
        _ => format!("{text}\n{left_out} branches below 0.5 % each are not shown\n"),
    }
}

/// A tree in the format of Brendan Gregg's flamegraph.pl and similar tools: a line per stack, with
/// frames joined by `;`, then the weight. If there are several targets or operations, they become
/// the outermost frames.
#[must_use]
pub fn folded(trees: &[Tree]) -> String {
    let mut text = String::new();
    for tree in trees {
        let outer = match trees {
            [_] => String::new(),
            _ => format!("{};{};", plain(&tree.target), plain(&tree.operation)),
        };
        let mut paths: Vec<String> = Vec::new();
        for (place, node) in tree.nodes.iter().enumerate() {
            let path = match (place, paths.get(node.parent as usize)) {
                (0, _) | (_, None) => String::new(),
                (_, Some(above)) if above.is_empty() => plain(&node.name),
                (_, Some(above)) => format!("{above};{}", plain(&node.name)),
            };
            if node.own > 0.0 && place > 0 {
                let _ = writeln!(text, "{outer}{path} {}", node.own);
            }
            paths.push(path);
        }
    }
    text
}

/// A name without the characters that separate frames.
fn plain(name: &str) -> String {
    name.replace(';', ":")
}

/// A difference: its categories, then the functions that changed most.
#[must_use]
pub fn difference(difference: &Difference) -> String {
    let Difference { operation, before, after, categories, functions } = difference;
    let mut text = format!(
        "{operation}: from {before} to {after}\ninstructions executed, lines of code and lines of \
         data in the latter, with changes\n\n"
    );
    let head = "executed  change   code  change   data  change";
    let _ = writeln!(text, "{head}  category");
    categories.iter().for_each(|row| push_row(&mut text, row, &row.category));
    if functions.is_empty() {
        text.push_str("\nno function changed\n");
        return text;
    }
    let _ = writeln!(text, "\n{head}  function (category)");
    for row in functions.iter().take(FUNCTIONS_SHOWN) {
        let name = format!("{} ({})", row.function.as_deref().unwrap_or(""), row.category);
        push_row(&mut text, row, &name);
    }
    let more = functions.len().saturating_sub(FUNCTIONS_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "\nand {more} more functions: --format json lists them all");
    }
    text
}

fn push_row(text: &mut String, row: &Change, name: &str) {
    let gained = |before: u64, after: u64| match after.cast_signed() - before.cast_signed() {
        0 => "0".to_owned(),
        change => format!("{change:+}"),
    };
    let Change { before, after, .. } = row;
    let _ = writeln!(
        text,
        "{:>8} {:>7} {:>6} {:>7} {:>6} {:>7}  {name}",
        after.instructions,
        gained(before.instructions, after.instructions),
        after.instruction_lines,
        gained(before.instruction_lines, after.instruction_lines),
        after.data_lines,
        gained(before.data_lines, after.data_lines),
    );
}
