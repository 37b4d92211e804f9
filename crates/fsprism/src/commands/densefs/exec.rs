//! `fsprism densefs exec`: runs programs as they are, with a DenseFS below a prefix.

use std::time::Duration;

use densefs_exec::{Ending, Place, Proof, Report, Watch};
use textual::{Columns, grouped, two_digits};

use crate::arguments::densefs::ExecOptions;
use crate::exit::{OrExitStatus, Outcome};
use crate::output;

/// Becomes the command, unless that is refused; or waits for it, if it is watched.
pub(super) fn exec(options: &ExecOptions) -> anyhow::Result<Outcome> {
    let watch = Watch { report: options.report, strict: options.strict };
    let run = || {
        let place = Place::parse(&options.place)?;
        densefs_exec::exec(&place, &options.command, watch, &mut |sentence| output::say(sentence))
    };
    let watched = run().or_exit_status(densefs_exec::ExecError::exit_status)?;
    if let Some(report) = &watched.report {
        for line in described(report).lines() {
            output::say(line);
        }
    }
    if let Some(proof) = &watched.proof {
        output::say(&proved(proof));
    }
    match watched.ending {
        Ending::Exited(status) => Ok(Outcome::ExitStatus(status)),
        Ending::Killed(signal) => system_calls::end_by(signal),
    }
}

/// Counts are small enough for this.
#[expect(clippy::cast_precision_loss, reason = "no program makes so many calls")]
fn count(number: u64) -> String {
    if number == 0 { "-".to_owned() } else { grouped(number as f64) }
}

/// `1 program`, `2 programs`.
fn counted(number: u64, noun: &str) -> String {
    let text = if number == 0 { "no".to_owned() } else { count(number) };
    format!("{text} {noun}{}", if number == 1 { "" } else { "s" })
}

/// What has become of calls, in a table.
fn described(report: &Report) -> String {
    let mut table = Columns::headed(["call", "served", "other files", "refused"]);
    let mut others = 0;
    let (mut served, mut passed, mut refused) = (0, 0, 0);
    for call in &report.calls {
        served += call.served;
        passed += call.passed;
        refused += call.refused;
        if call.served + call.refused == 0 {
            others += call.passed;
        } else {
            table.row([
                call.name.to_owned(),
                count(call.served),
                count(call.passed),
                count(call.refused),
            ]);
        }
    }
    if others > 0 {
        table.row(["other calls".to_owned(), count(0), count(others), count(0)]);
    }
    table.row(["all".to_owned(), count(served), count(passed), count(refused)]);
    format!(
        "{} used the library, which serves calls on the DenseFS:\n{}\
         {} went to the mount, which serves the kernel and programs without the library.\n\
         {} did not enter the kernel. That alone takes {} ns each time on this machine,\n\
         so at least {} was saved.",
        counted(report.programs, "program"),
        table.render(),
        counted(report.requests, "request"),
        counted(served, "call"),
        two_digits(report.entry_ns),
        saved(report.saved()),
    )
}

fn saved(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{} s", two_digits(seconds)),
        1e-3.. => format!("{} ms", two_digits(seconds * 1e3)),
        _ => format!("{} us", two_digits(seconds * 1e6)),
    }
}

/// What was proved.
fn proved(proof: &Proof) -> String {
    let linked = match proof.by_linker {
        0 => String::new(),
        calls => format!(
            ", apart from {} that loaded programs and libraries from it",
            counted(calls, "call")
        ),
    };
    format!(
        "nothing bypassed the library: {} on files from {} reached the kernel, and none was on \
         the DenseFS{linked}",
        counted(proof.calls, "call"),
        counted(proof.programs, "program"),
    )
}
