//! The document and the text of `fsprism footprint applications`: what whole programs execute and
//! miss in simulated caches.

use footprint::owners::{CodeOwner, OwnerFigures};
use record::SimulatedCaches;
use schemars::JsonSchema;
use serde::Serialize;
use textual::{Columns, grouped, plural};

use super::documents::SCHEMA_VERSION;
use super::polluted::cache;

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
    fn per_1000(&self, misses: &[i64], level: usize) -> f64 {
        let misses = misses.get(level).copied().unwrap_or_default();
        misses as f64 * 1000.0 / self.program.instructions.max(1) as f64
    }
}

fn less(one: &[i64], other: &[i64]) -> Vec<i64> {
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

/// A row of the table: what it is, and the figure of an execution.
type Row = (String, Box<dyn Fn(&ProgramCounts) -> String>);

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
        let caches: Vec<String> = self.caches.caches.iter().map(cache).collect();
        let mut text = format!("Simulated caches: {}\n", caches.join(", "));
        let mut programs: Vec<&str> = Vec::new();
        for execution in &self.executions {
            if !programs.contains(&execution.program.as_str()) {
                programs.push(&execution.program);
            }
        }
        for program in programs {
            let files = plural(self.files as usize, "file");
            text.push_str(&format!("\n{program} on {files}, without its start\n"));
            let own = self.executions.iter().filter(|one| one.program == program);
            text.push_str(&self.table(&own.collect::<Vec<_>>()));
        }
        text
    }

    fn table(&self, executions: &[&ProgramExecution]) -> String {
        let targets = executions.iter().map(|one| one.target.as_str());
        let mut table = Columns::headed(std::iter::once("").chain(targets));
        for (name, figure) in self.rows() {
            let figures = executions.iter().map(|one| figure(&one.on_tree));
            table.row(std::iter::once(name).chain(figures));
        }
        table.render()
    }

    fn rows(&self) -> Vec<Row> {
        let thousands = |count: i64| grouped((count as f64 / 1000.0).round());
        let instructions = |name: &str, of: fn(&ProgramCounts) -> &OwnerCounts| -> Row {
            let name = format!("1,000 instructions {name}");
            (name, Box::new(move |counts| thousands(of(counts).instructions)))
        };
        let mut rows = vec![
            instructions("of its own", |one| &one.program),
            instructions("of the kernel", |one| &one.kernel),
        ];
        let is_library = |one: &ProgramExecution| one.on_tree.file_system_library.instructions > 0;
        if self.executions.iter().any(is_library) {
            rows.push(instructions("of DenseFS' library", |one| &one.file_system_library));
        }
        for (level, cache) in self.caches.caches.iter().enumerate() {
            let rate = |name: String, of: fn(&ProgramCounts) -> &[i64]| -> Row {
                let figure = move |counts: &ProgramCounts| {
                    format!("{:.2}", counts.per_1000(of(counts), level))
                };
                (format!("{} misses {name}", cache.name), Box::new(figure))
            };
            rows.push(rate("of its own".to_owned(), |one| &one.program.misses));
            rows.push(rate("if alone".to_owned(), |one| &one.program_misses_alone));
            rows.push(rate("of the kernel".to_owned(), |one| &one.kernel.misses));
        }
        rows
    }
}
