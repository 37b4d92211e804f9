//! A device that may contain somebody else's data. A loop device with a named image stands in.

use std::fs;
use std::process::Command;

use crate::place::Place;

/// A loop device on an image in the place, detached when this is dropped.
struct Disk {
    device: String,
    image: std::path::PathBuf,
}

impl Disk {
    fn new(place: &Place) -> Self {
        let image = place.path("disk");
        let file = fs::File::create(&image).expect("the place is ours");
        file.set_len(160 << 20).expect("it is sparse");
        let output = Command::new("losetup").args(["-f", "--show"]).arg(&image).output();
        let output = output.expect("util-linux is installed");
        assert!(output.status.success(), "{output:?}");
        let device = String::from_utf8(output.stdout).expect("plain text").trim().to_owned();
        Self { device, image }
    }

    fn content(&self) -> Vec<u8> {
        let flushed = Command::new("blockdev").args(["--flushbufs", &self.device]).status();
        assert!(flushed.expect("util-linux is installed").success());
        fs::read(&self.image).expect("it is ours")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _bound_no_longer = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

#[test]
fn a_device_with_data_is_formatted_only_when_it_is_named_for_destruction() {
    let name = "a_device_with_data_is_formatted_only_when_it_is_named_for_destruction";
    let Some(place) = Place::as_root(name) else { return };
    let disk = Disk::new(&place);
    let made = Command::new("mkfs.ext4").args(["-q", "-L", "holiday", &disk.device]).status();
    assert!(made.expect("e2fsprogs is installed").success());
    let before = disk.content();
    let target = format!("run survey/io ext4:device={} --blocks 1 --budget 1s", disk.device);
    let destroy = format!("--destroy-data {}", disk.device);
    place.run(&target).assert_refused(&["LABEL=holiday", &destroy]);
    let other = format!("{target} --destroy-data /dev/null");
    place.run(&other).assert_refused(&[&destroy]);
    let twice = format!("{target} {destroy} --resume run");
    place.run(&twice).assert_refused(&["--resume"]);
    assert!(disk.content() == before, "not a byte has changed");

    let outcome = place.run(&format!("{target} {destroy} --format json --out run --size 2m"));
    let document = outcome.assert_code(0).document();
    assert_eq!(document["targets"][0]["size_bytes"], 160 << 20);
    let mkfs = document["targets"][0]["mkfs"].as_str().expect("a command line");
    assert!(mkfs.ends_with(&disk.device), "{mkfs}");
    assert!(disk.content() != before);
}

#[test]
fn what_is_no_free_device_is_refused() {
    let Some(place) = Place::as_root("what_is_no_free_device_is_refused") else { return };
    for (device, words) in [
        ("/dev/null", &["is not a block device", "without device="][..]),
        ("/dev/nonesuch", &["another device"]),
        ("./scratch", &["is not a block device"]),
    ] {
        let arguments = format!("survey ext4:device={device} --destroy-data {device}");
        place.run(&arguments).assert_refused(words);
    }
}
