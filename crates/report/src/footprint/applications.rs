//! The document and the text of `fsprism footprint applications`: what whole programs execute and
//! miss in simulated caches.

use footprint::owners::{CodeOwner, OwnerFigures};
use record::SimulatedCaches;
use schemars::JsonSchema;
use serde::Serialize;
use textual::{Columns, grouped};

use super::documents::SCHEMA_VERSION;
use super::polluted::heading;

/// What programs execute and miss on file systems.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ApplicationsDocument {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The caches that were simulated, in the order of the misses.
    pub caches: SimulatedCaches,
    /// How many files the tree has.
    pub files: u32,
    /// Bytes in these files.
    pub tree_bytes: u64,
    /// A result for each program and target.
    pub executions: Vec<ProgramExecution>,
    /// Programs and targets that were not traced, and why.
    pub failed: Vec<String>,
}

/// A program on a target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProgramExecution {
    /// The program, in a few words.
    pub program: String,
    /// The label of the target.
    pub target: String,
    /// The release of the guest's kernel.
    pub kernel: String,
    /// On the tree, less what it does on an empty directory.
    pub on_tree: ProgramCounts,
    /// On an empty directory.
    pub start: ProgramCounts,
}

/// What was executed and missed while a program ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProgramCounts {
    /// The program's own code, with the libraries that it uses.
    pub program: OwnerCounts,
    /// The code of a file system in a library, and what that calls in user mode.
    pub file_system_library: OwnerCounts,
    /// The kernel, on behalf of the program.
    pub kernel: OwnerCounts,
    /// Interrupts and other tasks.
    pub others: OwnerCounts,
    /// What the program misses in each cache if nobody else uses the caches.
    pub program_misses_alone: Vec<i64>,
}

/// What one owner's code executed and missed. A difference can be negative.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OwnerCounts {
    /// Instructions.
    pub instructions: i64,
    /// Misses in each cache.
    pub misses: Vec<i64>,
}

impl ProgramExecution {
    /// A program on a target, from what was counted on an empty directory and on the tree.
    #[must_use]
    pub fn new(
        program: &str,
        target: &str,
        kernel: &str,
        start: &OwnerFigures,
        whole: &OwnerFigures,
    ) -> Self {
        let start = ProgramCounts::new(start);
        let on_tree = ProgramCounts::new(whole).less(&start);
        let [program, target, kernel] = [program, target, kernel].map(str::to_owned);
        Self { program, target, kernel, on_tree, start }
    }
}

impl ProgramCounts {
    fn new(figures: &OwnerFigures) -> Self {
        let signed = |counts: &[u64]| counts.iter().map(|count| count.cast_signed()).collect();
        let [program, file_system_library, kernel, others] = CodeOwner::ALL.map(|owner| {
            let (instructions, misses) = figures.of(owner);
            OwnerCounts { instructions: instructions.cast_signed(), misses: signed(misses) }
        });
        let program_misses_alone = signed(&figures.misses_alone);
        Self { program, file_system_library, kernel, others, program_misses_alone }
    }

    fn less(&self, other: &Self) -> Self {
        let owner = |of: fn(&Self) -> &OwnerCounts| {
            let (own, its) = (of(self), of(other));
            let instructions = own.instructions - its.instructions;
            OwnerCounts { instructions, misses: less(&own.misses, &its.misses) }
        };
        Self {
            program: owner(|one| &one.program),
            file_system_library: owner(|one| &one.file_system_library),
            kernel: owner(|one| &one.kernel),
            others: owner(|one| &one.others),
            program_misses_alone: less(&self.program_misses_alone, &other.program_misses_alone),
        }
    }

    /// Misses in one cache, for each 1,000 instructions of the program's own.
    #[must_use]
    pub fn per_1000(&self, misses: &[i64], level: usize) -> f64 {
        let misses = misses.get(level).copied().unwrap_or_default();
        misses as f64 * 1000.0 / self.program.instructions.max(1) as f64
    }
}

fn less(one: &[i64], other: &[i64]) -> Vec<i64> {
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

/// A row of a table: what it is, and the figure of an execution.
type Row = (String, Box<dyn Fn(&ProgramCounts) -> String>);

/// The lowest cache in the tables.
const LOWEST: &str = "l2";

impl ApplicationsDocument {
    /// A document without executions so far.
    #[must_use]
    pub fn new(caches: SimulatedCaches, files: u32, tree_bytes: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            caches,
            files,
            tree_bytes,
            executions: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// A table for each program: a column for each target.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = heading(&self.caches);
        let mut programs: Vec<&str> = Vec::new();
        for execution in &self.executions {
            if !programs.contains(&execution.program.as_str()) {
                programs.push(&execution.program);
            }
        }
        for program in programs {
            let files = grouped(self.files.into());
            text.push_str(&format!("\n{program} on {files} files, without its start\n"));
            let own = self.executions.iter().filter(|one| one.program == program);
            let own: Vec<&ProgramExecution> = own.collect();
            let is_library =
                |one: &&ProgramExecution| one.on_tree.file_system_library.instructions > 0;
            let has_library = own.iter().any(is_library);
            text.push_str(&table("thousands of instructions", &own, instructions(has_library)));
            let misses = self.misses(has_library);
            text.push_str(&table("misses per 1,000 of its own", &own, misses));
        }
        text
    }

    fn misses(&self, has_library: bool) -> Vec<Row> {
        let levels = self.caches.caches.iter().map(|cache| cache.name.as_str()).enumerate();
        let lowest = self.caches.caches.iter().position(|cache| cache.name == LOWEST);
        let mut rows = Vec::new();
        for (level, cache) in levels.take(lowest.map_or(usize::MAX, |at| at + 1)) {
            let row = |whose: &str, of: fn(&ProgramCounts) -> &[i64]| -> Row {
                let figure = move |counts: &ProgramCounts| {
                    format!("{:.2}", counts.per_1000(of(counts), level))
                };
                (format!("{cache}, {whose}"), Box::new(figure))
            };
            rows.push(row("its own", |one| &one.program.misses));
            rows.push(row("its own if alone", |one| &one.program_misses_alone));
            rows.push(row("the kernel's", |one| &one.kernel.misses));
            if has_library {
                rows.push(row("DenseFS' library's", |one| &one.file_system_library.misses));
            }
        }
        rows
    }
}

fn instructions(has_library: bool) -> Vec<Row> {
    let row = |whose: &str, of: fn(&ProgramCounts) -> &OwnerCounts| -> Row {
        let figure =
            move |counts: &ProgramCounts| grouped((of(counts).instructions as f64 / 1e3).round());
        (whose.to_owned(), Box::new(figure))
    };
    let mut rows = vec![row("its own", |one| &one.program), row("the kernel's", |one| &one.kernel)];
    if has_library {
        rows.push(row("DenseFS' library's", |one| &one.file_system_library));
    }
    rows
}

/// A table: a column for each execution.
fn table(title: &str, executions: &[&ProgramExecution], rows: Vec<Row>) -> String {
    let targets = executions.iter().map(|one| one.target.as_str());
    let mut table = Columns::headed(std::iter::once(title).chain(targets));
    for (name, figure) in rows {
        let figures = executions.iter().map(|one| figure(&one.on_tree));
        table.row(std::iter::once(name).chain(figures));
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use footprint::trace::{Completeness, Region};
    use record::{CachesOrigin, Replacement, SimulatedCache};

    use super::*;

    fn caches() -> SimulatedCaches {
        let cache = |name: &str, size_bytes| SimulatedCache {
            name: name.to_owned(),
            size_bytes,
            line_bytes: 64,
            ways: 8,
            replacement: Replacement::Lru,
            inclusive: false,
        };
        let all = [("l1i", 32 << 10), ("l1d", 32 << 10), ("l2", 1 << 20), ("l3", 8 << 20)];
        let caches = all.map(|(name, size_bytes)| cache(name, size_bytes)).to_vec();
        SimulatedCaches { origin: CachesOrigin::Given, caches }
    }

    fn figures(scale: u64, library: u64) -> OwnerFigures {
        OwnerFigures {
            region: Region::Unmarked,
            completeness: Completeness::Whole,
            instructions: [scale, library, 3 * scale, 7],
            misses: [[scale / 20; 4], [library / 50; 4], [scale / 4; 4], [1; 4]]
                .map(|misses| misses.to_vec()),
            misses_alone: vec![scale / 500; 4],
        }
    }

    #[test]
    fn the_start_is_taken_off() {
        let mut document = ApplicationsDocument::new(caches(), 1000, 3_100_000);
        for (target, library) in [("tmpfs", 0), ("densefs", 1_000_000)] {
            let (start, whole) = (figures(400_000, library / 10), figures(2_400_000, library));
            let execution = ProgramExecution::new("grep -r", target, "6.1.0", &start, &whole);
            document.executions.push(execution);
        }
        let counts = &document.executions[1].on_tree;
        assert_eq!(counts.program.instructions, 2_000_000);
        assert_eq!(counts.file_system_library.misses, [18_000; 4]);
        assert_eq!((counts.others.instructions, &counts.others.misses[..]), (0, &[0; 4][..]));
        let text = document.text();
        assert!(text.contains("\n\ngrep -r on 1,000 files, without its start\n"), "{text}");
        let row = |name: &str| {
            let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
            rest.unwrap_or_else(|| panic!("no {name}: {text}")).split_whitespace().collect()
        };
        let rows: [(&str, [&str; 2]); 7] = [
            ("its own ", ["2,000", "2,000"]),
            ("the kernel's ", ["6,000", "6,000"]),
            ("DenseFS' library's ", ["0", "900"]),
            ("l1i, its own ", ["50.00", "50.00"]),
            ("l1d, its own if alone ", ["2.00", "2.00"]),
            ("l2, the kernel's ", ["250.00", "250.00"]),
            ("l2, DenseFS' library's ", ["0.00", "9.00"]),
        ];
        for (name, figures) in rows {
            let found: Vec<&str> = row(name);
            let found = found.strip_prefix(&["if", "alone"]).unwrap_or(&found);
            assert_eq!(found, figures, "{name}");
        }
        assert!(!text.contains("l3, "), "{text}");
    }

    #[test]
    fn a_table_fits_a_narrow_terminal() {
        let mut document = ApplicationsDocument::new(caches(), 20_000, 62_000_000);
        for target in ["tmpfs", "ext4", "xfs", "densefs"] {
            let (start, whole) = (figures(400_000, 900), figures(2_400_000_000, 9_000_000));
            let execution = ProgramExecution::new("grep -r", target, "6.1.0", &start, &whole);
            document.executions.push(execution);
        }
        assert!(document.text().lines().all(|line| line.len() <= 80), "{}", document.text());
    }
}
