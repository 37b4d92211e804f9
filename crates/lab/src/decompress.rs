//! Extracts the kernel from a `bzImage` on the host: under emulation a guest would take longer to
//! decompress its kernel than to boot it. QEMU starts the result through its PVH entry point.
//!
//! The layout is that of Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::elf::Elf;
use crate::error::LabError;
use crate::tool;

const SETUP_SECTORS: usize = 0x1f1;
const HEADER_MAGIC: usize = 0x202;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;
/// Size of the uncompressed length, which the kernel's build appends to the payload.
const LENGTH_BYTES: usize = 4;
/// Type and owner of the ELF note with the PVH entry point, `XEN_ELFNOTE_PHYS32_ENTRY`.
const PVH_NOTE: [u8; 8] = *b"\x12\0\0\0Xen\0";

/// Compression formats of kernels: magic bytes, tool, and its package.
const FORMATS: [(&[u8], &str, &str); 3] = [
    (b"\xfd7zXZ", "xz", "xz-utils"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd"),
    (b"\x02\x21\x4c\x18", "lz4", "lz4"),
];

/// The kernel as an ELF file, from a `bzImage` or a kernel that already is one.
///
/// # Errors
/// If the file cannot be read, is not a kernel or has no PVH entry point, or the tool to decompress
/// it is missing.
pub(crate) fn kernel(path: &Path) -> Result<Vec<u8>, LabError> {
    let bytes = fs::read(path).map_err(LabError::at(path))?;
    let refuse = |why: &str| LabError::NotBootable { path: path.to_owned(), why: why.to_owned() };
    let kernel = if bytes.starts_with(b"\x7fELF") {
        bytes
    } else {
        let payload = payload(&bytes).ok_or_else(|| refuse("it is not a Linux kernel for x86"))?;
        decompress(payload, path)?
    };
    let elf = Elf::new(&kernel).ok_or_else(|| refuse("its payload is not a 64-bit kernel"))?;
    let notes = elf.section(".notes").unwrap_or(&kernel);
    if !notes.windows(8).any(|window| window == PVH_NOTE) {
        return Err(refuse("it was built without CONFIG_PVH, which QEMU needs to start it"));
    }
    Ok(kernel)
}

fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    if bytes.get(HEADER_MAGIC..HEADER_MAGIC + 4)? != b"HdrS" {
        return None;
    }
    let sectors = usize::from(*bytes.get(SETUP_SECTORS)?).max(1);
    let start = (sectors + 1) * 512 + number(PAYLOAD_OFFSET)?;
    bytes.get(start..start.checked_add(number(PAYLOAD_LENGTH)?)?)
}

fn decompress(payload: &[u8], path: &Path) -> Result<Vec<u8>, LabError> {
    if payload.starts_with(b"\x1f\x8b") {
        let mut kernel = Vec::new();
        let read = flate2::read::GzDecoder::new(payload).read_to_end(&mut kernel);
        return read.map(|_| kernel).map_err(LabError::at(path));
    }
    let format = FORMATS.iter().find(|(magic, ..)| payload.starts_with(magic));
    let Some((_, tool, package)) = format else {
        let why = "it is compressed with an unknown method".to_owned();
        return Err(LabError::NotBootable { path: path.to_owned(), why });
    };
    let stream = &payload[..payload.len().saturating_sub(LENGTH_BYTES)];
    filter(tool::command(tool, package)?.arg("-dc"), stream)
}

/// Runs a command with `input` on its standard input, and returns its standard output.
fn filter(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, LabError> {
    let name = Path::new(command.get_program()).to_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(LabError::at(&name))?;
    let mut output = Vec::new();
    thread::scope(|scope| {
        let stdin = child.stdin.take();
        // If the tool exits early and the write fails, its exit status tells.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut output))
    });
    let status = child.wait().map_err(LabError::at(&name))?;
    if status.success() {
        return Ok(output);
    }
    Err(LabError::Tool { tool: name.display().to_string(), why: status.to_string() })
}
