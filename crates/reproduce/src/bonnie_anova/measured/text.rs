//! The measured figures as text, each beside the paper's.

use textual::{Columns, paragraph, plural, size};

use super::{Clock, DifferenceRow, EffectRow, Estimate, RateRow, RunAnalysis, ShareRow, SourceRow};
use crate::bonnie_anova::published::FILE_SYSTEMS;
use crate::statement;

pub(super) fn render(of: &RunAnalysis, width: usize) -> String {
    let mut text = format!("\n{}\n", paragraph("", "", &heading(of), width).trim_end());
    text += &rates(of);
    if !of.shares.is_empty() {
        text += "\nShares of the variation in %, of each block by itself, as the paper's one run\n";
        text += &shares(&of.shares);
    }
    if !of.variance.is_empty() {
        text += "\nAnalysis of variance of all blocks together, whose errors are of repeating\n";
        text += &variance(&of.variance);
    }
    if !of.effects.is_empty() {
        text += "\nEffects in % of the mean of all, by block\n";
        text += &effects(&of.effects);
    }
    if !of.differences.is_empty() {
        text += "\nDifferences between file systems in % of the mean of all, by block; those ";
        text += "measured hold together\n";
        text += &differences(&of.differences);
    }
    let how = match of.clock {
        Clock::Time => "measured here",
        Clock::Instructions => "counted in the guest",
    };
    text += &statement::text(&of.statements, how, width);
    for warning in &of.warnings {
        text += &paragraph("- errors of all blocks together: ", "  ", warning, width);
    }
    for what in &of.missing {
        text += &paragraph("- not measured: ", "  ", what, width);
    }
    text
}

fn heading(of: &RunAnalysis) -> String {
    if of.clock == Clock::Instructions {
        return format!(
            "Counted in a guest with Linux {}, for file systems that this kernel lacks: Bonnie{} \
             in memory, {}; means with intervals at {:.0} %. Its clock counts instructions, so \
             these are rates by the processor's work, in which no device takes time",
            of.kernel,
            of.file_bytes.map(on_file).unwrap_or_default(),
            plural(of.blocks, "complete block"),
            of.level * 100.0
        );
    }
    let file = of.file_bytes.map(on_file);
    let memory = of.memory_bytes.map(|bytes| format!(" with {} of memory", size(bytes as f64, 3)));
    format!(
        "Measured here: Bonnie{}{} (the paper: 320 MB with 64 MB), {}; means with intervals at \
         {:.0} %",
        file.unwrap_or_default(),
        memory.unwrap_or_default(),
        plural(of.blocks, "complete block"),
        of.level * 100.0
    )
}

fn on_file(bytes: u64) -> String {
    format!(" on a file of {}", size(bytes as f64, 3))
}

/// One row per file system, since there may be more of them than columns fit.
fn rates(of: &RunAnalysis) -> String {
    let (rows, file_systems) = (&of.rates, &of.file_systems);
    // The paper has no counts of instructions to compare with.
    let (unit, published) = match of.clock {
        Clock::Time => ("kB/s", &FILE_SYSTEMS[..]),
        Clock::Instructions => ("KiB per million", &[][..]),
    };
    let heads = std::iter::once(unit).chain(rows.iter().map(|row| row.action));
    let mut columns = Columns::headed(heads);
    let whole = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!("{rate:.0}"));
    for &name in published {
        let of =
            |row: &RateRow| row.published.iter().find(|(one, _)| *one == name).map(|one| one.1);
        let rates = rows.iter().map(|row| whole(of(row)));
        columns.row(std::iter::once(format!("{name}, paper")).chain(rates));
    }
    for name in file_systems {
        let of = |row: &RateRow| {
            row.measured.iter().find(|(one, _)| one == name).map(|(_, rate)| rate.mean)
        };
        let rates = rows.iter().map(|row| whole(of(row)));
        columns.row(std::iter::once(format!("{name}, here")).chain(rates));
    }
    format!("\n{}", columns.render())
}

fn shares(rows: &[ShareRow]) -> String {
    let mut columns = Columns::headed(["source", "published", "measured", "interval"]);
    for row in rows {
        let published = row.published.map_or_else(String::new, |share| format!("{share:.1}"));
        let [mean, interval] = [format!("{:.1}", row.measured.mean), plain_ends(&row.measured)];
        columns.row([row.source.clone(), published, mean, interval]);
    }
    columns.render()
}

fn variance(rows: &[SourceRow]) -> String {
    let heads =
        ["source", "% of variation", "df", "F, paper", "F, here", "F at 95 %, here", "p, here"];
    let mut columns = Columns::headed(heads);
    let tenths = |value: Option<f64>| value.map_or_else(String::new, |one| format!("{one:.1}"));
    for row in rows {
        let p = row.p.map(|p| if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") });
        columns.row([
            row.source.clone(),
            format!("{:.1}", row.percent_of_variation),
            row.df.to_string(),
            tenths(row.published_f),
            tenths(row.f),
            tenths(row.f_quantile),
            p.unwrap_or_default(),
        ]);
    }
    columns.render()
}

fn effects(rows: &[EffectRow]) -> String {
    let mut columns = compared("level");
    for row in rows {
        columns.row(beside(row.level.clone(), row.published.as_ref(), &row.measured));
    }
    columns.render()
}

fn differences(rows: &[DifferenceRow]) -> String {
    let mut columns = compared("file systems");
    for row in rows {
        let name = format!("{} - {}", row.first, row.second);
        columns.row(beside(name, row.published.as_ref(), &row.measured));
    }
    columns.render()
}

fn compared(what: &str) -> Columns {
    Columns::headed([what, "published", "interval", "measured", "interval"])
}

fn beside(name: String, published: Option<&Estimate>, measured: &Estimate) -> [String; 5] {
    let mean = |of: &Estimate| format!("{:+.1}", of.mean);
    [
        name,
        published.map_or_else(String::new, mean),
        published.map_or_else(String::new, ends),
        mean(measured),
        ends(measured),
    ]
}

/// The ends of an interval, with their signs.
fn ends(of: &Estimate) -> String {
    let ends = of.low.zip(of.high);
    ends.map_or_else(String::new, |(low, high)| format!("[{low:+.1}, {high:+.1}]"))
}

/// The same for values that are never negative.
fn plain_ends(of: &Estimate) -> String {
    let ends = of.low.zip(of.high);
    ends.map_or_else(String::new, |(low, high)| format!("[{low:.1}, {high:.1}]"))
}
