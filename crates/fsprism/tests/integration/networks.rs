//! `fsprism run fscache`: a real server and a real client, in every state of the client's caches.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::rig::{DiskSpeed, RigConditions, Shape};
use lab::{ImageParts, Lab, image, kernel};
use network_guest::content::{Content, TreeShape};
use network_guest::{CommandResult, CullLimits, Version};
use network_suite::{KernelCounts, NetworkBenchmark, NetworkRig, NetworkState, Plan};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::guests::lab;
use crate::place::{Place, say_skipped};

/// A place, and the program with the tests' lab. If no guest can be booted here, says that the test
/// is skipped and returns `None`.
fn fsprism(test: &str, arguments: &str) -> Option<(Place, Command)> {
    match lab() {
        Ok(lab) => {
            let place = Place::new();
            let mut command = place.fsprism(arguments);
            command.env("FSPRISM_LAB", lab);
            Some((place, command))
        }
        Err(why) => {
            say_skipped(test, why.trim());
            None
        }
    }
}

fn values(document: &Value, benchmark: &str, target: &str, metric: &str) -> Vec<f64> {
    let cells = document["cells"].as_array().expect("a list");
    let mut cells = cells.iter().filter(|cell| cell["benchmark"] == benchmark);
    let cell = cells.find(|cell| cell["target"] == target).expect("it is measured");
    let metrics = cell["metrics"].as_array().expect("a list");
    let metric = metrics.iter().find(|one| one["name"] == metric).expect("it is counted");
    let values = metric["values"].as_array().expect("a list");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn files_are_read_over_a_network_in_every_state_by_two_clients_and_past_a_small_cache() {
    let test = "files_are_read_over_a_network_in_every_state_by_two_clients_and_past_a_small_cache";
    let arguments = "run fscache --benchmark file,two-clients,cull,coherence --file 1m \
                     --tree 40x600 --cache-size 5m --blocks 1 --format json \
                     --link 50mbit,delay=1ms --out run";
    let Some((_place, mut command)) = fsprism(test, arguments) else { return };
    let output = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let of = |target: &str, metric: &str| values(&document, "file", target, metric)[0];
    let of_two = |target: &str, metric: &str| values(&document, "two-clients", target, metric)[0];
    let bytes = f64::from(1 << 20);
    for (target, server, is_read, is_written) in [
        ("server", 0.0, false, false),
        ("none", bytes, false, false),
        ("cold", bytes, true, true),
        ("hot", 0.0, true, false),
        ("pgcache", 0.0, false, false),
    ] {
        assert_eq!(of(target, "read_from_server"), server, "{target}");
        assert_eq!(of(target, "rpc_read") > 0.0, server > 0.0, "{target}");
        assert_eq!(of(target, "cache_reads") > 0.0, is_read, "{target}");
        assert_eq!(of(target, "cache_writes") > 0.0, is_written, "{target}");
        assert!(of(target, "emulated_time") > 0.0, "{target}");
        if target == "server" {
            continue;
        }
        for client in ["client_1", "client_2"] {
            let of_client = |metric: &str| of_two(target, &format!("{client}_{metric}"));
            assert_eq!(of_client("read_from_server"), server, "{client} {target}");
            assert_eq!(of_client("rpc_read"), of(target, "rpc_read"), "{client} {target}");
            assert_eq!(of_client("cache_reads") > 0.0, is_read, "{client} {target}");
            assert_eq!(of_client("cache_writes") > 0.0, is_written, "{client} {target}");
        }
        assert_eq!(of_two(target, "rpc_read"), 2.0 * of(target, "rpc_read"), "{target}");
    }
    assert_eq!(of("none", "rpc_read"), of("cold", "rpc_read"));
    assert!(of("cold", "disk_written") >= bytes && of("hot", "disk_read") >= bytes);
    let of_cull = |target: &str, metric: &str| values(&document, "cull", target, metric)[0];
    let tree_bytes = of_cull("cold", "read_from_server");
    assert_eq!(tree_bytes, 600.0 * 11_489.0);
    assert!(of_cull("cold", "cache_culled") > 0.0);
    let again = of_cull("hot", "read_from_server");
    assert!(again > 0.0 && again <= tree_bytes, "{again}");
    let hit = of_cull("hot", "cache_hit") / 100.0;
    assert!((again + hit * tree_bytes - tree_bytes).abs() < 1.0, "{hit}");
    assert!(of_cull("hot", "cache_held") < tree_bytes);
    let checks = |target| ["cache_checks", "cache_stale"].map(|metric| of(target, metric));
    assert_eq!((checks("none"), checks("cold"), checks("hot")), ([0.0; 2], [0.0; 2], [1.0, 0.0]));
    assert_eq!(values(&document, "coherence", "hot", "cache_stale"), [1.0]);
}

#[test]
fn a_cache_that_must_keep_more_free_culls_more() {
    let run = |limits: &str| {
        let arguments = format!(
            "run fscache --benchmark cull --states cold --tree 40x600 --cache-size 6m --blocks 1 \
             --format json --link 50mbit --out run {limits}"
        );
        let test = "a_cache_that_must_keep_more_free_culls_more";
        let (_place, mut command) = fsprism(test, &arguments)?;
        let output = command.output().expect("it can be run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        Some(serde_json::from_slice::<Value>(&output.stdout).expect("one document"))
    };
    let Some(usual) = run("") else { return };
    let freer = run("--brun 60% --bcull 55%").expect("there is a lab");
    let of = |document: &Value, metric| values(document, "cull", "cold", metric)[0];
    let (culled, held) = ("cache_culled", "cache_held");
    assert!(of(&freer, culled) > of(&usual, culled), "{} culled", of(&freer, culled));
    assert!(of(&freer, held) < of(&usual, held), "{} held", of(&freer, held));
    let specification = freer["targets"][0]["specification"].as_str().unwrap_or_default();
    assert!(specification.contains("brun=60%,bcull=55%,bstop=3%"), "{specification}");
}

/// A rig with a running server, whose client can run this program on its own mount.
fn rig_of_a_mount(lab: &Path) -> NetworkRig {
    let lab = Lab::at(lab.to_owned());
    let kernel = kernel::find(&lab, None).expect("it was built");
    let further = network_suite::programs();
    let program = Path::new(env!("CARGO_BIN_EXE_fsprism"));
    let parts = ImageParts { kernel: &kernel, program, further: &further };
    let image = image::build(&lab, parts).expect("it was built");
    let boot_limit = Duration::from_secs(120);
    let conditions = RigConditions { kernel, image, boot_limit, consoles: None, stop: None };
    let plan = Plan {
        states: vec![NetworkState::None],
        versions: vec![Version::V42],
        caches: vec!["ext4".to_owned()],
        link: Shape::default(),
        benchmarks: vec![NetworkBenchmark::File],
        runs: 1,
        content: Content {
            file_bytes: 16 << 20,
            tree: TreeShape { directories: 1, files: 1 },
            seed: 1,
        },
        cache_bytes: None,
        cache_disk: DiskSpeed::default(),
        limits: CullLimits::default(),
        counts: KernelCounts::default(),
        mount: None,
    };
    let mut rig = NetworkRig::new(conditions, &plan).expect("it can be set up");
    rig.serve(&plan).expect("it serves");
    rig
}

#[test]
fn a_mount_of_ones_own_is_measured_in_the_states_that_can_be_made_on_it() {
    let lab = match lab() {
        Ok(lab) => lab,
        Err(why) => return say_skipped("a_mount_of_ones_own", why.trim()),
    };
    let mut rig = rig_of_a_mount(&lab);
    let mut run = |cache, further: &[&str]| {
        let words = ["/init", "run", "fscache", "--at", "own=/mnt", "--file", "256k", "--tree"];
        let words = [&words[..], &["2x10", "--blocks", "2", "--out", "/tmp/run"], further].concat();
        rig.run_on_client(Version::V42, cache, &words).expect("the client comes up")
    };
    let document = |ran: &CommandResult| -> Value {
        assert_eq!(ran.status, Some(0), "{}", ran.said);
        serde_json::from_str(&ran.printed).expect("one document")
    };
    let json = ["--format", "json", "--drop", "echo >> /tmp/dropped"];
    let with = document(&run(Some("ext4"), &json));
    let bytes = f64::from(256 << 10);
    for (target, server, is_read, is_written) in [
        ("own cold", bytes, true, true),
        ("own hot", 0.0, true, false),
        ("own pgcache", 0.0, false, false),
    ] {
        for (benchmark, bytes) in [("file", server), ("tree", server.min(1.0) * 114_890.0)] {
            let of = |metric: &str| values(&with, benchmark, target, metric);
            assert_eq!(of("read_from_server"), [bytes; 2], "{benchmark} {target}");
            assert_eq!(of("cache_reads")[0] > 0.0, is_read, "{benchmark} {target}");
            assert_eq!(of("cache_writes")[0] > 0.0, is_written, "{benchmark} {target}");
            assert!(of("elapsed_time")[0] > 0.0);
        }
    }
    let without = document(&run(None, &json[..2]));
    let of = |target: &str| values(&without, "file", target, "read_from_server");
    assert_eq!((of("own none"), of("own pgcache")), (vec![bytes; 2], vec![0.0; 2]));
    let skipped = without["skipped"].to_string();
    for words in ["server: all benchmarks", "the mount has no cache"] {
        assert!(skipped.contains(words), "{skipped}");
    }
    let failed = run(Some("ext4"), &["--drop", "echo no such unit >&2; exit 3"]);
    assert_eq!(failed.status, Some(1), "{}", failed.said);
    assert!(failed.said.contains("exit status: 3: no such unit"), "{}", failed.said);
}

#[test]
fn what_no_rig_can_do_is_refused() {
    let test = "what_no_rig_can_do_is_refused";
    for (arguments, words) in [
        ("run fscache --link 0mbit", "link's rate"),
        ("run fscache --nfs 5", "NFS version"),
        ("run fscache --states warm", "no state"),
        ("run fscache --cache-fs tmpfs", "--cache-fs"),
        ("run fscache --tree 5x0", "--tree"),
        ("run fscache --file 1000g", "--file"),
        ("run fscache --benchmark nothing", "no benchmark"),
        ("run fscache --size 1m", "--size is an option of survey"),
        ("run fscache --benchmark cull --cache-size 1g", "--cache-size"),
        ("run fscache --cache-disk iops=5", "a disk's iops"),
        ("run fscache --cache-disk 20m", "iops=NUMBER and bps=SIZE"),
        ("run fscache --at . --cache-disk iops=500", "--cache-disk"),
        ("run fscache --brun 7", "0 <= bstop < bcull < brun < 100, but these are 3, 7 and 7"),
        ("run fscache --fstop 8%", "but these are 8, 7 and 10: choose others with --fstop"),
        ("run fscache --brun 101", "--brun"),
        ("run fscache --at . --bcull 5", "--bcull"),
        ("run fscache --break-even=100m", "--break-even"),
        ("run fscache --break-even --nfs 3,4.2", "--nfs"),
        ("run fscache --break-even --benchmark tree", "--benchmark"),
        ("run fscache --break-even --file 1m", "--file"),
        ("run nano --break-even", "--break-even is an option of fscache"),
        ("run fscache ext4", "fscache takes no targets"),
        ("run fscache --kernel 2.6.18", "2.6.18"),
        ("run nano --link 1mbit", "--link is an option of fscache"),
        ("run fscache --at .", "no network file system"),
        ("run fscache --at ext4", "no directory"),
        ("run fscache --drop true", "--at"),
        ("run fscache --at . --link 1mbit", "--link"),
    ] {
        let Some((place, mut command)) = fsprism(test, arguments) else { return };
        let output = command.output().expect("it can be run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(words), "{arguments}: {said}");
        assert!(!place.path("fsprism-runs").exists(), "{arguments}");
    }
}

/// Process id of the server's QEMU, which this fsprism started. The server has the first end of the
/// first link, and is recognized by its MAC address.
fn server_of(fsprism: u32) -> Option<i32> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|number: &i32| {
        let text = |name: &str| fs::read(format!("/proc/{number}/{name}")).unwrap_or_default();
        let status = String::from_utf8_lossy(&text("status")).into_owned();
        let is_child = status.lines().any(|line| line == format!("PPid:\t{fsprism}"));
        is_child && String::from_utf8_lossy(&text("cmdline")).contains("52:54:00:77:00:00")
    })
}

/// A guest that dies during a run is booted again: here the server, behind a link that loses
/// packets.
#[test]
fn a_server_that_goes_away_costs_a_replicate_and_not_the_run() {
    let test = "a_server_that_goes_away_costs_a_replicate_and_not_the_run";
    let arguments = "run fscache --benchmark file --file 1m --tree 1x1 --blocks 2 --states none \
                     --nfs 4.1,4.0 --format json --link 50mbit,loss=1% --out run";
    let Some((_place, mut command)) = fsprism(test, arguments) else { return };
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let first = said.find(|line| line.starts_with("run 1:")).expect("something is measured");
    let server = server_of(run.id()).expect("a server runs");
    rustix::process::kill_process(Pid::from_raw(server).unwrap(), Signal::KILL).unwrap();
    let said: Vec<String> = [first].into_iter().chain(said).collect();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{said:#?}");
    let lost = said.iter().filter(|line| line.contains("the server stopped early")).count();
    let booted = said.iter().filter(|line| *line == "booting the server").count();
    assert_eq!((lost, booted), (1, 1), "{said:#?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    for target in ["nfs4.1 none", "nfs4.0 none"] {
        let read = values(&document, "file", target, "read_from_server");
        assert_eq!(read, [f64::from(1 << 20); 2], "{target}");
    }
}
