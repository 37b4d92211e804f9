//! Prints what this machine's memory is used for, and how long finding out took. Run it in a guest.

use std::error::Error;
use std::fs;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let kallsyms = fs::read_to_string("/proc/kallsyms")?;
    let btf = fs::read("/sys/kernel/btf/vmlinux")?;
    let read = start.elapsed();
    let table = footprint_symbols::inside::memory_table(&kallsyms, &btf)?;
    print!("{table}");
    eprintln!("read {read:?}, walked {:?}", start.elapsed() - read);
    Ok(())
}
