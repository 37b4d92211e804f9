//! Table 1: which benchmarks papers have used, counted again from its rows, and what the text says
//! about them.

use serde::Serialize;
use textual::{Columns, paragraph};

/// Rows of Table 1: the benchmark, and in how many papers of 1999 to 2007 and of 2009 to 2010 it
/// was used.
const ROWS: [(&str, u32, u32); 19] = [
    ("IOmeter", 2, 3),
    ("Filebench", 3, 5),
    ("IOzone", 0, 4),
    ("Bonnie, Bonnie64, Bonnie++", 2, 0),
    ("Postmark", 30, 17),
    ("Linux compile", 6, 3),
    ("Compile (Apache, openssh, etc.)", 38, 14),
    ("DBench", 1, 1),
    ("SPECsfs", 7, 1),
    ("Sort", 0, 5),
    ("IOR", 0, 1),
    ("Production workloads", 2, 2),
    (AD_HOC, 237, 67),
    ("Trace-based, custom", 7, 18),
    (STANDARD_TRACES, 14, 17),
    ("BLAST", 0, 2),
    ("Flexible FS Benchmark (FFSB)", 0, 1),
    ("Flexible I/O tester (fio)", 0, 1),
    ("Andrew", 15, 1),
];
const AD_HOC: &str = "Ad-hoc";
const STANDARD_TRACES: &str = "Trace-based, standard";
/// Benchmarks in the survey of 1999 to 2007, from which the first column comes.
const EARLIER_SURVEY: u32 = 415;
/// Papers with Filebench, according to section 3: at FAST 2010 and at OSDI 2010.
const FILEBENCH: [u32; 2] = [3, 4];

/// Table 1 and what the text says about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// The paper.
    pub paper: &'static str,
    /// The rows.
    pub rows: Vec<SurveyRow>,
    /// Their sums.
    pub sum: SurveyRow,
    /// What follows from them, beside what the text says.
    pub findings: Vec<String>,
}

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SurveyRow {
    /// Its name.
    pub benchmark: &'static str,
    /// Papers of 1999 to 2007 that used it.
    pub papers_1999_to_2007: u32,
    /// Papers of 2009 and 2010.
    pub papers_2009_to_2010: u32,
}

impl Survey {
    /// The table, counted again.
    #[must_use]
    pub fn published() -> Self {
        let row = |(benchmark, papers_1999_to_2007, papers_2009_to_2010)| SurveyRow {
            benchmark,
            papers_1999_to_2007,
            papers_2009_to_2010,
        };
        let rows = ROWS.map(row).to_vec();
        let earlier = rows.iter().map(|row| row.papers_1999_to_2007).sum();
        let later = rows.iter().map(|row| row.papers_2009_to_2010).sum();
        let sum = row(("all", earlier, later));
        Self { paper: super::PAPER, findings: findings(&rows, sum), rows, sum }
    }

    /// Renders it for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut columns = Columns::headed(["benchmark", "1999-2007", "2009-2010"]);
        for row in self.rows.iter().chain([&self.sum]) {
            columns.row([
                row.benchmark.to_owned(),
                row.papers_1999_to_2007.to_string(),
                row.papers_2009_to_2010.to_string(),
            ]);
        }
        let head = paragraph("", "", self.paper, width);
        let mut text = format!("{head}\nTable 1: papers that used each benchmark\n");
        text += &columns.render();
        text += "\nWhat the rows say, and what the text says\n";
        text + &self
            .findings
            .iter()
            .map(|one| paragraph("- ", "  ", one, width))
            .collect::<String>()
    }
}

fn findings(rows: &[SurveyRow], sum: SurveyRow) -> Vec<String> {
    let named = |name: &str| rows.iter().find(|row| row.benchmark == name);
    let later = |name: &str| named(name).map_or(0, |row| row.papers_2009_to_2010);
    let others = rows.iter().filter(|row| row.benchmark != AD_HOC);
    let next = others.max_by_key(|row| row.papers_2009_to_2010);
    let (next, papers) = next.map_or(("", 0), |row| (row.benchmark, row.papers_2009_to_2010));
    let ad_hoc = later(AD_HOC);
    let share = 100.0 * f64::from(ad_hoc) / f64::from(sum.papers_2009_to_2010);
    let [fast, osdi] = FILEBENCH;
    vec![
        format!(
            "\"Ad-hoc testing was by far the most common choice\": {ad_hoc} of {} uses in 2009 and \
             2010 ({share:.0} %), {:.1} times as many as the next ({next}, {papers}). This holds.",
            sum.papers_2009_to_2010,
            f64::from(ad_hoc) / f64::from(papers.max(1))
        ),
        format!(
            "Filebench \"was used in {fast} papers in FAST 2010 and {osdi} in OSDI 2010\": these \
             are {} papers at two conferences, but the table has {} for both years at six. One of \
             the two numbers is wrong.",
            fast + osdi,
            later("Filebench")
        ),
        format!(
            "\"Of the 14 standard traces, only 2 are widely available\": 14 is the table's number \
             of papers for 1999 to 2007. For 2009 and 2010, which the text is about, it has {}.",
            later(STANDARD_TRACES)
        ),
        format!(
            "The earlier survey, which the column 1999-2007 is said to come from, \"examined \
             {EARLIER_SURVEY} file system benchmarks\"; the column adds up to {}, so {} uses are \
             in none of its rows.",
            sum.papers_1999_to_2007,
            EARLIER_SURVEY.saturating_sub(sum.papers_1999_to_2007)
        ),
        "Which dimensions each benchmark covers is the authors' judgement, with nothing to count."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_sums_and_contradictions_are_counted() {
        let survey = Survey::published();
        assert_eq!((survey.sum.papers_1999_to_2007, survey.sum.papers_2009_to_2010), (364, 163));
        for (finding, part) in [
            (0, "67 of 163 uses in 2009 and 2010 (41 %), 3.7 times as many"),
            (1, "these are 7 papers at two conferences, but the table has 5"),
            (2, "it has 17"),
            (3, "adds up to 364, so 51 uses"),
        ] {
            assert!(survey.findings[finding].contains(part), "{}", survey.findings[finding]);
        }
    }

    #[test]
    fn it_fits_the_page() {
        let text = Survey::published().text(80);
        let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(too_wide, Vec::<&str>::new());
        assert!(text.contains("\n  all"), "{text}");
    }
}
