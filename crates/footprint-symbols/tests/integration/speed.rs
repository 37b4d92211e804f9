//! How long names take. Run by hand: `cargo test --release ... -- --ignored --nocapture`.

use std::path::Path;
use std::time::Instant;

use footprint_symbols::dwarf::DebugInfo;
use footprint_symbols::elf::Binary;
use footprint_symbols::symbol::SymbolKind;

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
