//! Names in a machine's trace, from a real kernel's symbols and a memory table.

use footprint::description::{DataKind, DataObject, Description};
use footprint_symbols::SymbolsError;
use footprint_symbols::describe::{KernelSources, Sources, describe};
use footprint_symbols::touched::TouchedAddresses;
use footprint_trace::TracedBlock;
use footprint_trace::event::{Access, AccessKind, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::reader::TraceReader;
use footprint_trace::writer::TraceWriter;

use crate::types::compile;

/// An excerpt of `/proc/kallsyms` of Debian's Linux 6.1.0-56-amd64 with xfs.
const KALLSYMS: &str = include_str!("../fixtures/kallsyms");

const MEMORY: &str = "\
ff11000000000000 16777216 memory
ff11000000001000 4032 slab 192 192 dentry
ff11000000002000 4096 slab 256 256 filp
ff11000000003000 4096 page_cache
ff11000000200000 262144 per_cpu
ffd4000000000000 64 page_descriptors
";

const MAPPINGS: &str = "\
0xffa0000000000000-0xffa0000000005000   20480 irq_init_percpu_irqstack+0xf0/0x120 vmap
0xffa0000000008000-0xffa000000000d000   20480 kernel_clone+0xbf/0x430 pages=4 vmalloc N0=4
0xffa0000000010000-0xffa0000000012000    8192 hpet_enable+0xef/0x46d phys=0x00000000fed00000 ioremap
";

/// A trace that executes one instruction of each function and accesses the addresses.
fn touched(functions: &[u64], accesses: &[u64]) -> TouchedAddresses {
    let limit_bytes = 1 << 20;
    let (scope, coverage) = (Scope::Machine, Coverage::Whole);
    let header = Header { architecture: 62, scope, coverage, limit_bytes };
    let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
    let mut encoder = EventEncoder::new();
    // mov %gs:0x1fb80,%rax: the current task, at the base of the only processor.
    let code = [0x65, 0x48, 0x8b, 0x04, 0x25, 0x80, 0xfb, 0x01, 0x00];
    for &address in functions {
        let block = TracedBlock { address, lengths: &[9], code: &code };
        encoder.execute(writer.describe(&block).unwrap());
        let address = 0xff11_0000_0020_0000 + 0x1_fb80;
        encoder.access(Access { kind: AccessKind::Load, address, bytes: 8 });
    }
    let address = 0xffff_ffff_8136_69f0;
    let nothing = TracedBlock { address, lengths: &[2], code: &[0x8b, 0x00] };
    encoder.execute(writer.describe(&nothing).unwrap());
    for &address in accesses {
        encoder.access(Access { kind: AccessKind::Store, address, bytes: 4 });
    }
    writer.write_events(0, &mut encoder).unwrap();
    let trace = writer.finish(None, 0).unwrap();
    TouchedAddresses::read(&mut TraceReader::new(&*trace).unwrap()).unwrap()
}

fn data_at(description: &Description, address: u64) -> Option<&DataObject> {
    let is_around = |one: &&DataObject| {
        address.checked_sub(one.address).is_some_and(|offset| offset < one.bytes)
    };
    description.data.iter().rfind(is_around)
}

#[test]
fn a_kernels_functions_and_data_are_named() {
    let accesses = [
        0xff11_0000_0000_10c8,
        0xff11_0000_0000_2008,
        0xff11_0000_0000_3ff8,
        0xff11_0000_0000_1fd0,
        0xff11_0000_0000_5000,
        0xff11_0000_0023_f000,
        0xffd4_0000_0000_0010,
        0xffa0_0000_0000_8100,
        0xffa0_0000_0001_0004,
        0xffff_ffff_82c4_2718,
        0xffff_fe00_0000_1000,
        0x40_1000,
    ];
    let touched = touched(&[0xffff_ffff_c029_c0b4, 0xffff_ffff_81c0_0080], &accesses);
    assert_eq!(touched.per_cpu_bases(), [0xff11_0000_0020_0000]);
    let types = "struct d_lockref { int lock, count; };
        struct dentry { long flags; struct d_lockref d_lockref; char rest[176]; } d;
        struct file { char none[100]; } f;
        struct page { long flags; int other[14]; } p;";
    let types = compile(types);
    let kernel = KernelSources {
        kallsyms: KALLSYMS,
        types: types.as_deref(),
        memory: Some(MEMORY),
        mappings: Some(MAPPINGS),
        ..KernelSources::default()
    };
    let sources = Sources { kernel: Some(kernel), images: Vec::new() };
    let description = describe(&touched, &sources).unwrap();
    let names: Vec<_> =
        description.functions.iter().map(|one| (&*one.name, &*one.object)).collect();
    assert_eq!(
        names,
        [("vfs_read", "vmlinux"), ("entry_SYSCALL_64", "vmlinux"), ("xfs_create", "xfs")]
    );
    let expected = [
        (accesses[0], DataKind::Slab, "dentry"),
        (accesses[1], DataKind::Slab, "filp"),
        (accesses[2], DataKind::PageCache, "page cache"),
        (accesses[3], DataKind::Page, "page"),
        (accesses[4], DataKind::Page, "page"),
        (accesses[5], DataKind::PerCpu, "per-CPU area"),
        (accesses[6], DataKind::PageDescriptor, "page"),
        (accesses[7], DataKind::Stack, "stack"),
        (accesses[8], DataKind::Device, "hpet_enable"),
        (accesses[9], DataKind::Symbol, "dentry_cache"),
        (accesses[10], DataKind::Other, "cpu_entry_area"),
        (accesses[11], DataKind::User, "user side"),
        (0xff11_0000_0021_fb80, DataKind::PerCpu, "current_task"),
    ];
    for (address, kind, name) in expected {
        let found = data_at(&description, address).map(|one| (one.kind, &*one.name));
        assert_eq!(found, Some((kind, name)), "{address:x}");
    }
    assert_eq!(description.data.len(), expected.len());
    if types.is_some() {
        let dentry = data_at(&description, accesses[0]).unwrap();
        assert_eq!(
            (dentry.element_bytes, dentry.type_name.as_deref()),
            (Some(192), Some("dentry"))
        );
        // The type is too small for the cache's objects.
        assert_eq!(data_at(&description, accesses[1]).unwrap().type_name, None);
        let named: Vec<&str> = description.types.iter().map(|one| &*one.name).collect();
        assert_eq!(named, ["dentry", "page"]);
        let field = description.types[0].fields.iter().find(|one| one.name == "d_lockref.lock");
        assert_eq!(field.map(|one| (one.offset, one.bytes)), Some((8, 4)));
    }
}

#[test]
fn only_what_is_touched_is_described() {
    let touched = touched(&[], &[]);
    let kernel =
        KernelSources { kallsyms: KALLSYMS, memory: Some(MEMORY), ..KernelSources::default() };
    let sources = Sources { kernel: Some(kernel), images: Vec::new() };
    let description = describe(&touched, &sources).unwrap();
    assert_eq!(description.functions.len(), 1);
    assert_eq!((description.data.len(), description.types.len()), (0, 0));
}

#[test]
fn sources_that_are_wrong_say_so() {
    let touched = touched(&[], &[]);
    let kernel = KernelSources { kallsyms: KALLSYMS, ..KernelSources::default() };
    let error = |kernel| {
        let sources = Sources { kernel: Some(kernel), images: Vec::new() };
        describe(&touched, &sources).unwrap_err()
    };
    let hidden = KALLSYMS.lines().map(|line| format!("{:016x}{}\n", 0, &line[16..]));
    let hidden: String = hidden.collect();
    let found = error(KernelSources { kallsyms: &hidden, ..kernel });
    assert!(matches!(found, SymbolsError::NoAddresses), "{found}");
    let hashed = "0x000000000cd93160-0x000000001df2e64a   20480 irq+0xf0/0x120 vmap\n";
    let found = error(KernelSources { mappings: Some(hashed), ..kernel });
    assert!(found.to_string().contains("no_hash_pointers"), "{found}");
    let found = error(KernelSources { types: Some(b"\x9f\xeb\x01"), ..kernel });
    assert!(matches!(found, SymbolsError::Btf { .. }), "{found}");
    let found = error(KernelSources { memory: Some("ff 12 slabs"), ..kernel });
    assert!(matches!(found, SymbolsError::Line { line: 1, .. }), "{found}");
    // Neither a program nor another file is a kernel.
    let program = std::env::current_exe().unwrap();
    let found = error(KernelSources { vmlinux: Some(&program), ..kernel });
    assert!(found.to_string().contains("a different kernel"), "{found}");
    let found = error(KernelSources { vmlinux: Some("/proc/self/status".as_ref()), ..kernel });
    assert!(matches!(found, SymbolsError::Elf { .. }), "{found}");
}
