//! How fast checksums are, beside fio's own test of its own.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use job_verify::{Method, fill_randomly, write_checksum};

use super::fio::Outcome;

/// As large as the blocks of fio's test.
const BLOCK: usize = 128 << 10;
/// A speed is the best of this many.
const ROUNDS: u32 = 9;
const MIB: f64 = 1_048_576.0;

pub(crate) fn compare() -> Outcome<String> {
    let output = Command::new("fio").arg("--crctest").output()?;
    let theirs = String::from_utf8(output.stdout)?;
    let mut lines = vec!["MiB/s here and in fio".to_owned()];
    for method in Method::all().filter(|method| method.checksum_bytes() > 0) {
        let line = theirs.lines().find_map(|line| line.strip_prefix(&format!("{method}:")));
        let their = line.and_then(|line| line.split_whitespace().next()).unwrap_or("-");
        lines.push(format!("  {method:9} {:8.0} {their:>9}", speed(method)));
    }
    Ok(lines.join("\n"))
}

fn speed(method: Method) -> f64 {
    let mut block = vec![0; BLOCK];
    fill_randomly(0x8989, &mut block);
    let mut place = vec![0; method.checksum_bytes()];
    let mut passes = 1;
    let mut best = 0_f64;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..passes {
            write_checksum(method, black_box(&block), &mut place);
            black_box(&place);
        }
        let seconds = start.elapsed().as_secs_f64();
        let megabytes = f64::from(passes) * (BLOCK as f64) / MIB;
        best = best.max(megabytes / seconds);
        if seconds < 0.05 {
            passes *= 4;
        }
    }
    best
}
