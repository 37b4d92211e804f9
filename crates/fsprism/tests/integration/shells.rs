//! What shells and manual readers get: completion scripts and pages, tried with the real programs
//! if they are installed.

use std::fs;
use std::process::{Command, Stdio};

use crate::place::{Place, names_in, say_skipped};

/// Whether a program can be started here.
fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Writes the command's output to a file in the place, and returns its path.
fn written(place: &Place, arguments: &str, name: &str) -> String {
    let printed = place.finish(place.fsprism(arguments));
    fs::write(place.path(name), &printed.assert_code(0).stdout).expect("the place is ours");
    place.text(name)
}

/// What bash would offer at the end of this line.
fn offered_by_bash(place: &Place, script: &str, line: &str) -> Vec<String> {
    const OFFER: &str = r#"
        source "$0"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _fsprism fsprism "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", OFFER, script]);
    let offered = place.finish(place.here(bash, line));
    offered.assert_code(0).stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_what_is_known() {
    let place = Place::new();
    let script = written(&place, "completions bash", "script");
    for (line, some) in [
        ("fsprism surv", "survey"),
        ("fsprism survey --destr", "--destroy-data"),
        ("fsprism run nano/me", "nano/metadata"),
        ("fsprism run foot", "footprint"),
        ("fsprism run fsca", "fscache"),
        ("fsprism run fscache --li", "--link"),
        ("fsprism run survey --benchmark rename-10", "rename-100"),
        ("fsprism run nano/io ext4 xf", "xfs"),
        ("fsprism survey btr", "btrfs"),
        ("fsprism cliff ext4 tmp", "tmpfs"),
        ("fsprism survey ext4 --benchmark rename-10", "rename-100"),
        ("fsprism survey --for ma", "mail"),
        ("fsprism report RUN --for data", "database"),
        ("fsprism reproduce bonnie", "bonnie-anova"),
        ("fsprism reproduce densefs/", "densefs/section-2"),
        ("fsprism footprint trace --target xf", "xfs"),
        ("fsprism run footprint xfs --op cre", "create"),
        ("fsprism man footprint tr", "trace"),
    ] {
        let offered = offered_by_bash(&place, &script, line);
        assert!(offered.iter().any(|word| word == some), "{line}: {offered:?}");
    }
    let of_nano = offered_by_bash(&place, &script, "fsprism run nano --li");
    assert!(!of_nano.iter().any(|word| word == "--link"), "{of_nano:?}");
    // If it has nothing to offer, it leaves it to bash to complete paths.
    let offered = offered_by_bash(&place, &script, "fsprism survey ext4 ./scr");
    assert_eq!(offered, [""]);
    let script = fs::read_to_string(&script).expect("it was written");
    assert!(script.contains("complete -F _fsprism -o nosort -o bashdefault -o default fsprism"));
}

/// The words that a script offers are not the only ones accepted: targets may still have options.
#[test]
fn what_is_completed_is_not_all_that_is_taken() {
    let place = Place::new();
    place.finish(place.fsprism("survey ./missing")).assert_refused(&["does not exist"]);
    place.finish(place.fsprism("survey . --for mine.toml")).assert_refused(&["mine.toml"]);
    place.finish(place.fsprism("survey . --benchmark x*")).assert_refused(&["no benchmark 'x*'"]);
}

#[test]
fn zsh_and_fish_take_their_scripts() {
    let place = Place::new();
    let zsh = written(&place, "completions zsh", "zsh");
    let text = fs::read_to_string(&zsh).expect("it was written");
    assert!(text.contains("_fsprism_targets() {\n"), "{text}");
    assert!(text.contains("shm:_fsprism_targets'") && text.contains("_files -/"), "{text}");
    assert!(text.contains("'survey/io:cold reads"), "{text}");
    let fish = written(&place, "completions fish", "fish");
    let text = fs::read_to_string(&fish).expect("it was written");
    assert!(text.contains("-f -a \"nano/io\""), "{text}");
    let nano = "run; and __fish_seen_subcommand_from nano/io";
    for (command, word) in [("survey", "btrfs"), (nano, "xfs"), ("reproduce", "densefs")] {
        let told = format!("\"__fish_fsprism_using_subcommand {command}\" -a \"");
        let line = text.lines().find(|line| line.contains(&told)).expect("it is told");
        assert!(line.contains(word), "{line}");
    }
    for (shell, option, script) in [("zsh", "-n", zsh), ("fish", "--no-execute", fish)] {
        if !is_installed(shell) {
            say_skipped("zsh_and_fish_take_their_scripts", &format!("{shell} is not installed"));
            continue;
        }
        let status = Command::new(shell).args([option, &script]).status();
        assert!(status.expect("it is installed").success(), "{shell}");
    }
}

#[test]
fn each_command_has_a_page() {
    let place = Place::new();
    let page = |command: &str| {
        let page = place.finish(place.fsprism(&format!("man {command}")));
        page.assert_code(0).stdout.clone()
    };
    let main = page("");
    assert!(main.contains(".TH fsprism 1 ") && main.contains(".SH EXAMPLES"), "{main}");
    assert!(main.contains("fsprism\\-survey\\fR(1)"), "{main}");
    let survey = page("survey");
    for words in [".TH fsprism-survey 1 ", ".SH TARGETS", "\\-\\-budget", ".SH EXAMPLES"] {
        assert!(survey.contains(words), "{words}: {survey}");
    }
    let (_, synopsis) = survey.split_once(".SH SYNOPSIS").expect("a section");
    let (synopsis, _) = synopsis.split_once(".SH").expect("another follows");
    for words in ["[\\fB\\-\\-budget\\fR \\fITIME\\fR]", "[\\fITARGET\\fR]..."] {
        assert!(synopsis.contains(words), "{words}: {synopsis}");
    }
    let trace = page("footprint trace");
    let (_, beside) = trace.split_once(".SH \"SEE ALSO\"").expect("a section");
    for name in ["fsprism\\-footprint", "fsprism\\-footprint\\-map"] {
        assert!(beside.contains(&format!("{name}\\fR(1)")), "{name}: {beside}");
    }
    let in_a_folder = page("run nano/io");
    assert!(in_a_folder.contains(".TH fsprism-run-nano-io 1 "), "{in_a_folder}");
    place.finish(place.fsprism("man srvey")).assert_refused(&["did you mean `survey`?"]);
    place.finish(place.fsprism("man footprint x")).assert_refused(&["choose from trace, model"]);
    place.finish(place.fsprism("man survey x")).assert_refused(&["leave out x"]);
}

#[test]
fn all_pages_are_written_at_once() {
    let place = Place::new();
    place.finish(place.fsprism("man --directory new/pages")).assert_code(0);
    let names = names_in(&place.path("new/pages"));
    for name in ["fsprism", "fsprism-survey", "fsprism-densefs-exec", "fsprism-run-nano-io"] {
        assert!(names.contains(&format!("{name}.1")), "{name}: {names:?}");
    }
    assert!(!names.contains(&"fsprism-densefs-rounds.1".to_owned()), "no user calls that");
    for name in names {
        let page = fs::read_to_string(place.path("new/pages").join(&name)).expect("it is there");
        assert!(page.contains("\n.SH EXAMPLES\n"), "{name}");
    }
    let both = place.finish(place.fsprism("man survey --directory pages"));
    both.assert_refused(&["--directory"]);
}

#[test]
fn pages_are_without_faults() {
    let place = Place::new();
    let name = "pages_are_without_faults";
    for (program, options) in [("groff", &["-ww", "-z", "-man"][..]), ("mandoc", &["-Werror"])] {
        if !is_installed(program) {
            say_skipped(name, &format!("{program} is not installed"));
            continue;
        }
        for command in ["", "survey", "run", "cliff", "footprint simulate", "lab build", "man"] {
            let page = written(&place, &format!("man {command}"), "page");
            let output = Command::new(program).args(options).arg(&page).output();
            let output = output.expect("it is installed");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{program}, {command}: {said}");
        }
    }
}
