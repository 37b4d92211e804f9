//! How long naming takes. Run by hand: `cargo test --release ... -- --ignored --nocapture`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use footprint_symbols::describe::{Sources, describe, images};
use footprint_symbols::dwarf::DebugInfo;
use footprint_symbols::elf::Binary;
use footprint_symbols::symbol::SymbolKind;
use footprint_symbols::touched::Touched;
use footprint_trace::attachments;
use footprint_trace::reader::TraceReader;

#[test]
#[ignore = "prints times; needs VMLINUX, a kernel with DWARF"]
fn addresses_of_a_kernel() {
    let path = std::env::var("VMLINUX").expect("VMLINUX names a kernel with DWARF");
    let start = Instant::now();
    let binary = Binary::read(Path::new(&path)).unwrap();
    let symbols = binary.symbols(0, 0).unwrap();
    println!("read, {} symbols: {:?}", symbols.len(), start.elapsed());
    let debug = DebugInfo::of(&binary).unwrap().unwrap();
    let mut lines = debug.lines().unwrap();
    println!("units: {:?}", start.elapsed());
    let is_function = |kind| kind == SymbolKind::Function;
    let functions: Vec<_> = symbols.iter().filter(|symbol| is_function(symbol.kind)).collect();
    let chosen = functions.iter().step_by(functions.len() / 1000 + 1);
    let (mut addresses, mut frames, mut files) = (0, 0, 0);
    for symbol in chosen {
        files += usize::from(lines.source(symbol.address).file.is_some());
        for at in (0..symbol.bytes.min(100)).step_by(4) {
            addresses += 1;
            frames += lines.inlined(symbol.address + at).len();
        }
    }
    println!("{addresses} addresses, {frames} frames, {files} files: {:?}", start.elapsed());
    for name in ["vfs_read", "xfs_create", "tmpfs_create", "shmem_mknod", "__do_softirq"] {
        if let Some(symbol) = symbols.iter().find(|symbol| symbol.name == name) {
            println!("{name} {:?}", lines.source(symbol.address));
            println!("  {:?}", lines.inlined(symbol.address + symbol.bytes / 2));
        }
    }
}

#[test]
#[ignore = "prints times; needs TRACE, a program's trace"]
fn a_programs_trace() {
    let path = std::env::var("TRACE").expect("TRACE names a program's trace");
    let path = Path::new(&path);
    let open = || TraceReader::new(BufReader::with_capacity(1 << 20, File::open(path).unwrap()));
    let mut reader = open().unwrap();
    let (start, mut events) = (Instant::now(), 0_u64);
    while reader.next_event().unwrap().is_some() {
        events += 1;
    }
    println!("{events} events read: {:?}", start.elapsed());
    let start = Instant::now();
    let touched = Touched::of(&mut open().unwrap()).unwrap();
    println!("touched: {:?}", start.elapsed());
    let start = Instant::now();
    let maps = attachments::read(path, attachments::MAPS).unwrap().unwrap();
    println!("{} bytes of maps: {:?}", maps.len(), start.elapsed());
    let images = images(&maps, &touched).unwrap();
    println!("{images:x?}");
    let description = describe(&touched, &Sources { kernel: None, images }).unwrap();
    println!("{} functions described: {:?}", description.functions.len(), start.elapsed());
    let instructions = touched.instructions().count();
    let is_named = |&(address, _): &(u64, u8)| description.function(address).is_some();
    let named = touched.instructions().filter(is_named).count();
    println!("{named} of {instructions} instructions have a function");
}
