//! Compares what the device writes for directory changes with a count by hand: a shell makes files,
//! umount(8) unmounts the file system, and the kernel's counter of the device is read before and
//! after.

use std::process::Command;

use crate::place::Place;

/// Makes six directories of 1,000 files on a new file system. Prints how many bytes unmounting it
/// writes if nothing was changed, and if 100 more files were made across the directories in turn.
/// Does all of this twenty times.
const BY_HAND: &str = r#"
set -e
truncate -s 512M "$0/image"
device=$(losetup --find --show --direct-io=on "$0/image")
trap 'umount "$0/m" 2> /dev/null || true; losetup -d $device' EXIT
written() { read -r _ _ _ _ _ _ sectors _ < /sys/block/"$(basename $device)"/stat; echo $sectors; }
mkdir "$0/m"
make() {
    mkfs.$1 $2 $device
    mount -t $1 $device "$0/m"
    mkdir -p "$0/m/set/read" "$0/m/set/write" "$0/m/set/growing"
    for directory in 0 1 2 3 4 5; do
        mkdir -p "$0/m/set/entries/$directory"
        (cd "$0/m/set/entries/$directory" && seq -f 'e%011g' 0 999 | xargs touch)
    done
    umount "$0/m"
}
unmounted_after() {
    mount -t $1 $device "$0/m"
    ls -lR "$0/m/set" > "$0/list"
    sync -f "$0/m"
    before=$(written)
    # Which blocks of a directory change depends on the names: as random as fsprism's.
    for file in $(seq "$2"); do
        : > "$0/m/set/entries/$(printf '%d/f%011x' $(((file - 1) % 6)) $(($3 + file)))"
    done
    sync -f "$0/m"
    umount "$0/m"
    echo $((512 * ($(written) - before)))
}
for names in $(seq 100000000007 71234567891 1453456789936); do
    make $1 "$2"
    unmounted_after $1 0 $names
    unmounted_after $1 100 $names
done
"#;

/// The typical number of bytes written for 100 creates, not counting what an unmount alone writes.
fn by_hand(place: &Place, file_system: &str, options: &str) -> f64 {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", BY_HAND]).arg(place.make("hand"));
    let output = command.args([file_system, options]).output().expect("util-linux is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    let bytes: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let net: Vec<f64> = bytes.chunks(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(net.len(), 20, "{text}");
    typical(net)
}

/// The mean of the middle half. Single values differ by 4 %, as the number of directory blocks that
/// change depends on the names and on the file system's own seed, so it takes many to compare.
fn typical(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let quarter = values.len() / 4;
    let middle = &values[quarter..values.len() - quarter];
    middle.iter().sum::<f64>() / middle.len() as f64
}

fn agrees(file_system: &str, options: &str) {
    let name = format!("what_creates_write_on_{file_system}_is_what_unmounting_shows");
    let Some(place) = Place::as_root(&name) else { return };
    let by_hand = by_hand(&place, file_system, options);
    let arguments = format!(
        "run nano/metadata {file_system}:size=512m --benchmark create-sync --blocks 30 --seed 1 \
         --budget 5s --format json --out run"
    );
    let document = place.run(&arguments).assert_code(0).document();
    let metrics = document["cells"][0]["metrics"].as_array().expect("a list");
    let of_bytes = metrics.iter().find(|one| one["name"] == "device_bytes_written_per_operation");
    let values = of_bytes.expect("it counts")["values"].as_array().expect("a list");
    let bytes = |value: &serde_json::Value| 100.0 * value.as_f64().expect("a number");
    let measured = typical(values.iter().map(bytes).collect());
    let ratio = measured / by_hand;
    assert!((0.95..=1.05).contains(&ratio), "{measured} bytes, and {by_hand} by hand: {ratio}");
}

#[test]
fn what_creates_write_on_ext4_is_what_unmounting_shows() {
    agrees("ext4", "-F -q -E lazy_itable_init=0,lazy_journal_init=0");
}

#[test]
fn what_creates_write_on_xfs_is_what_unmounting_shows() {
    agrees("xfs", "-f -q");
}
