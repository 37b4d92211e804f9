//! Tests that an entry in the registry is all it takes for a suite to be known everywhere: adds one
//! that does not exist, and looks for it wherever suites are listed, completed, described or
//! suggested.

use std::cell::Cell;

use clap::{Args, CommandFactory, Parser};
use suites::{Benchmark, FileSetKind, NoSuite, OwnOptions, Suite};
use workload::{Operation, Workload};

use super::timed::Timed;
use super::{Runnable, rows, takers, timed};
use crate::command_line::{Arguments, Command, RunArgument};

thread_local! {
    /// Whether the registry, as seen by this thread, contains it.
    static IS_THERE: Cell<bool> = const { Cell::new(false) };
}

/// The entry in the registry.
pub(super) fn added() -> Option<Box<dyn Runnable>> {
    let is_there = IS_THERE.get();
    is_there
        .then(|| Box::new(Timed::with_options::<Invention>(invented(), "Examples:\n  none\n")) as _)
}

#[derive(Debug, Args)]
struct Invention {
    /// How wild it is
    #[arg(long, value_name = "N", default_value_t = 1)]
    wildness: u32,
}

impl OwnOptions for Invention {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        if self.wildness > 9 {
            return Err("nothing is that wild: give a --wildness up to 9".into());
        }
        Ok(suite)
    }
}

/// A suite with a single benchmark, made as in a crate of its own.
fn invented() -> Suite {
    let stat = Workload::new(Operation::StatPresent);
    let inventing = Benchmark {
        name: "inventing".to_owned(),
        title: "what is invented, found".to_owned(),
        ..Benchmark::from_workload(stat, FileSetKind::SmallDirectories)
    };
    Suite::new("inventions", "how fast things are invented", vec![inventing])
}

fn suggestion(given: &str) -> String {
    super::row(given).expect_err("there is none").to_string()
}

#[test]
fn a_line_of_the_registry_is_all_that_a_suite_needs() {
    assert!(!suggestion("invention").contains("inventions"));
    IS_THERE.set(true);
    assert!(suggestion("invention").contains("did you mean `inventions`?"));
    assert!(suggestion("inventing").contains("`run inventions --benchmark inventing`"));

    let listed = rows().into_iter().find(|row| row.name == "inventions").expect("it is listed");
    assert_eq!(listed.benchmarks.len(), 1);
    // Its runs can be resumed.
    assert_eq!(timed("inventions").expect("it is timed").benchmarks[0].name, "inventing");
    assert_eq!(takers("wildness"), ["inventions"]);

    // Help, completions and the manual are generated from this.
    let mut whole = Arguments::command();
    whole.build();
    let run = whole.find_subcommand("run").expect("a command");
    let own = run.find_subcommand("inventions").expect("a command of run");
    let has = |command: &clap::Command, option| {
        command.get_arguments().any(|one| one.get_long() == Some(option))
    };
    assert!(has(own, "wildness") && has(own, "budget") && !has(own, "rw"));
    let other = run.find_subcommand("nano/io").expect("another");
    assert!(!has(other, "wildness") && has(other, "rate"));

    let given = |line: &str| {
        let parsed = Arguments::try_parse_from(line.split(' '));
        match parsed.map(|parsed| parsed.command) {
            Ok(Command::Run(given)) => match *given {
                RunArgument::Suite(name, mut given) => super::run(&name, &mut given),
                RunArgument::NoSuite(_) => panic!("{line}"),
            },
            Ok(_) => panic!("{line}"),
            Err(error) => Err(error.into()),
        }
    };
    let error = given("fsprism run inventions --wildness 10 .").expect_err("too wild");
    assert!(format!("{error:#}").contains("up to 9"), "{error:#}");
    given("fsprism run nano/io --wildness 1 .").expect_err("another suite's option");
}
