//! What calls cost the code around them.

use crate::cells::{cells, median};
use crate::place::Place;

#[test]
fn code_is_timed_alone_and_beside_calls_of_each_kind() {
    let place = Place::new();
    let run = "run pollution . --op stat,create,read-4k,write-4k,unlink,rename,open,open-close,\
               stat-missing,mkdir,rmdir --code 128,4k --data 8k --blocks 1 --format json --out run";
    let document = place.run(run).assert_code(0).document();
    assert_eq!(document["run"]["classic"]["benchmark"], "pollution");
    assert_eq!(cells(&document).len(), 22);
    for cell in cells(&document) {
        assert_eq!(cell["dimension"], "pollution");
        for metric in ["code_slowdown", "code_time", "code_time_alone", "call_time"] {
            assert!(median(cell, metric) > 0.0, "{metric}: {cell}");
        }
        let parameters = &cell["parameters"];
        assert_eq!(parameters["data_lines"], 128, "{cell}");
        // Each line of data is loaded, and each line of code executed.
        let loads = parameters["loads_per_round"].as_u64().expect("a number");
        let code_lines = parameters["code_lines"].as_u64().expect("a number");
        assert!((128..=256).contains(&loads) && [2, 64].contains(&code_lines), "{cell}");
        // A round was executed instruction by instruction, if a child can be traced here.
        for (asked, found) in
            [("code_lines", "code_lines_executed"), ("data_lines", "data_lines_accessed")]
        {
            let found = &parameters[found];
            assert!(found.is_null() || *found == parameters[asked], "{cell}");
        }
    }
}

/// Where it is reached as programs do, each replicate proves that a library served its calls, and
/// that what it left is in the arena.
#[test]
fn a_densefs_takes_part_by_its_library_and_as_programs_reach_it() {
    let name = "a_densefs_takes_part_by_its_library_and_as_programs_reach_it";
    let Some(place) = Place::as_root(name) else { return };
    let operations = "stat,create,read-4k,write-4k,unlink,rename,open,open-close,stat-missing,\
                      mkdir,rmdir";
    let run = format!(
        "run pollution densefs dense=densefs:door=preload,size=64m tmpfs --op {operations} \
         --code 4k --data 4k --blocks 1 --format json --out run"
    );
    let document = place.run(&run).assert_code(0).document();
    assert_eq!(cells(&document).len(), 3 * 11);
    let of = |target: &str| cells(&document).iter().filter(|cell| cell["target"] == target).count();
    assert_eq!(of("densefs (by library call)"), 11);
    assert_eq!(of("dense (by densefs exec)"), 11);
    for cell in cells(&document) {
        assert!(median(cell, "call_time") > 0.0, "{cell}");
    }
    let printed = place.finish(place.fsprism("report run --terminal --full"));
    let text = &printed.assert_code(0).stdout;
    for words in ["reached by calls of its library", "reached by programs as they are"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_way_in_that_is_not_measured_is_refused() {
    let place = Place::new();
    let door = "densefs:door=preload";
    for command in ["survey", "run nano", "run sprite-lfs", "cliff"] {
        let words = [door, "by that way in", "`run pollution`", "leave out `door=`"];
        place.run(&format!("{command} {door}")).assert_refused(&words);
    }
    let words = ["door=library", "`densefs exec`"];
    place.run("run applications densefs:door=library").assert_refused(&words);
    let words = [door, "in the kernel", "leave out door="];
    place.run(&format!("run footprint {door}")).assert_refused(&words);
    place.run("run pollution ext4:door=preload").assert_refused(&["reached by system calls"]);
    place.run("run pollution densefs:door=mount").assert_refused(&["`door=preload`"]);
}

#[test]
fn code_that_cannot_be_is_refused() {
    let place = Place::new();
    let refused = |options: &str, words: &[&str]| {
        place.run(&format!("run pollution . {options}")).assert_refused(words);
    };
    refused("--code 100", &["cache lines of 64 bytes", "100", "give 128"]);
    refused("--data 1g", &["1 GiB", "give at most 64m"]);
    refused("--code 64k..4k", &["64k..4k", "the smaller size first"]);
    refused("--op stats", &["no operation 'stats'", "did you mean `stat`?"]);
    refused("--lines backwards", &["--lines", "random, sequential"]);
}
