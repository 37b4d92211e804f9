//! Layouts of types: of the running kernel, and of programs compiled by gcc and converted by
//! pahole.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use footprint::description::TypeLayout;
use footprint_symbols::SymbolsError;
use footprint_symbols::btf::Btf;

/// The BTF of a C file, from gcc and pahole. If they are missing, prints the reason and returns
/// `None`.
pub(crate) fn compile(source: &str) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("types.c"), source).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-gdwarf-4", "-c", "-o"]).arg(path("types.o")).arg(path("types.c"));
    let mut pahole = Command::new("pahole");
    pahole.arg("--btf_encode_detached").arg(path("btf")).arg(path("types.o"));
    for mut command in [gcc, pahole] {
        if !command.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: {:?} does not work here", command.get_program());
            return None;
        }
    }
    Some(fs::read(path("btf")).unwrap())
}

const SOURCE: &str = "
typedef struct { int raw; } lock_t;
struct list { struct list *next, *prev; };
union word { unsigned long all; unsigned char bytes[8]; };
enum colour { RED, GREEN = 7 };
struct pair { short a, b; };
struct thing {
    unsigned long flags;
    union { struct list list; const union word words[2]; };
    volatile lock_t lock;
    unsigned low : 3, high : 7;
    struct pair pairs[2];
    struct pair many[20];
    enum colour colour;
    char name[10];
} thing;
";

fn fields(layout: &TypeLayout) -> Vec<String> {
    let field = |field: &footprint::description::Field| {
        format!("{} {} {}", field.offset, field.bytes, field.name)
    };
    layout.fields.iter().map(field).collect()
}

#[test]
fn nested_fields_are_named_by_path() {
    let Some(bytes) = compile(SOURCE) else { return };
    let btf = Btf::parse("test", &bytes).unwrap();
    let layout = btf.layout("thing").unwrap();
    let expected = [
        "0 8 flags",
        "8 8 list.next",
        "8 8 words[0].all",
        "8 8 words[0].bytes",
        "16 8 list.prev",
        "16 8 words[1].all",
        "16 8 words[1].bytes",
        "24 4 lock.raw",
        "28 1 low",
        "28 2 high",
        "30 2 pairs[0].a",
        "32 2 pairs[0].b",
        "34 2 pairs[1].a",
        "36 2 pairs[1].b",
        "38 80 many",
        "120 4 colour",
        "124 10 name",
    ];
    let mut found = fields(&layout);
    let mut sorted: Vec<String> = expected.iter().map(|&field| field.to_owned()).collect();
    let key =
        |field: &String| (field.split(' ').next().unwrap().parse::<u32>().unwrap(), field.clone());
    found.sort_by_key(key);
    sorted.sort_by_key(key);
    assert_eq!(found, sorted);
    assert_eq!((layout.bytes, btf.bytes("thing"), btf.bytes("pair")), (136, Some(136), Some(4)));
    assert_eq!(btf.constant("colour", "GREEN"), Some(7));
    assert_eq!((btf.layout("nothing"), btf.constant("colour", "BLUE")), (None, None));
}

#[test]
fn cut_off_and_damaged_types_are_refused_or_read() {
    let Some(bytes) = compile(SOURCE) else { return };
    for length in 0..bytes.len() {
        let error = Btf::parse("test", &bytes[..length]).unwrap_err();
        assert!(matches!(error, SymbolsError::Btf { .. }), "{length}: {error}");
    }
    // Whatever is changed, nothing goes out of bounds or loops forever.
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            if let Ok(btf) = Btf::parse("test", &changed) {
                let _ = (btf.layout("thing"), btf.constant("colour", "GREEN"));
            }
        }
    }
}

#[test]
fn types_of_the_kernel_here_agree_with_pahole() {
    let Ok(bytes) = fs::read("/sys/kernel/btf/vmlinux") else {
        eprintln!("skipped: the kernel here has no /sys/kernel/btf/vmlinux");
        return;
    };
    let btf = Arc::new(Btf::parse("vmlinux", &bytes).unwrap());
    let inode = btf.layout("inode").unwrap();
    let place = |name: &str| {
        let field = inode.fields.iter().find(|field| field.name == name);
        field.map(|field| (field.offset, field.bytes))
    };
    assert_eq!(place("i_mode"), Some((0, 2)));
    assert!(place("i_lock.rlock.raw_lock.val.counter").is_some(), "{:?}", fields(&inode));
    assert!(inode.fields.iter().all(|field| field.offset + field.bytes <= inode.bytes));
    let output = Command::new("pahole").args(["-C", "inode", "/sys/kernel/btf/vmlinux"]).output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8(output.stdout).unwrap();
            let size = format!("/* size: {},", inode.bytes);
            assert!(text.contains(&size), "{size} {text}");
            let (offset, bytes) = place("i_sb").unwrap();
            let is_it = |line: &&str| line.contains("i_sb;") && line.contains("/*");
            let line = text.lines().find(is_it).unwrap();
            let numbers: Vec<&str> =
                line.split("/*").nth(1).unwrap().split_whitespace().take(2).collect();
            assert_eq!(numbers, [offset.to_string(), bytes.to_string()]);
        }
        _ => eprintln!("skipped: there is no pahole here"),
    }
    // A module's types continue the kernel's and refer to them.
    assert!(Btf::parse_module("m", &bytes[..10], &btf).is_err());
}
