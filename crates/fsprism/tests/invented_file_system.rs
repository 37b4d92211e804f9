//! Tests that a row in the table is all it takes for a file system to be known everywhere: adds one
//! that does not exist, and looks for it wherever file systems are listed or distinguished.
//!
//! This is a separate process because the added row stays.

use std::process::Command;

use file_system::{Feature, FileSystem, Lack, Mkfs, Modules, Row};
use footprint_guest::TracedCall;
use footprint_suite::GuestTarget;
use lab::Lab;
use machine::describe::describe;
use targets::{Surroundings, TargetSpec, availability};

const INVENTED: Row = Row {
    name: "inventfs",
    mkfs: Some(Mkfs { least_bytes: 1 << 30, ..Mkfs::new("mkfs.inventfs", "inventfs-tools") }),
    modules: Modules { any_of: &["inventfs"], further: &[] },
    lacks: &[Lack { feature: Feature::Links, why: "was invented without" }],
    ..Row::PLAIN
};

#[test]
fn a_row_is_all_that_a_file_system_needs() {
    let unknown = "inventf".parse::<TargetSpec>().expect_err("it is not there yet").to_string();
    assert!(!unknown.contains("inventfs"), "{unknown}");
    file_system::add(INVENTED);

    let misspelt = "inventf".parse::<TargetSpec>().expect_err("not quite its name").to_string();
    assert!(misspelt.contains("did you mean `inventfs`?"), "{misspelt}");
    let spec: TargetSpec = "mine=inventfs:size=2g".parse().expect("it is known");
    let lacking = availability(&spec, &Surroundings::default()).expect_err("no kernel has it");
    assert!(lacking.to_string().contains("inventfs"), "{lacking}");

    let machine = describe();
    let support = machine.file_systems.iter().find(|one| one.name == "inventfs");
    let support = support.expect("the machine is asked for it");
    assert_eq!(support.mkfs_package.as_deref(), Some("inventfs-tools"));

    let guest = GuestTarget::parse("inventfs").expect("guests can be asked for it");
    assert_eq!(guest.size_bytes(), 1 << 30);
    let [create, link] = ["create", "link"].map(|name| name.parse::<TracedCall>().expect("a call"));
    let (has, lacks) = guest.divide(&[create, link]);
    assert_eq!((has.as_slice(), lacks.len()), (&[create][..], 1));
    assert!(lacks[0].1.contains("inventfs was invented without"), "{}", lacks[0].1);

    let place = tempfile::tempdir().expect("a directory");
    let status = lab::status::status(&Lab::at(place.path().to_owned())).expect("an empty lab");
    let missing =
        |what: &&String| what.contains("mkfs.inventfs") && what.contains("inventfs-tools");
    assert_eq!(status.missing.iter().filter(missing).count(), 1, "{:?}", status.missing);
}

/// `scripts/setup` reads what to install from the table's source, before anything is built.
#[test]
fn setup_knows_every_program_and_package() {
    let setup = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup");
    let listed = |mode: &str| {
        let output = Command::new("sh").args([setup, mode]).output().expect("a shell");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("names")
    };
    let expected = |chosen: &dyn Fn(&FileSystem) -> bool| -> String {
        let on_devices = FileSystem::makeable().filter(|one| one.name != INVENTED.name);
        let chosen = on_devices.filter(chosen);
        let pair = |one: FileSystem| {
            one.row().mkfs.as_ref().map(|mkfs| format!("{} {}\n", mkfs.program, mkfs.package))
        };
        chosen.filter_map(pair).collect()
    };
    assert_eq!(listed("list-mkfs-of-all"), expected(&|_| true));
    assert_eq!(listed("list-mkfs-of-defaults"), expected(&|one| one.by_default));
}
