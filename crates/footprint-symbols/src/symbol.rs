//! Symbols, sorted by address.

/// Whether a symbol names code or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function, or other named code.
    Function,
    /// A variable.
    Data,
}

/// A name for a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Address of its first byte.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Code or data.
    pub kind: SymbolKind,
    /// Its name.
    pub name: String,
    /// The object it is in, as an index into the table's objects.
    pub object: u32,
}

/// Symbols sorted by address, with at most one beginning at each.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    symbols: Vec<Symbol>,
    objects: Vec<String>,
}

impl SymbolTable {
    /// Sorts the symbols. Of several at one address, only one is kept, preferably not a section's
    /// label, and one with few leading underscores. A symbol without a size extends to the next one
    /// of its object; the last of an object extends to the end of its page. No symbol extends into
    /// the next.
    pub fn new(mut symbols: Vec<Symbol>, objects: Vec<String>) -> Self {
        symbols
            .sort_by_cached_key(|symbol| (symbol.address, rank(&symbol.name), symbol.bytes == 0));
        let mut sizes = symbols.iter().map(|symbol| symbol.bytes).collect::<Vec<_>>();
        for index in (1..symbols.len()).rev() {
            if symbols[index].address == symbols[index - 1].address {
                sizes[index - 1] = sizes[index - 1].max(sizes[index]);
            }
        }
        for (symbol, bytes) in symbols.iter_mut().zip(sizes) {
            symbol.bytes = bytes;
        }
        symbols.dedup_by_key(|symbol| symbol.address);
        for index in 0..symbols.len() {
            let next = symbols.get(index + 1).map(|next| (next.address, next.object));
            let symbol = &mut symbols[index];
            let page_end = (symbol.address | 0xfff).saturating_add(1) - symbol.address;
            let room = next.map(|(address, _)| address - symbol.address);
            let is_last = next.is_none_or(|(_, object)| object != symbol.object);
            symbol.bytes = match (symbol.bytes, room) {
                (0, Some(room)) if is_last => room.min(page_end),
                (0, Some(room)) => room,
                (0, None) => page_end,
                (bytes, Some(room)) => bytes.min(room),
                (bytes, None) => bytes,
            };
        }
        Self { symbols, objects }
    }

    /// The symbol that contains an address.
    pub fn at(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        (address - symbol.address < symbol.bytes).then_some(symbol)
    }

    /// All symbols, sorted by address.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The symbols and the objects that they are in.
    pub(crate) fn into_parts(self) -> (Vec<Symbol>, Vec<String>) {
        (self.symbols, self.objects)
    }

    /// The object that contains a symbol: `vmlinux`, a module, or the path of a program or library.
    pub fn object(&self, symbol: &Symbol) -> &str {
        self.objects.get(symbol.object as usize).map_or("", String::as_str)
    }
}

/// Ranks the names of one address; the lowest wins.
fn rank(name: &str) -> (bool, usize) {
    let is_place = ["_start", "_end", "_begin", "_text", "_stext", "_sdata", "_etext"]
        .iter()
        .any(|&end| name.starts_with('_') && name.ends_with(end));
    let underscores = name.bytes().take_while(|&byte| byte == b'_').count();
    (is_place, underscores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(address: u64, bytes: u64, name: &str, object: u32) -> Symbol {
        Symbol { address, bytes, kind: SymbolKind::Function, name: name.to_owned(), object }
    }

    #[test]
    fn symbols_are_found_and_none_reaches_into_the_next() {
        let objects = vec!["vmlinux".to_owned(), "xfs".to_owned()];
        let table = SymbolTable::new(
            vec![
                symbol(0x3000, 0, "of_module", 1),
                symbol(0x1000, 0, "__text_start", 0),
                symbol(0x1000, 8, "__alias", 0),
                symbol(0x1000, 0, "alias", 0),
                symbol(0x1010, 0x50, "long", 0),
                symbol(0x1020, 0, "last", 0),
            ],
            objects,
        );
        let at = |address| table.at(address).map(|symbol| symbol.name.as_str());
        assert_eq!(at(0xfff), None);
        assert_eq!((at(0x1000), at(0x1007), at(0x1008)), (Some("alias"), Some("alias"), None));
        assert_eq!((at(0x101f), at(0x1020)), (Some("long"), Some("last")));
        assert_eq!((at(0x1fff), at(0x2000)), (Some("last"), None));
        assert_eq!((at(0x3fff), at(0x4000)), (Some("of_module"), None));
        assert_eq!(table.at(0x1010).map(|symbol| symbol.bytes), Some(0x10));
        assert_eq!(table.object(table.at(0x3000).unwrap()), "xfs");
    }
}
