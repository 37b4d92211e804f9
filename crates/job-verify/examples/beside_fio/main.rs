//! Holds verification to the fio that is installed, which should be version 3.33: blocks in both
//! directions, damaged ones too, seeds, state files, the order of verification, and speed.
//!
//! `cargo run --release -p fsprism-job-verify --example beside_fio`

mod blocks;
mod damage;
mod fio;
mod kept;
mod orders;
mod seeds;
mod speeds;
mod states;

use std::process::ExitCode;

use fio::Outcome;

/// Says what is the same, or fails with what is not.
type Comparison = fn() -> Outcome<String>;

fn main() -> ExitCode {
    let parts: [(&str, Comparison); 7] = [
        ("blocks", blocks::compare),
        ("damaged blocks", damage::compare),
        ("buffers that are kept", kept::compare),
        ("seeds in mixed jobs", seeds::compare),
        ("state files", states::compare),
        ("order", orders::compare),
        ("speed", speeds::compare),
    ];
    let mut is_same = true;
    for (name, compare) in parts {
        match compare() {
            Ok(summary) => println!("{name}: {summary}"),
            Err(error) => {
                is_same = false;
                println!("{name}: DIFFERS: {error}");
            }
        }
    }
    if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
