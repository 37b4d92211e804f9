//! What becomes of each function of the C library: which system calls it makes, and whether those
//! on files are served, passed on to the kernel or refused.
//!
//! The functions are those that the library exports, so a new one cannot be overlooked. Which calls
//! a function reaches is found by following its direct calls and jumps; what it calls through
//! pointers, as for streams, is found where that is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use densefs_calls::{Call, call, on_files};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use super::{Truth, each_library, offset, sites};
use crate::serve::is_served;
use crate::sites::text::Text;

/// The calls on files that are the kernel's, and why that is right.
const PASSED_ON: &[(&str, &str)] = &[
    ("acct", "by the mount"),
    ("cachestat", "refuses the placeholder: EBADF"),
    ("fanotify_mark", "by the mount, which tells of what comes by it"),
    ("file_getattr", "by the mount"),
    ("file_setattr", "by the mount"),
    ("finit_module", "refuses the placeholder: EBADF"),
    ("getxattrat", "by the mount"),
    ("kcmp", "compares processes"),
    ("kexec_file_load", "refuses the placeholder: EBADF"),
    ("landlock_add_rule", "by the mount; the library is not restricted"),
    ("listxattrat", "by the mount"),
    ("mount", "by the mount"),
    ("mount_setattr", "by the mount"),
    ("move_mount", "by the mount"),
    ("open_tree_attr", "by the mount"),
    ("quotactl", "by the mount"),
    ("quotactl_fd", "refuses the placeholder: EBADF"),
    ("removexattrat", "by the mount"),
    ("setns", "refuses the placeholder: EBADF"),
    ("setxattrat", "by the mount"),
    ("swapoff", "by the mount"),
    ("swapon", "by the mount"),
    ("tee", "refuses the placeholder: EBADF"),
    ("umount2", "by the mount"),
    ("uselib", "is no more"),
    ("vmsplice", "refuses the placeholder: EBADF"),
];

fn is_passed_on(call: &Call) -> bool {
    PASSED_ON.iter().any(|(name, _)| *name == call.name)
}

#[test]
fn each_call_on_files_is_served_or_passed_on_for_a_reason() {
    let unserved: Vec<_> =
        on_files().filter(|call| !is_served(call.number)).map(|call| call.name).collect();
    let mut expected: Vec<_> = PASSED_ON.iter().map(|(name, _)| *name).collect();
    let mut found = unserved.clone();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn all_numbers_in_the_libraries_are_known() {
    each_library(&|name, text| {
        for number in sites(text).iter().filter_map(|site| site.number) {
            assert!(call(number).is_some(), "{name}: nobody has decided on system call {number}");
        }
    });
}

/// The calls that can be reached from each of these functions, as numbers.
struct Reached<'a> {
    truth: &'a Truth,
    text: &'a Text<'a>,
    /// The numbers of the sites.
    numbers: BTreeMap<usize, Option<usize>>,
}

impl Reached<'_> {
    /// From an offset on; `None` stands for a number that the function is given.
    fn from(&self, start: usize) -> BTreeSet<Option<usize>> {
        let mut reached = BTreeSet::new();
        let mut pending = vec![start];
        let mut seen = BTreeSet::new();
        while let Some(at) = pending.pop() {
            let Some(function) = self.text.function(at).filter(|_| at < self.text.bytes.len())
            else {
                continue;
            };
            if !seen.insert(function.start) {
                continue;
            }
            reached.extend(self.numbers.range(function.clone()).map(|(_, number)| *number));
            for (_, known) in self.truth.instructions.range(function.clone()) {
                let leads = known.is_call_near() || known.is_jmp_short_or_near();
                if leads || known.is_jcc_short_or_near() {
                    let target = offset(known.near_branch_target().min(u64::from(u32::MAX)));
                    if !function.contains(&target) {
                        pending.push(target);
                    }
                }
            }
        }
        reached
    }
}

/// What becomes of the calls that a function makes.
fn treatment(reached: &BTreeSet<Option<usize>>) -> String {
    let mut treatment = String::new();
    for number in reached {
        let Some(number) = number else {
            treatment.push_str(" any=served");
            continue;
        };
        let call = call(*number).unwrap_or_else(|| panic!("nobody has decided on {number}"));
        let what = match (call.arguments.is_empty(), is_served(*number)) {
            (_, true) => "served",
            (true, false) => continue,
            (false, false) if is_passed_on(&call) => "passed",
            (false, false) => panic!("nobody has decided on {}", call.name),
        };
        let _infallible = write!(treatment, " {}={what}", call.name);
    }
    treatment
}

/// Prints the list with `--nocapture`.
#[test]
fn each_function_of_the_c_library_has_a_treatment() {
    each_library(&|name, text| {
        if !name.starts_with("libc.") {
            return;
        }
        let truth = Truth::read(text);
        let numbers = sites(text).iter().map(|site| (site.call, site.number)).collect();
        let reached = Reached { truth: &truth, text, numbers };
        let mut treatments = BTreeMap::new();
        for (symbol, at) in functions_of(name, text) {
            treatments.insert(symbol, treatment(&reached.from(at)));
        }
        for (symbol, treatment) in &treatments {
            println!("{symbol}{treatment}");
        }
        let of = |symbol: &str| treatments.get(symbol).map_or("", String::as_str);
        for (symbol, calls) in [
            ("open", " openat=served"),
            ("opendir", " openat=served"),
            ("rename", " rename=served"),
            ("syscall", " any=served"),
            ("swapon", " swapon=passed"),
            ("inotify_add_watch", " inotify_add_watch=served"),
            ("nftw", " newfstatat=served"),
            ("realpath", " readlink=served"),
            ("mkstemp", " openat=served"),
        ] {
            assert!(of(symbol).contains(calls), "{symbol}:{}", of(symbol));
        }
        assert_eq!(of("strlen"), "");
        assert!(treatments.len() > 2_000, "{}", treatments.len());
    });
}

/// The functions that a library exports, and their offsets in its text.
fn functions_of(name: &str, text: &Text) -> Vec<(String, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("it is mounted");
    let map = maps.lines().find(|line| line.ends_with(name) && line.contains(" 00000000 "));
    let map = map.expect("the library is mapped");
    let base = map.split('-').next().expect("an address");
    let base = usize::from_str_radix(base, 16).expect("a number");
    let path = map.split_whitespace().last().expect("its path");
    let bytes = std::fs::read(path).expect("it can be read");
    let library = ElfFile64::<object::Endianness>::parse(&*bytes).expect("a library");
    let functions = library.dynamic_symbols().filter(object::ObjectSymbol::is_definition);
    let functions = functions.filter(|symbol| symbol.kind() == SymbolKind::Text);
    let found = functions.filter_map(|symbol| {
        let at = (base + offset(symbol.address())).checked_sub(text.address)?;
        Some((symbol.name().ok()?.to_owned(), at))
    });
    found.collect()
}
