//! Which modules a file system needs, and in which order they are loaded.
//!
//! Dependencies are read from the modules themselves (section `.modinfo`: `depends`, `softdep`,
//! `alias`, see the kernel's scripts/mod/modpost.c), since a package that is not installed has no
//! `modules.dep`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use file_system::{FileSystem, Modules};

use crate::elf::Elf;
use crate::error::LabError;
use crate::tool;

/// What a guest can ask for besides file systems, whose modules are in their own rows. The first
/// entry is what no guest can do without.
const DRIVERS: [(&str, Modules); 10] = [
    ("base", Modules { any_of: &["virtio_pci"], further: &["virtio_console"] }),
    ("brd", Modules { any_of: &["brd"], further: &[] }),
    ("loop", Modules { any_of: &["loop"], further: &[] }),
    ("virtio-net", Modules { any_of: &["virtio_net"], further: &[] }),
    ("virtio-blk", Modules { any_of: &["virtio_blk"], further: &[] }),
    ("tbf", Modules { any_of: &["sch_tbf"], further: &[] }),
    ("netem", Modules { any_of: &["sch_netem"], further: &[] }),
    ("nfs", Modules { any_of: &["nfsv4"], further: &["nfsv3"] }),
    ("nfsd", Modules { any_of: &["nfsd"], further: &[] }),
    ("cachefiles", Modules { any_of: &["cachefiles"], further: &[] }),
];
/// Directories with modules that provide algorithms by alias.
const ALGORITHMS: [&str; 2] = ["kernel/crypto", "kernel/arch/x86/crypto"];

/// What signed modules end with.
const SIGNATURE_END: &[u8] = b"~Module signature appended~\n";
/// Bytes of the signature's description before its length.
const SIGNATURE_HEAD: usize = 8;

/// The modules of a kernel, by name, spelled with underscores.
struct KernelModules {
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
    /// Modules that provide an algorithm, generic ones first.
    algorithms: BTreeMap<String, Vec<String>>,
}

/// A module's information about itself.
#[derive(Default)]
struct Information {
    depends: Vec<String>,
    before: Vec<String>,
    aliases: Vec<String>,
}

/// Copies the modules that are needed from `/lib/modules/RELEASE` to `to/modules`, uncompressed,
/// and writes `to/modules.list`: one line per name, `NAME: FILE FILE`, in loading order. A file
/// marked with a leading `?` may fail to load, since it drives hardware that the processor may
/// lack.
pub(super) fn collect(from: &Path, to: &Path, release: &str) -> Result<(), LabError> {
    let modules = KernelModules::read(from)?;
    let into = to.join("modules");
    fs::create_dir_all(&into).map_err(LabError::at(&into))?;
    let mut list = String::new();
    let drivers = DRIVERS.iter().map(|(name, needed)| (*name, needed));
    let file_systems = FileSystem::makeable().map(|made| (made.row().name, &made.row().modules));
    for (name, Modules { any_of, further }) in drivers.chain(file_systems) {
        if any_of.is_empty() {
            list.push_str(&format!("{name}:\n"));
            continue;
        }
        let Some(main) = any_of.iter().find(|name| modules.has(name)) else {
            if name == "base" {
                let (release, module) = (release.to_owned(), any_of[0].to_owned());
                return Err(LabError::NoModule { release, module });
            }
            continue;
        };
        let mut order = Vec::new();
        modules.add(main, Needed::Always, &mut order)?;
        for further in further.iter().filter(|name| modules.has(name)) {
            modules.add(further, Needed::Always, &mut order)?;
        }
        let _infallible = write!(list, "{name}:");
        for (module, needed) in order {
            modules.copy(&module, &into)?;
            let mark = if needed == Needed::IfPossible { "?" } else { "" };
            let _infallible = write!(list, " {mark}{module}.ko");
        }
        list.push('\n');
    }
    let path = to.join("modules.list");
    fs::write(&path, list).map_err(LabError::at(&path))
}

/// Whether a module must load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Always,
    IfPossible,
}

impl KernelModules {
    fn read(from: &Path) -> Result<Self, LabError> {
        let mut files = BTreeMap::new();
        walk(&from.join("kernel"), &mut files)?;
        let built_in = fs::read_to_string(from.join("modules.builtin")).unwrap_or_default();
        let built_in = built_in.lines().filter_map(|line| name_of(Path::new(line))).collect();
        let mut modules = Self { files, built_in, algorithms: BTreeMap::new() };
        let directories = ALGORITHMS.map(|directory| from.join(directory));
        let is_algorithm = |path: &Path| directories.iter().any(|within| path.starts_with(within));
        let providers = modules.files.iter().filter(|(_, path)| is_algorithm(path));
        let names: Vec<String> = providers.map(|(name, _)| name.clone()).collect();
        for name in names {
            for alias in modules.information(&name)?.aliases {
                modules.algorithms.entry(alias).or_default().push(name.clone());
            }
        }
        let rank = |name: &String| (!name.ends_with("_generic"), name.clone());
        modules.algorithms.values_mut().for_each(|names| names.sort_by_key(rank));
        Ok(modules)
    }

    fn has(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.built_in.contains(name)
    }

    fn plain(&self, name: &str) -> Result<Vec<u8>, LabError> {
        let path = &self.files[name];
        let tool = match path.extension().and_then(|end| end.to_str()) {
            Some("xz") => ("xz", "xz-utils"),
            Some("zst") => ("zstd", "zstd"),
            Some("gz") => ("gzip", "gzip"),
            _ => return fs::read(path).map_err(LabError::at(path)),
        };
        tool::run(tool::command(tool.0, tool.1)?.arg("-dc").arg(path))
    }

    fn copy(&self, name: &str, into: &Path) -> Result<(), LabError> {
        let to = into.join(format!("{name}.ko"));
        if to.exists() {
            return Ok(());
        }
        let bytes = self.plain(name)?;
        fs::write(&to, without_signature(&bytes)).map_err(LabError::at(&to))
    }

    fn information(&self, name: &str) -> Result<Information, LabError> {
        let bytes = self.plain(name)?;
        let section = Elf::new(&bytes).and_then(|elf| elf.section(".modinfo"));
        Ok(parse(section.unwrap_or_default()))
    }

    /// Adds a module after everything it needs. Built-in ones need nothing.
    fn add(
        &self,
        name: &str,
        needed: Needed,
        order: &mut Vec<(String, Needed)>,
    ) -> Result<(), LabError> {
        let is_there = order.iter().any(|(there, _)| there == name);
        if is_there || !self.files.contains_key(name) {
            return Ok(());
        }
        let information = self.information(name)?;
        for before in &information.before {
            let providers = self.algorithms.get(before);
            let named = self.files.contains_key(before).then(|| vec![before.clone()]);
            for provider in named.as_ref().or(providers).into_iter().flatten() {
                self.add(provider, Needed::IfPossible, order)?;
            }
        }
        for depends in &information.depends {
            self.add(depends, needed, order)?;
        }
        order.push((name.to_owned(), needed));
        Ok(())
    }
}

/// A module without its signature, which a guest takes longer to verify than to load the module;
/// only this user can have changed the file. The layout is that of the kernel's
/// `include/linux/module_signature.h`: signature, twelve bytes that end in its length, a magic
/// string.
fn without_signature(bytes: &[u8]) -> &[u8] {
    let signed = bytes.strip_suffix(SIGNATURE_END);
    let cut = signed.and_then(|signed| {
        let (before, length) = signed.split_last_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        before.len().checked_sub(length.checked_add(SIGNATURE_HEAD)?)
    });
    &bytes[..cut.unwrap_or(bytes.len())]
}

fn parse(section: &[u8]) -> Information {
    let mut information = Information::default();
    for field in section.split(|&byte| byte == 0) {
        let Ok(field) = std::str::from_utf8(field) else { continue };
        match field.split_once('=') {
            Some(("depends", names)) => {
                let names = names.split(',').filter(|name| !name.is_empty());
                information.depends.extend(names.map(plain_name));
            }
            Some(("softdep", names)) => {
                let before = names.strip_prefix("pre: ").unwrap_or_default();
                let before = before.split_whitespace().take_while(|name| *name != "post:");
                information.before.extend(before.map(algorithm));
            }
            Some(("alias", name)) if name.starts_with("crypto-") => {
                information.aliases.push(algorithm(name));
            }
            _ => {}
        }
    }
    information
}

/// The name of an algorithm, with or without the prefix of module aliases.
fn algorithm(name: &str) -> String {
    plain_name(name.strip_prefix("crypto-").unwrap_or(name))
}

fn plain_name(name: &str) -> String {
    name.replace('-', "_")
}

fn name_of(path: &Path) -> Option<String> {
    let (name, end) = path.file_name()?.to_str()?.split_once(".ko")?;
    matches!(end, "" | ".xz" | ".zst" | ".gz").then(|| plain_name(name))
}

fn walk(directory: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<(), LabError> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(LabError::at(directory))?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if let Some(name) = name_of(&path) {
            files.insert(name, path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{parse, without_signature};

    #[test]
    fn a_signature_is_cut_off() {
        let signed = b"module sig12345678\0\0\0\x04~Module signature appended~\n";
        assert_eq!(without_signature(signed), b"module");
        assert_eq!(without_signature(b"module"), b"module");
        let wrong = b"x12345678\0\0\x01\x04~Module signature appended~\n";
        assert_eq!(without_signature(wrong), wrong);
    }

    #[test]
    fn what_a_module_says_is_read() {
        let section = b"softdep=pre: crypto-crc32c xxhash64 post: z\0alias=fs-btrfs\0\
                        alias=crypto-crc32c-intel\0depends=zstd_compress,raid6-pq\0name=btrfs\0";
        let information = parse(section);
        assert_eq!(information.depends, ["zstd_compress", "raid6_pq"]);
        assert_eq!(information.before, ["crc32c", "xxhash64"]);
        assert_eq!(information.aliases, ["crc32c_intel"]);
        assert!(parse(b"depends=\0").depends.is_empty());
    }
}
