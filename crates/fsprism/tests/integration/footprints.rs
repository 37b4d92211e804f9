//! `fsprism footprint`: the numbers of the naive model, simulated caches, and what both refuse.

use std::fs;

use crate::place::Place;

const MODEL: &str = "footprint model --lines 4 --file 16 write,read";

#[test]
fn the_naive_model_gives_the_numbers_of_the_paper() {
    let place = Place::new();
    for (footprint, written, read) in [(3, 15, 1), (1, 13, 3)] {
        let arguments = format!("{MODEL} --footprint {footprint}");
        let json = place.finish(place.fsprism(&format!("{arguments} --format json")));
        let wanted = serde_json::json!({ "phases": [
            { "phase": "write", "accesses": 16, "flushes": written },
            { "phase": "read", "accesses": 16, "flushes": read },
        ]});
        assert_eq!(json.assert_code(0).document(), wanted);
        let text = place.finish(place.fsprism(&arguments));
        assert!(text.assert_code(0).stdout.contains(&format!("16 writes       {written}\n")));
    }
}

#[test]
fn streams_are_simulated_one_after_the_other_on_the_same_caches() {
    let place = Place::new();
    let arguments = "footprint simulate --cache l1d=32k,64,8 --cache l2=1m,64,16,inclusive \
                     --stream loop:64k:store,loop:64k --accesses 8192 --format json";
    let found = place.finish(place.fsprism(arguments)).assert_code(0).document();
    assert_eq!(found["machine"], false);
    let level = |region: usize, level: usize| &found["regions"][region]["levels"][level];
    // 1,024 lines, each stored to eight times, go through a cache of 512.
    assert_eq!(level(0, 0)["lookups"]["stores"]["misses"], 1024);
    assert_eq!(level(0, 0)["lookups"]["stores"]["hits"], 7168);
    assert_eq!(level(0, 0)["write_backs"], 512);
    assert_eq!(level(0, 0)["dirty_bytes"], 32 << 10);
    assert_eq!(level(1, 0)["write_backs"], 512, "what the first region left");
    assert_eq!(level(1, 1)["lookups"]["loads"]["hits"], 1024);
    assert_eq!(level(1, 1)["inclusion"], "inclusive");
    let text = place.finish(place.fsprism("footprint simulate --stream random:1m"));
    assert!(text.assert_code(0).stdout.contains("1000000 loads"), "{text:?}");
}

#[test]
fn a_file_of_accesses_is_simulated() {
    let place = Place::new();
    fs::write(place.path("trace"), "==1== x\nI  40,4\n L 7e,4\n M 7e,4\n").expect("ours");
    let arguments = "footprint simulate trace --cache l1=1k,64,2 --format json";
    let found = place.finish(place.fsprism(arguments)).assert_code(0).document();
    let region = &found["regions"][0];
    assert_eq!(region["stream"], "trace");
    assert_eq!(region["straddling"]["loads"], 2);
    assert_eq!(region["levels"][0]["lookups"]["loads"]["hits"], 3);
    assert_eq!(region["levels"][0]["dirty_bytes"], 128);
}

#[test]
fn wrong_questions_are_refused_in_a_sentence() {
    let place = Place::new();
    fs::write(place.path("prose"), "I  40,4\nhello\n").expect("ours");
    let refused = |arguments: &str, words: &[&str]| {
        place.finish(place.fsprism(&format!("footprint {arguments}"))).assert_refused(words);
    };
    refused("model --lines 4 --footprint 4 --file 16 write", &["--footprint less than --lines"]);
    refused("model --lines 4 --footprint 1 --file 0 write", &["--file at least 1"]);
    refused("model --lines 4 --footprint 1 --file 16 erase", &["write or read"]);
    refused("simulate prose", &["prose: line 2: `hello` is not an access"]);
    refused("simulate nowhere", &["cannot read nowhere"]);
    refused("simulate --stream loop", &["loop:SIZE"]);
    refused("simulate --stream loop:4", &["does not fit"]);
    let cache = |caches: &str, words: &[&str]| {
        refused(&format!("simulate --stream sequential {caches}"), words);
    };
    cache("--cache l1d=32k,48,8", &["l1d: 48 is not a valid line size"]);
    cache("--cache l1d=32k,64,7", &["l1d: 512 lines"]);
    cache("--cache l1d=32k,64,8 --cache l1d=32k,64,8", &["l1d is given twice"]);
    cache("--cache l2=32k,64,8", &["l1i and l1d, or l1d alone"]);
    cache("--cache l1=32k,64,8 --cache l3=1m,64,8", &["l3 needs an l2 above it"]);
    cache("--cache l1=32k,64,8,inclusive", &["no level lies above l1"]);
    cache("--cache l1=32k,64,8 --cache l2=1m,32,8", &["l2 has lines of 32 bytes"]);
}
