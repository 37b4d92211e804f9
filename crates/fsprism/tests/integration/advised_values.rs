//! The advice in refusals, one after another: runs a command that is refused, takes the remedy from
//! the message if it is given there, and checks that the command works with it.

use std::fs;

use crate::place::Place;

/// Replaces the word SIMULATE in the commands below.
const SIMULATE: &str = "footprint simulate --accesses 9 --stream";

/// A refusal with a remedy.
struct Advised {
    /// The refused command.
    refused: &'static str,
    /// What the message says before and after the remedy; or words that it must contain, if the
    /// remedy cannot be copied from it verbatim.
    says: Says,
    /// The command that works; `{}` stands for the remedy.
    works: &'static str,
}

enum Says {
    Between(&'static str, &'static str),
    Words(&'static str),
}
use Says::{Between, Words};

const fn advised(refused: &'static str, says: Says, works: &'static str) -> Advised {
    Advised { refused, says, works }
}

const ADVISED: [Advised; 29] = [
    advised(
        "SIMULATE sequential --cache l1d=32k,48,8",
        Between("such as ", "\n"),
        "SIMULATE sequential --cache l1d=32k,{},8",
    ),
    advised(
        "SIMULATE sequential --cache l1d=32k,64,7",
        Words("give a number of ways that divides them"),
        "SIMULATE sequential --cache l1d=32k,64,8",
    ),
    advised(
        "SIMULATE sequential --cache l1d=48k,64,12 --policy plru",
        Between("or use ", "\n"),
        "SIMULATE sequential --cache l1d=48k,64,12 --policy lru",
    ),
    advised(
        "SIMULATE sequential --cache l1d=48k,64,12 --policy plru",
        Words("give a power of two up to 64"),
        "SIMULATE sequential --cache l1d=64k,64,64 --policy plru",
    ),
    advised(
        "SIMULATE sequential --cache l1d=100,64,1",
        Words("give a whole number of 64-byte lines, at least one"),
        "SIMULATE sequential --cache l1d=64,64,1",
    ),
    advised("SIMULATE loop:4", Words("give a larger size"), "SIMULATE loop:8"),
    advised("SIMULATE loop:4", Words("a smaller --bytes"), "SIMULATE loop:4 --bytes 4"),
    advised(
        "SIMULATE sequential --cache l1d=4k,128,8 --cache l2=8k,64,8",
        Words("at least as long as those above"),
        "SIMULATE sequential --cache l1d=4k,128,8 --cache l2=8k,128,8",
    ),
    advised(
        "footprint simulate names",
        Words("valgrind --tool=lackey --trace-mem=yes"),
        "footprint simulate accesses",
    ),
    advised(
        "footprint model --lines 4 --footprint 3 --file 0 write",
        Between("give --file at least ", "\n"),
        "footprint model --lines 4 --footprint 3 --file {} write",
    ),
    advised(
        "footprint model --lines 99999999 --footprint 3 --file 9 write",
        Words("give --lines up to 67108864"),
        "footprint model --lines 9 --footprint 3 --file 9 write",
    ),
    advised("densefs mkfs one --size 1k", Words("from 1 MiB"), "densefs mkfs one --size 1m"),
    advised(
        "densefs mkfs made --size 1m",
        Between("; ", " makes"),
        "densefs mkfs made --size 1m {}",
    ),
    advised("densefs export full made", Words("give a new directory"), "densefs export new made"),
    advised("densefs export full made", Words("or an empty one"), "densefs export empty made"),
    advised("stats interval tiny.csv", Words("use another unit"), "stats interval larger.csv"),
    advised("run nano/foo empty", Between("; `fsprism ", "`"), "{}"),
    advised("run nano/foo empty", Between("did you mean `", "`"), "run {} --list"),
    advised(
        "run survey/metadata empty --benchmark stat-10x --blocks 1",
        Between("; `fsprism ", "`"),
        "{}",
    ),
    advised(
        "survey empty --budget 3",
        Between("m or h: ", "\n"),
        "survey empty --budget {} --help",
    ),
    advised(
        "run survey/metadata empty --benchmark stat-10x --blocks 1 --size 1m",
        Between("did you mean `", "`"),
        "run survey/metadata empty --benchmark {} --blocks 1 --size 1m",
    ),
    advised(
        "run survey/metadata empty empty --benchmark stat-100 --blocks 1 --size 1m",
        Between("before one of them: `", "`"),
        "run survey/metadata empty {} --benchmark stat-100 --blocks 1 --size 1m",
    ),
    advised(
        "run survey/metadata empty --benchmark stat-100 --blocks 1 --size 1m --out full",
        Words("another run directory with --out"),
        "run survey/metadata empty --benchmark stat-100 --blocks 1 --size 1m --out out",
    ),
    advised(
        "run array-walk --size 16385 --blocks 1",
        Between("give ", "\n"),
        "run array-walk --size {} --blocks 1 --out array",
    ),
    advised("report array --format bonnie", Between("use ", "\n"), "report array {}"),
    advised(
        "run bonnie empty --chunk 3k --size 1m --blocks 1",
        Between("give ", "\n"),
        "run bonnie empty --chunk {} --size 1m --blocks 1",
    ),
    advised(
        "run custom empty --size 1m --blocks 1",
        Between("--rw: ", ","),
        "run custom empty --rw {} --size 1m --blocks 1",
    ),
    advised(
        "cliff empty --low 2m --high 1m --budget 1s",
        Words("give a smaller --low or a larger --high"),
        "cliff empty --low 64k --high 1m --budget 1s",
    ),
    advised(
        "cliff empty --axis threads --low 0 --high 2 --budget 1s",
        Words("give a larger --low"),
        "cliff empty --axis threads --low 1 --high 2 --budget 1s",
    ),
];

#[test]
fn remedies_work_as_they_are_worded() {
    let place = Place::new();
    for name in ["empty", "full"] {
        place.make(name);
    }
    let write = |name: &str, text: &str| fs::write(place.path(name), text).expect("ours");
    write("full/file", "theirs");
    write("names", "no access\n");
    write("accesses", "I  04001000,3\n L 1ffefff8,8\n");
    write("tiny.csv", "x\n1e-170\n2e-170\n4e-170\n");
    write("larger.csv", "x\n1\n2\n4\n");
    place.finish(place.fsprism("densefs mkfs made --size 1m")).assert_code(0);
    let finish =
        |command: &str| place.finish(place.fsprism(&command.replace("SIMULATE", SIMULATE)));
    let mut failed = Vec::new();
    for one in &ADVISED {
        let refused = finish(one.refused);
        let said = &refused.stderr;
        let remedy = match one.says {
            Between(before, after) => said
                .split_once(before)
                .and_then(|(_, rest)| rest.split_once(after))
                .map(|(remedy, _)| remedy),
            Words(words) => said.contains(words).then_some(""),
        };
        let works = one.works.replace("{}", remedy.unwrap_or("?"));
        let outcome = finish(&works);
        if (refused.code, outcome.code) != (Some(2), Some(0)) || remedy.is_none() {
            failed.push(format!("{}: {said}{works}: {}", one.refused, outcome.stderr));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
