//! Turns a trace's addresses, and what is known about them, into its description.

mod code;
mod data;
mod program;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use footprint::description::Description;

use crate::btf::Btf;
use crate::elf::Binary;
use crate::kallsyms::Kallsyms;
use crate::symbol::{Symbol, SymbolTable};
use crate::touched::TouchedAddresses;
use crate::{SymbolsError, memory};

pub use program::{images, program};

/// What is known about a kernel and its memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelSources<'a> {
    /// Text of its `/proc/kallsyms`, read when all modules were loaded.
    pub kallsyms: &'a str,
    /// Its file with symbols and DWARF, if it was built from source.
    pub vmlinux: Option<&'a Path>,
    /// Its types: the bytes of `/sys/kernel/btf/vmlinux`.
    pub types: Option<&'a [u8]>,
    /// The types of its modules, by module name: `/sys/kernel/btf/NAME`.
    pub module_types: &'a [(&'a str, &'a [u8])],
    /// What its memory was used for: see [`crate::inside::memory_table`].
    pub memory: Option<&'a str>,
    /// Text of its `/proc/vmallocinfo`, which only shows addresses with the kernel argument
    /// `no_hash_pointers`.
    pub mappings: Option<&'a str>,
}

/// A program or library, and where it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its file.
    pub path: PathBuf,
    /// What was added to its addresses when it was loaded.
    pub bias: u64,
}

/// Everything that can give names to addresses.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// The kernel, if a machine was traced.
    pub kernel: Option<KernelSources<'a>>,
    /// Programs and libraries (see [`images`] for those of a program's trace).
    pub images: Vec<Image>,
}

/// Names what a trace touches. The caller fills in what was traced, and what the numbers in its
/// marks stand for.
///
/// # Errors
/// A source cannot be read, is damaged, or does not belong to the others.
pub fn describe(
    touched: &TouchedAddresses,
    sources: &Sources<'_>,
) -> Result<Description, SymbolsError> {
    let mut description = Description::default();
    let mut symbols = Vec::new();
    let mut objects = Vec::new();
    let mut kernel_types = Vec::new();
    if let Some(kernel) = &sources.kernel {
        let known = Kallsyms::parse(kernel.kallsyms)?;
        if let Some(types) = kernel.types {
            let vmlinux = Arc::new(Btf::parse("vmlinux", types)?);
            for (name, bytes) in kernel.module_types {
                kernel_types.push(Arc::new(Btf::parse_module(name, bytes, &vmlinux)?));
            }
            kernel_types.insert(0, vmlinux);
        }
        let ranges = memory::parse(kernel.memory.unwrap_or_default())?;
        data::per_cpu(touched, &known, &ranges, &mut description.data);
        data::ranges(touched, &ranges, &kernel_types, &mut description);
        data::mappings(touched, kernel.mappings.unwrap_or_default(), &mut description.data)?;
        data::fixed(touched, &mut description.data);
        (symbols, objects) = known.symbols.into_parts();
    }
    let mut binaries = Vec::new();
    for Image { path, bias } in &sources.images {
        let binary = Binary::read(path)?;
        let number = u32::try_from(objects.len()).unwrap_or(u32::MAX);
        objects.push(path.display().to_string());
        let debug = binary.separate_debug()?;
        symbols.extend(binary.symbols(*bias, number)?);
        if let Some(debug) = &debug {
            symbols.extend(debug.symbols(*bias, number)?);
        }
        binaries.push((debug.unwrap_or(binary), *bias, number));
    }
    if let Some((kernel, path)) = sources.kernel.and_then(|kernel| Some((kernel, kernel.vmlinux?)))
    {
        let binary = Binary::read(path)?;
        let bias = vmlinux_bias(&binary, kernel.kallsyms)?;
        // The same symbols as in kallsyms, but with sizes.
        symbols.extend(binary.symbols(bias, 0)?.into_iter().filter(is_placed));
        binaries.push((binary, bias, 0));
    }
    let table = SymbolTable::new(symbols, objects);
    data::symbols(touched, &table, &mut description.data);
    let mut functions = code::functions(touched, &table);
    for (binary, bias, object) in &binaries {
        code::sources(touched, binary, *bias, *object, &mut functions, &mut description)?;
    }
    description.functions = functions.into_iter().map(|(function, _)| function).collect();
    description.sort();
    Ok(description)
}

/// Whether a symbol of `vmlinux` has an address, rather than a per-CPU offset.
fn is_placed(symbol: &Symbol) -> bool {
    symbol.address >= crate::touched::KERNEL_BEGIN
}

/// What to add to the addresses in `vmlinux` to get those of the kernel that ran.
fn vmlinux_bias(binary: &Binary, kallsyms: &str) -> Result<u64, SymbolsError> {
    let other = || SymbolsError::Elf {
        path: binary.path().to_owned(),
        why: "it is from a different kernel than the one that ran".to_owned(),
    };
    let symbols = binary.symbols(0, 0)?;
    let bias = |name: &str| {
        let own = symbols.iter().find(|symbol| symbol.name == name)?.address;
        Some(crate::kallsyms::find(kallsyms, name)?.wrapping_sub(own))
    };
    let first = bias("vfs_read").ok_or_else(other)?;
    let is_same = ["init_task", "do_syscall_64", "schedule"]
        .iter()
        .all(|name| bias(name).is_none_or(|bias| bias == first));
    is_same.then_some(first).ok_or_else(other)
}
