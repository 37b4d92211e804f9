//! The kernel's symbols, from its `/proc/kallsyms` (`kernel/kallsyms.c`).

use std::collections::HashMap;

use crate::SymbolsError;
use crate::symbol::{Symbol, SymbolKind, SymbolTable};

/// The object of symbols that belong to the kernel itself.
pub const VMLINUX: &str = "vmlinux";

/// The symbols of a running kernel and its modules.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    /// Functions and variables at their addresses.
    pub symbols: SymbolTable,
    /// Per-CPU variables, at their offsets from a processor's base.
    pub per_cpu: SymbolTable,
    /// The lowest of those offsets.
    pub per_cpu_begin: u64,
}

/// Finds the address of one symbol of the kernel itself in the text of `/proc/kallsyms`, without
/// parsing the rest. `None` if it is missing or hidden.
pub fn find(text: &str, name: &str) -> Option<u64> {
    let is_of = |line: &&str| line.strip_suffix(name).is_some_and(|rest| rest.ends_with(' '));
    let line = text.lines().find(is_of)?;
    u64::from_str_radix(line.split(' ').next()?, 16).ok().filter(|&address| address > 0)
}

/// A line: an address, a letter as in nm(1), a name, and a module's own name in brackets.
struct Line<'a> {
    address: u64,
    letter: u8,
    name: &'a str,
    module: &'a str,
}

impl Kallsyms {
    /// Parses `/proc/kallsyms`, or a `System.map`, which has no modules.
    ///
    /// # Errors
    /// A line is invalid, or all addresses are 0, which is what the kernel shows to unprivileged
    /// readers.
    pub fn parse(text: &str) -> Result<Self, SymbolsError> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(number, text)| {
                let wrong = || SymbolsError::Line {
                    what: "/proc/kallsyms",
                    line: number + 1,
                    text: text.to_owned(),
                };
                Line::parse(text).ok_or_else(wrong)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if lines.iter().all(|line| line.address == 0) {
            return Err(SymbolsError::NoAddresses);
        }
        let place = |name| lines.iter().find(|line| line.name == name).map(|line| line.address);
        let per_cpu_end = place("__per_cpu_end").unwrap_or(0);
        // Offsets begin at 0, except since Linux 6.15, where they begin at the template's address.
        let in_template = place("__per_cpu_start").unwrap_or(0)..per_cpu_end;
        let mut objects = vec![VMLINUX.to_owned()];
        let mut numbers = HashMap::from([(VMLINUX, 0)]);
        let (mut symbols, mut per_cpu) = (Vec::new(), Vec::new());
        for line in &lines {
            let is_per_cpu = in_template.contains(&line.address) && line.module == VMLINUX;
            let Some(kind) = line.kind(is_per_cpu) else { continue };
            let object = *numbers.entry(line.module).or_insert_with(|| {
                objects.push(line.module.to_owned());
                u32::try_from(objects.len() - 1).unwrap_or(0)
            });
            let (address, name) = (line.address, line.name.to_owned());
            let symbol = Symbol { address, bytes: 0, kind, name, object };
            if is_per_cpu { per_cpu.push(symbol) } else { symbols.push(symbol) }
        }
        let per_cpu = SymbolTable::new(per_cpu, objects.clone());
        let symbols = SymbolTable::new(symbols, objects);
        Ok(Self { symbols, per_cpu, per_cpu_begin: in_template.start })
    }
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (address, rest) = text.split_once(' ')?;
        let (letter, rest) = rest.split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let &[letter] = letter.as_bytes() else { return None };
        let (name, module) = match rest.split_once('\t') {
            None => (rest, VMLINUX),
            Some((name, module)) => (name, module.strip_prefix('[')?.strip_suffix(']')?),
        };
        let is_sound = !name.is_empty() && !module.is_empty() && !name.contains(' ');
        is_sound.then_some(Self { address, letter, name, module })
    }

    fn kind(&self, is_per_cpu: bool) -> Option<SymbolKind> {
        match self.letter.to_ascii_lowercase() {
            _ if is_per_cpu => Some(SymbolKind::Data),
            b't' | b'w' => Some(SymbolKind::Function),
            // Absolute numbers that are not addresses, and undefined symbols.
            b'a' | b'u' => None,
            _ => Some(SymbolKind::Data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_of_a_real_one_is_understood() {
        let all = Kallsyms::parse(include_str!("../tests/fixtures/kallsyms")).unwrap();
        let at = |address| {
            let symbol = all.symbols.at(address)?;
            Some((symbol.name.as_str(), symbol.kind, all.symbols.object(symbol)))
        };
        let function = SymbolKind::Function;
        assert_eq!(at(0xffff_ffff_8100_0000), Some(("startup_64", function, VMLINUX)));
        assert_eq!(at(0xffff_ffff_c029_c0b8), Some(("xfs_create", function, "xfs")));
        assert_eq!(all.per_cpu.at(0x1_fb81).map(|symbol| &*symbol.name), Some("current_task"));
        assert!(all.symbols.at(0x1_fb81).is_none());
    }

    #[test]
    fn wrong_lines_and_hidden_addresses_say_so() {
        let error = Kallsyms::parse("0000000000000000 T _text\n0000000000000000 t x\n");
        assert!(matches!(error, Err(SymbolsError::NoAddresses)));
        assert!(matches!(Kallsyms::parse(""), Err(SymbolsError::NoAddresses)));
        for wrong in ["x", "ffff T", "ffffffffgfff0000 T a", "ff TT a", "ff T a\txfs", "ff T "] {
            let text = format!("ffffffff81000000 T _text\n{wrong}\n");
            let error = Kallsyms::parse(&text).unwrap_err();
            assert!(matches!(error, SymbolsError::Line { line: 2, .. }), "{wrong}: {error}");
        }
    }
}
