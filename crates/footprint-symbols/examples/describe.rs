//! Describes a machine's trace and prints the names: `describe TRACE KALLSYMS BTF MEMORY
//! VMALLOCINFO [VMLINUX]`. For developers of this crate.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use footprint_symbols::describe::{KernelSources, Sources, describe};
use footprint_symbols::touched::TouchedAddresses;
use footprint_trace::reader::TraceReader;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trace, kallsyms, btf, memory, mappings, vmlinux @ ..] = &*arguments else {
        return Err("usage: describe TRACE KALLSYMS BTF MEMORY VMALLOCINFO [VMLINUX]".into());
    };
    let start = Instant::now();
    let file = BufReader::with_capacity(1 << 20, File::open(trace)?);
    let touched = TouchedAddresses::read(&mut TraceReader::new(file)?)?;
    println!("read {:?}, bases {:x?}", start.elapsed(), touched.per_cpu_bases());
    let (kallsyms, memory) = (fs::read_to_string(kallsyms)?, fs::read_to_string(memory)?);
    let kernel = KernelSources {
        kallsyms: &kallsyms,
        vmlinux: vmlinux.first().map(Path::new),
        types: Some(&fs::read(btf)?),
        memory: Some(&memory),
        mappings: Some(&fs::read_to_string(mappings)?),
        ..KernelSources::default()
    };
    let sources = Sources { kernel: Some(kernel), images: Vec::new() };
    let description = describe(&touched, &sources)?;
    println!("described {:?}", start.elapsed());
    for function in &description.functions {
        println!("{:x} {} {} {:?}", function.address, function.bytes, function.name, function.file);
    }
    let unnamed = touched.instructions().filter(|(at, _)| description.function(*at).is_none());
    println!("{} functions, {} inlined", description.functions.len(), description.inlined.len());
    println!("{} instructions of no function", unnamed.count());
    let mut kinds = BTreeMap::<String, usize>::new();
    for line in touched.lines() {
        let object = description.data.iter().rfind(|object| {
            object.address < line.saturating_add(64)
                && line - object.address.min(line) < object.bytes
        });
        let name = match object {
            None => format!("none {:x}", line >> 12),
            Some(object) => format!("{:?} {} {:?}", object.kind, object.name, object.type_name),
        };
        *kinds.entry(name).or_default() += 1;
    }
    for (kind, lines) in kinds {
        println!("{lines:6} lines: {kind}");
    }
    println!("{} bytes of JSON", serde_json::to_vec(&description)?.len());
    Ok(())
}
