//! What is seen of a traced process in `/proc`, and in its memory.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// What is mapped where in a process.
pub(super) struct Maps(Vec<Map>);

struct Map {
    start: u64,
    end: u64,
    /// The offset in the file.
    offset: u64,
    /// What is mapped; empty if that has no name.
    file: PathBuf,
}

impl Maps {
    /// Nothing, if the process has ended.
    pub(super) fn of(pid: Pid) -> Self {
        Self::parse(&fs::read(format!("/proc/{pid}/maps")).unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Self {
        Self(text.split(|&byte| byte == b'\n').filter_map(Map::parse).collect())
    }

    fn at(&self, address: u64) -> Option<&Map> {
        self.0.iter().find(|map| (map.start..map.end).contains(&address))
    }

    pub(super) fn has(&self, file: &Path) -> bool {
        self.0.iter().any(|map| map.file == file)
    }

    pub(super) fn is_in(&self, address: u64, file: &Path) -> bool {
        self.at(address).is_some_and(|map| map.file == file)
    }

    /// Whether an address is in the dynamic linker.
    pub(super) fn is_in_linker(&self, address: u64) -> bool {
        let name = self.at(address).and_then(|map| map.file.file_name());
        name.is_some_and(|name| name.as_bytes().starts_with(b"ld"))
    }

    /// An address, for people.
    pub(super) fn place(&self, address: u64) -> String {
        match self.at(address) {
            Some(map) if !map.file.as_os_str().is_empty() => {
                format!("{} at {:#x}", map.file.display(), address - map.start + map.offset)
            }
            _ => format!("memory of its own at {address:#x}"),
        }
    }
}

impl Map {
    /// `start-end protection offset device inode      file`, with numbers in base 16.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let mut word = || std::str::from_utf8(words.next()?).ok();
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
        let (start, end) = word()?.split_once('-')?;
        let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
        let offset = word().and_then(|_| hexadecimal(word()?))?;
        let file = words.nth(2).unwrap_or_default().trim_ascii_start();
        Some(Self { start, end, offset, file: PathBuf::from(OsStr::from_bytes(file)) })
    }
}

/// The name of a process's program.
pub(super) fn name_of(pid: Pid) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// A string of a traced process; `None` if there is none, or it is longer than any path.
pub(super) fn string(pid: Pid, address: u64) -> Option<OsString> {
    const PAGE: usize = 4096;
    const LONGEST: usize = 4096;
    let mut text = Vec::new();
    while text.len() < LONGEST {
        let at = address.checked_add(text.len() as u64)?;
        let mut bytes = [0; PAGE];
        // What follows on the next page may not be mapped.
        let bytes = &mut bytes[..PAGE - usize::try_from(at).ok()? % PAGE];
        let read = system_calls::read_memory(pid, at, bytes);
        if read == 0 {
            return None;
        }
        if let Some(end) = bytes[..read].iter().position(|&byte| byte == 0) {
            text.extend_from_slice(&bytes[..end]);
            return Some(OsString::from_vec(text));
        }
        text.extend_from_slice(&bytes[..read]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_tell_whose_an_address_is() {
        let maps = Maps::parse(
            b"5000-6000 r-xp 00000000 fe:01 7                   /usr/bin/a program\n\
              6000-7000 rw-p 00000000 00:00 0 \n\
              7f0000-7f4000 r-xp 00001000 fe:01 12              /lib/ld-linux-x86-64.so.2\n",
        );
        let program = Path::new("/usr/bin/a program");
        assert!(maps.has(program) && maps.is_in(0x5fff, program) && !maps.is_in(0x6000, program));
        assert!(maps.is_in_linker(0x7f_0000) && !maps.is_in_linker(0x5000));
        assert_eq!(maps.place(0x5010), "/usr/bin/a program at 0x10");
        assert_eq!(maps.place(0x7f_0020), "/lib/ld-linux-x86-64.so.2 at 0x1020");
        assert_eq!(maps.place(0x6010), "memory of its own at 0x6010");
    }

    #[test]
    fn strings_are_read_up_to_their_end() {
        let own = rustix::process::getpid();
        let text = [vec![b'a'; 3_000], b"end\0beyond".to_vec()].concat();
        let read = string(own, text.as_ptr().addr() as u64).expect("it is there");
        assert_eq!(read.as_bytes(), &text[..3_003]);
        assert_eq!(string(own, 1), None);
        let endless = vec![b'a'; 20_000];
        assert_eq!(string(own, endless.as_ptr().addr() as u64), None);
    }
}
