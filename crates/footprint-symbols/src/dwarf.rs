//! Source files, lines and inlined functions, from DWARF.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use addr2line::Context;
use gimli::{
    AttributeValue, Dwarf, DwarfSections, EndianSlice, LittleEndian, UnitOffset, UnitRef,
    UnitSectionOffset,
};

use crate::SymbolsError;
use crate::elf::{Binary, Section};

/// A file's path and a line.
type Declaration = (Option<String>, Option<u32>);

/// How many references from one declaration to another are followed.
const ORIGINS_MAX: usize = 4;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The sections of a file's debug information.
#[derive(Debug)]
pub struct DebugInfo<'a> {
    sections: DwarfSections<Section<'a>>,
    path: PathBuf,
}

impl<'a> DebugInfo<'a> {
    /// Reads the debug sections of a file; `None` if it has no debug information.
    ///
    /// # Errors
    /// The file is damaged, or uses an unsupported compression.
    pub fn read(binary: &'a Binary) -> Result<Option<Self>, SymbolsError> {
        if !binary.has_section(".debug_info")? {
            return Ok(None);
        }
        let sections = DwarfSections::load(|id| binary.section(id.name()))?;
        Ok(Some(Self { sections, path: binary.path().to_owned() }))
    }

    /// Prepares lookups by address.
    ///
    /// # Errors
    /// The debug information is damaged.
    pub fn lines(&self) -> Result<Lines<'_>, SymbolsError> {
        let wrong = |error: gimli::Error| SymbolsError::Elf {
            path: self.path.clone(),
            why: error.to_string(),
        };
        let dwarf = self.sections.borrow(|section| Slice::new(section.bytes(), LittleEndian));
        let tree = tree(&dwarf).map_err(wrong)?;
        let context = Context::from_dwarf(dwarf).map_err(wrong)?;
        Ok(Lines { context, tree, files: HashMap::new(), declared: HashMap::new() })
    }
}

/// Finds the source location of an address. Compilation units are read on demand.
pub struct Lines<'a> {
    context: Context<Slice<'a>>,
    /// The directory of the source tree.
    tree: PathBuf,
    /// File names relative to the source tree.
    files: HashMap<String, String>,
    /// Cache of the files in which inlined functions are declared.
    declared: HashMap<(UnitSectionOffset, UnitOffset), Option<String>>,
}

/// A source location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Path relative to the source tree, or absolute outside of it.
    pub file: Option<String>,
    /// Line number, from 1.
    pub line: Option<u32>,
}

/// A function inlined around an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedFrame {
    /// The inlined function.
    pub name: String,
    /// The file that its code is in.
    pub file: Option<String>,
    /// The line of the call.
    pub call_line: Option<u32>,
}

impl Lines<'_> {
    /// Where the function around an address is defined. If that is unknown, as for assembly, the
    /// source location of the address itself.
    pub fn source(&mut self, address: u64) -> Source {
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else {
            return Source::default();
        };
        let mut outermost = None;
        while let Ok(Some(frame)) = found.next() {
            outermost = Some(frame);
        }
        let Some(frame) = outermost else { return Source::default() };
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let declared =
            unit.zip(frame.dw_die_offset).and_then(|(unit, entry)| declared(unit, entry));
        let (file, line) = declared.unwrap_or_else(|| {
            let location = frame.location;
            let file = location.as_ref().and_then(|location| location.file).map(str::to_owned);
            (file, location.and_then(|location| location.line))
        });
        let file = file.map(|file| relative(&self.tree, &mut self.files, &file));
        Source { file, line: line.filter(|&line| line > 0) }
    }

    /// The functions that are inlined around the code at an address, outermost first.
    pub fn inlined(&mut self, address: u64) -> Vec<InlinedFrame> {
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut found_frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            found_frames.push(frame);
        }
        // The last frame is the function itself; without others, nothing is inlined here.
        if found_frames.len() < 2 {
            return Vec::new();
        }
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let mut frames = Vec::new();
        for pair in found_frames.windows(2).rev() {
            let [frame, around] = pair else { continue };
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let file = unit.zip(frame.dw_die_offset).and_then(|(unit, entry)| {
                let key = (unit.header.offset(), entry);
                let known = self.declared.entry(key);
                known.or_insert_with(|| declared(unit, entry).and_then(|(file, _)| file)).clone()
            });
            let file = file.map(|file| relative(&self.tree, &mut self.files, &file));
            let call_line = around.location.as_ref().and_then(|location| location.line);
            let name = name.map_or_else(String::new, Cow::into_owned);
            frames.push(InlinedFrame { name, file, call_line });
        }
        frames
    }
}

/// The file and line of a function's declaration; `None` if unknown. Inlined or specialised copies
/// refer to the function that they were made from.
fn declared(unit: UnitRef<'_, Slice<'_>>, entry: UnitOffset) -> Option<Declaration> {
    let mut offset = entry;
    for _ in 0..ORIGINS_MAX {
        let entry = unit.entry(offset).ok()?;
        if let Some(AttributeValue::FileIndex(file)) = entry.attr_value(gimli::DW_AT_decl_file) {
            let line = entry.attr_value(gimli::DW_AT_decl_line).and_then(|line| line.udata_value());
            return Some((file_path(unit, file), line.and_then(|line| u32::try_from(line).ok())));
        }
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
        offset = if let AttributeValue::UnitRef(origin) =
            origin.or_else(|| entry.attr_value(gimli::DW_AT_specification))?
        {
            origin
        } else {
            return None;
        };
    }
    None
}

/// The path of a file by its number in a unit.
fn file_path(unit: UnitRef<'_, Slice<'_>>, number: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(number)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned());
    let mut path = PathBuf::new();
    path.extend(unit.comp_dir.map(|directory| directory.to_string_lossy().into_owned()));
    path.extend(file.directory(header).and_then(text));
    path.push(text(file.path_name())?);
    Some(path.to_string_lossy().into_owned())
}

/// The common parent of the directories in which the units were compiled.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
fn tree(dwarf: &Dwarf<Slice<'_>>) -> Result<PathBuf, gimli::Error> {
    let mut tree: Option<PathBuf> = None;
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let abbreviations = dwarf.abbreviations(&header)?;
        let mut entries = header.entries(&abbreviations);
        let Some(entry) = entries.next_dfs()? else { continue };
        let directory = entry.attr_value(gimli::DW_AT_comp_dir);
        let unit_string = |value| match value {
            gimli::AttributeValue::String(text) => Ok(text),
            gimli::AttributeValue::DebugStrRef(offset) => dwarf.string(offset),
            gimli::AttributeValue::DebugLineStrRef(offset) => dwarf.line_string(offset),
            _ => Err(gimli::Error::ExpectedStringAttributeValue),
        };
        let Some(Ok(directory)) = directory.map(unit_string) else { continue };
        let directory = normal(Path::new(&*directory.to_string_lossy()));
        tree = Some(match tree {
            None => directory,
            Some(tree) => tree
                .components()
                .zip(directory.components())
                .take_while(|(one, other)| one == other)
                .map(|(one, _)| one)
                .collect(),
        });
    }
    Ok(tree.unwrap_or_default())
}

/// A file's path relative to the tree, cached.
fn relative(tree: &Path, files: &mut HashMap<String, String>, file: &str) -> String {
    if let Some(known) = files.get(file) {
        return known.clone();
    }
    let path = normal(Path::new(file));
    let is_tree = tree.components().count() > 1;
    let short = if is_tree { path.strip_prefix(tree).unwrap_or(&path) } else { &path };
    let short = short.to_string_lossy().into_owned();
    files.insert(file.to_owned(), short.clone());
    short
}

/// The path without `.` and `..`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
