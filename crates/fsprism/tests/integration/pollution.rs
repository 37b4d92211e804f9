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

#[test]
fn a_densefs_takes_part_by_its_library() {
    let Some(place) = Place::as_root("a_densefs_takes_part_by_its_library") else { return };
    let run = "run pollution densefs tmpfs --op stat,create --code 4k --data 4k --blocks 1 \
               --format json --out run";
    let document = place.run(run).assert_code(0).document();
    assert_eq!(cells(&document).len(), 4);
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
