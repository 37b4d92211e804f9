//! `fsprism footprint applications`: whole programs in guests.

use serde_json::Value;

use crate::guests::with_lab;

/// An owner's instructions on the tree.
fn instructions(execution: &Value, owner: &str) -> i64 {
    execution["on_tree"][owner]["instructions"].as_i64().expect("a number")
}

/// A list of misses, in the first level's cache of instructions.
fn first(misses: &Value) -> i64 {
    misses[0].as_i64().expect("a number")
}

#[test]
fn a_program_misses_what_file_systems_move_out() {
    let test = "a_program_misses_what_file_systems_move_out";
    let Some((place, fsprism)) = with_lab(test) else { return };
    let run = |targets: &str| {
        let caches = "--cache l1i=32k,64,8 --cache l1d=32k,64,8 --cache l2=1m,64,16";
        let arguments =
            format!("footprint applications {targets} --files 100 --beside --format json {caches}");
        place.finish(fsprism(&place, &arguments)).assert_code(0).document()
    };
    let document = run("tmpfs densefs");
    let executions = document["executions"].as_array().expect("a list");
    let [tmpfs, densefs] = &executions[..] else { panic!("{executions:?}") };
    assert_eq!((&tmpfs["target"], &densefs["target"]), (&"tmpfs".into(), &"densefs".into()));
    // The same program does the same work, wherever its files are.
    let own = |execution| instructions(execution, "program") as f64;
    let ratio = own(densefs) / own(tmpfs);
    assert!(own(tmpfs) > 100_000.0 && (0.8..1.2).contains(&ratio), "{tmpfs} {densefs}");
    assert_eq!(instructions(tmpfs, "file_system_library"), 0);
    assert!(instructions(densefs, "file_system_library") > 100_000, "{densefs}");
    assert!(instructions(densefs, "kernel") < instructions(tmpfs, "kernel") / 2, "{densefs}");
    let counts = &tmpfs["on_tree"];
    let (beside, alone) =
        (first(&counts["program"]["misses"]), first(&counts["program_misses_alone"]));
    assert!(alone >= 0 && beside > 5 * alone.max(1000), "{tmpfs}");
    // Another boot of the same guest does the same.
    assert_eq!(&run("tmpfs")["executions"][0], tmpfs);
}
