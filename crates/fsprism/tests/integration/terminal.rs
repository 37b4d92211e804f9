//! What the program does at a terminal: a real pseudoterminal, as terminal windows have.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::place::Place;

const ESCAPE: char = '\u{1b}';

/// What the command writes to a terminal with this many columns.
fn at_terminal(mut command: Command, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there is /dev/ptmx");
    grantpt(&master).expect("it is ours");
    unlockpt(&master).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it is ours");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).expect("it is a terminal");
    command.stdout(Stdio::from(slave)).stderr(Stdio::null());
    let mut child = command.spawn().expect("it can be started");
    // This closes our copy of the terminal's end that the child writes to.
    drop(command);
    let mut written = Vec::new();
    // Reading fails once nobody has the terminal open any more; by then, everything has been read.
    let end = File::from(master).read_to_end(&mut written).expect_err("a terminal has no end");
    assert_eq!(end.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()), "{end}");
    assert!(child.wait().expect("it is ours").success());
    String::from_utf8(written).expect("plain text").replace('\r', "")
}

/// A place that contains a run on a directory.
fn place_with_run() -> Place {
    let place = Place::new();
    place.make("files");
    let measured = place
        .run("run survey/in-memory files --blocks 1 --budget 1s --size 1m --format json --out run");
    measured.assert_code(0);
    place
}

#[test]
fn a_terminal_has_colour_unless_no_color_says_otherwise() {
    let place = place_with_run();
    let report = |no_color: Option<&str>| {
        let mut command = place.fsprism("report run --format terminal --full");
        command.envs(no_color.map(|value| ("NO_COLOR", value)));
        at_terminal(command, 100)
    };
    let coloured = report(None);
    assert!(coloured.contains("\u{1b}[1mHow sure this is\u{1b}[0m"), "{coloured}");
    assert_eq!(report(Some("")), coloured, "an empty NO_COLOR asks for nothing");
    let plain = report(Some("1"));
    assert!(!plain.contains(ESCAPE), "{plain}");
    assert_eq!(report(Some("0")), plain, "whatever it is set to");
    let on = |terminal: Option<&str>| {
        let mut command = place.fsprism("report run --format terminal --full");
        match terminal {
            Some(name) => command.env("TERM", name),
            None => command.env_remove("TERM"),
        };
        at_terminal(command, 100)
    };
    assert_eq!(on(Some("dumb")), plain);
    assert_eq!(on(None), plain, "nobody says that it takes more than text");
    // Without a terminal, there is no colour either.
    let piped = place.finish(place.fsprism("report run --format terminal --full"));
    assert_eq!(piped.assert_code(0).stdout, plain);
}

#[test]
fn a_report_is_as_wide_as_the_terminal_within_its_bounds() {
    let place = place_with_run();
    for (columns, width) in [(50, 60), (80, 80), (100, 100), (120, 120), (200, 120)] {
        let mut command = place.fsprism("report run --format terminal --full");
        command.env("NO_COLOR", "1");
        let text = at_terminal(command, columns);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!((width - 9..=width).contains(&longest), "{longest} of {width}: {text}");
    }
}
