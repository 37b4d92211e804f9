//! Source files, lines and inlined functions, as compilers describe them in DWARF.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use addr2line::Context;
use gimli::{Dwarf, DwarfSections, EndianSlice, LittleEndian};

use crate::SymbolsError;
use crate::elf::{Binary, Section};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The sections of a file's debug information.
#[derive(Debug)]
pub struct DebugInfo<'a> {
    sections: DwarfSections<Section<'a>>,
    path: PathBuf,
}

impl<'a> DebugInfo<'a> {
    /// Takes the sections of a file; none if it has no debug information.
    ///
    /// # Errors
    /// The file is damaged, or compressed in a way that is not known here.
    pub fn of(binary: &'a Binary) -> Result<Option<Self>, SymbolsError> {
        if !binary.has_section(".debug_info")? {
            return Ok(None);
        }
        let sections = DwarfSections::load(|id| binary.section(id.name()))?;
        Ok(Some(Self { sections, path: binary.path().to_owned() }))
    }

    /// What it says, ready to be asked.
    ///
    /// # Errors
    /// It is damaged.
    pub fn lines(&self) -> Result<Lines<'_>, SymbolsError> {
        let wrong = |error: gimli::Error| SymbolsError::Elf {
            path: self.path.clone(),
            why: error.to_string(),
        };
        let dwarf = self.sections.borrow(|section| Slice::new(section.bytes(), LittleEndian));
        let tree = tree(&dwarf).map_err(wrong)?;
        let context = Context::from_dwarf(dwarf).map_err(wrong)?;
        Ok(Lines { context, tree, files: HashMap::new() })
    }
}

/// Answers what source an address comes from. Compilation units are read as they are needed.
pub struct Lines<'a> {
    context: Context<Slice<'a>>,
    /// The directory of the source tree.
    tree: PathBuf,
    /// File names relative to it.
    files: HashMap<String, String>,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// File relative to the source tree, or absolute outside of it.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
}

/// A function inlined around an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedFrame {
    /// The inlined function.
    pub name: String,
    /// The file whose code it is.
    pub file: Option<String>,
    /// The line of the call.
    pub call_line: Option<u32>,
}

impl Lines<'_> {
    /// Where the code at an address comes from. At a function's first, it is where the function
    /// is defined.
    pub fn source(&mut self, address: u64) -> Source {
        let Ok(Some(location)) = self.context.find_location(address) else {
            return Source::default();
        };
        let file = location.file.map(|file| relative(&self.tree, &mut self.files, file));
        Source { file, line: location.line.filter(|&line| line > 0) }
    }

    /// The functions that are inlined around the code at an address, outermost first.
    pub fn inlined(&mut self, address: u64) -> Vec<InlinedFrame> {
        let mut frames = Vec::new();
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else {
            return frames;
        };
        let mut before: Option<(String, Option<String>)> = None;
        while let Ok(Some(frame)) = found.next() {
            let location = frame.location.as_ref();
            if let Some((name, file)) = before.take() {
                let call_line = location.and_then(|location| location.line);
                frames.push(InlinedFrame { name, file, call_line });
            }
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let file = location.and_then(|location| location.file);
            let file = file.map(|file| relative(&self.tree, &mut self.files, file));
            before = Some((name.map_or_else(String::new, Cow::into_owned), file));
        }
        frames.reverse();
        frames
    }
}

/// The directory that holds those in which all units were compiled.
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

/// A file's path relative to the tree, kept for the next time.
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
