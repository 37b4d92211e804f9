//! Programs, libraries and kernels as ELF files: their symbols, and the debug information that they
//! contain or that is installed separately.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use footprint_trace::maps::Mapping;
use footprint_trace::trace_file::open_plain;
use object::elf::PT_LOAD;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{CompressionFormat, Endianness, Object, ObjectSection, ObjectSymbol};

use crate::SymbolsError;
use crate::symbol::{Symbol, SymbolKind};

/// Where separate debug information is installed, by build id.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug/.build-id";

/// Size of the largest file that is read.
const BYTES_MAX: u64 = 1 << 30;

/// Reads a whole file, unless it is too large.
fn read_at_most(file: &fs::File) -> io::Result<Vec<u8>> {
    let bytes = file.metadata()?.len();
    if bytes > BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {BYTES_MAX} bytes")));
    }
    let mut content = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut content)?;
    Ok(content)
}

/// An ELF file for x86-64.
#[derive(Debug)]
pub struct Binary {
    path: PathBuf,
    bytes: Vec<u8>,
}

type File<'a> = ElfFile64<'a, Endianness>;

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is not a 64-bit ELF file.
    pub fn read(path: &Path) -> Result<Self, SymbolsError> {
        let io = |error| SymbolsError::Io { path: path.to_owned(), error };
        // The path comes from a trace, which is untrusted.
        let bytes = open_plain(path).and_then(|file| read_at_most(&file)).map_err(io)?;
        let binary = Self { path: path.to_owned(), bytes };
        binary.file()?;
        Ok(binary)
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, why: &impl ToString) -> SymbolsError {
        SymbolsError::Elf { path: self.path.clone(), why: why.to_string() }
    }

    fn file(&self) -> Result<File<'_>, SymbolsError> {
        ElfFile64::<Endianness>::parse(&*self.bytes).map_err(|error| self.error(&error))
    }

    /// Its build id in hexadecimal; `None` if it has none.
    ///
    /// # Errors
    /// The file is damaged.
    pub(crate) fn build_id(&self) -> Result<Option<String>, SymbolsError> {
        let id = self.file()?.build_id().map_err(|error| self.error(&error))?;
        Ok(id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The separately installed file with its debug information; `None` if there is none.
    ///
    /// # Errors
    /// A file is damaged, or cannot be read.
    pub(crate) fn separate_debug(&self) -> Result<Option<Self>, SymbolsError> {
        let id = self.build_id()?;
        let parts = id.as_deref().and_then(|id| id.split_at_checked(2));
        let Some((directory, name)) = parts else { return Ok(None) };
        let path = Path::new(DEBUG_DIRECTORY).join(directory).join(format!("{name}.debug"));
        if !path.exists() {
            return Ok(None);
        }
        let debug = Self::read(&path)?;
        Ok((debug.build_id()? == id).then_some(debug))
    }

    /// What to add to addresses in the file to get those in a program with this mapping of it;
    /// `None` if the mapping does not belong to any of its segments.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn bias(&self, mapping: &Mapping) -> Result<Option<u64>, SymbolsError> {
        let file = self.file()?;
        let endian = file.endian();
        let segments = file.elf_program_headers().iter();
        let loaded: Vec<(u64, u64, u64)> = segments
            .filter(|segment| segment.p_type(endian) == PT_LOAD)
            .map(|segment| {
                let bytes = segment.p_filesz(endian);
                (segment.p_offset(endian), bytes, segment.p_vaddr(endian))
            })
            .collect();
        // A page that contains the end of one segment and the start of the next is mapped for both.
        let begins = |offset: u64| offset & !0xfff;
        let of = loaded.iter().find(|&&(offset, ..)| begins(offset) == mapping.offset);
        let of = of.or_else(|| {
            loaded.iter().find(|&&(offset, bytes, _)| {
                begins(offset) < mapping.offset && mapping.offset < offset.saturating_add(bytes)
            })
        });
        Ok(of.map(|&(offset, _, address)| {
            let address = address.wrapping_add(mapping.offset).wrapping_sub(offset);
            mapping.start.wrapping_sub(address)
        }))
    }

    /// Its symbols, with `bias` added to their addresses and `object` as object number: functions,
    /// variables, and the sections through which a program calls libraries (`.plt` and the like).
    ///
    /// # Errors
    /// The file is damaged.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    pub fn symbols(&self, bias: u64, object: u32) -> Result<Vec<Symbol>, SymbolsError> {
        let file = self.file()?;
        let mut symbols = Vec::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let kind = match symbol.kind() {
                object::SymbolKind::Text => SymbolKind::Function,
                object::SymbolKind::Data => SymbolKind::Data,
                // Symbols without a type, as from assembly.
                object::SymbolKind::Label | object::SymbolKind::Unknown
                    if self.is_in_code(&file, &symbol) =>
                {
                    SymbolKind::Function
                }
                _ => continue,
            };
            let name = symbol.name().map_err(|error| self.error(&error))?;
            if symbol.is_undefined() || name.is_empty() {
                continue;
            }
            let (address, bytes) = (symbol.address().wrapping_add(bias), symbol.size());
            symbols.push(Symbol { address, bytes, kind, name: name.to_owned(), object });
        }
        for section in file.sections() {
            let name = section.name().map_err(|error| self.error(&error))?;
            if name.starts_with(".plt") {
                let (address, bytes) = (section.address().wrapping_add(bias), section.size());
                let (kind, name) = (SymbolKind::Function, name.to_owned());
                symbols.push(Symbol { address, bytes, kind, name, object });
            }
        }
        Ok(symbols)
    }

    fn is_in_code<'a>(&self, file: &File<'a>, symbol: &impl ObjectSymbol<'a>) -> bool {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| section.kind() == object::SectionKind::Text)
    }

    pub(crate) fn has_section(&self, name: &str) -> Result<bool, SymbolsError> {
        Ok(self.file()?.section_by_name(name).is_some())
    }

    /// The bytes of a section; empty if the file does not have it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    pub(crate) fn section(&self, name: &str) -> Result<Section<'_>, SymbolsError> {
        let file = self.file()?;
        let Some(section) = file.section_by_name(name) else { return Ok(Section::Plain(&[])) };
        let data = section.compressed_data().map_err(|error| self.error(&error))?;
        match data.format {
            CompressionFormat::None => Ok(Section::Plain(data.data)),
            CompressionFormat::Zlib => {
                let mut bytes = Vec::new();
                let inflated = ZlibDecoder::new(data.data).read_to_end(&mut bytes);
                inflated.map_err(|error| self.error(&format!("section {name}: {error}")))?;
                Ok(Section::Inflated(bytes))
            }
            format => Err(self.error(&format!(
                "section {name} is compressed ({format:?}); `objcopy --decompress-debug-sections` \
                 makes it readable"
            ))),
        }
    }
}

/// The bytes of a section.
#[derive(Debug)]
pub(crate) enum Section<'a> {
    /// As they are in the file.
    Plain(&'a [u8]),
    /// Inflated.
    Inflated(Vec<u8>),
}

impl Section<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Inflated(bytes) => bytes,
        }
    }
}
