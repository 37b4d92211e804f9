//! Files mapped into a program: lines of `/proc/PID/maps` (proc(5)).

/// A mapped part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after the mapping.
    pub end: u64,
    /// Offset of the part in the file, in bytes.
    pub offset: u64,
    /// The file's path.
    pub path: String,
}

impl Mapping {
    /// Parses a line; `None` if it does not describe a mapped file.
    pub fn parse(line: &str) -> Option<Self> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        let mut fields = rest.splitn(5, ' ');
        let offset = number(fields.nth(1)?)?;
        let path = fields.nth(2)?.trim_start();
        path.starts_with('/').then_some(())?;
        let (start, end) = (number(start)?, number(end)?);
        (start < end).then(|| Self { start, end, offset, path: path.replace("\\012", "\n") })
    }
}

/// Converts QEMU's own maps to those of the program it runs, whose address 0 is at `guest_base`:
/// keeps the lines with files and subtracts the base. QEMU's own files remain among them, at
/// addresses that the program does not use.
pub fn lines_of_guest(text: &str, guest_base: u64) -> impl Iterator<Item = String> {
    text.lines().filter_map(move |line| {
        let mapping = Mapping::parse(line)?;
        let start = mapping.start.checked_sub(guest_base)?;
        let (_, rest) = line.split_once(' ')?;
        Some(format!("{start:x}-{:x} {rest}", mapping.end - guest_base))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
        00400000-00401000 r--p 00002000 fe:00 1234                               /a dir/x\\012y\n\
        10000-20000 rw-p 00000000 00:00 0 \n\
        7ffd1000-7ffd2000 rw-p 00000000 00:00 0                          [stack]\n\
        nonsense\n";

    #[test]
    fn lines_of_files_are_parsed() {
        let mappings: Vec<Mapping> = TEXT.lines().filter_map(Mapping::parse).collect();
        let path = "/a dir/x\ny".to_owned();
        let expected = Mapping { start: 0x40_0000, end: 0x40_1000, offset: 0x2000, path };
        assert_eq!(mappings, [expected]);
    }

    #[test]
    fn addresses_become_those_of_the_guest() {
        let lines: Vec<String> = lines_of_guest(TEXT, 0x10_0000).collect();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("300000-301000 r--p 00002000 "), "{lines:?}");
        assert_eq!(lines_of_guest(TEXT, 0x100_0000).count(), 0);
    }
}
