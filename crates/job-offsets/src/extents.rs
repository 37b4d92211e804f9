//! Which part of which file a job accesses: `size`, `filesize`, `offset` and what goes with them.

use crate::error::OffsetError;
use crate::generator::Generator;

/// The part of a file that a job accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileExtent {
    /// The file's name as fio has it, with its directory. Skewed distributions are seeded with it.
    pub name: Vec<u8>,
    /// Where the part begins.
    pub offset_bytes: u64,
    /// Where it begins from the second pass on. Another place than at first if the offset is a
    /// share of a file that has grown, or its end.
    pub later_offset_bytes: u64,
    /// How long it is.
    pub size_bytes: u64,
    /// How long the file is.
    pub file_bytes: u64,
}

/// A file as it is before the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentFile {
    /// Its name as fio has it, with its directory.
    pub name: Vec<u8>,
    /// How long it is: 0 if there is none.
    pub bytes: u64,
    /// It can be made longer: it is no device.
    pub can_grow: bool,
}

/// What options say about the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentOptions {
    /// `size`, of all files together.
    pub size: Option<Amount>,
    /// `filesize`: the lowest and the highest size of each file.
    pub file_bytes: Option<(u64, u64)>,
    /// `io_size` as a percentage; it shortens what `size` comes out as.
    pub io_size_percent: Option<u64>,
    /// `offset`.
    pub offset: Option<Amount>,
    /// `offset_align`.
    pub offset_align_bytes: Option<u64>,
    /// `offset_increment`: how much further each clone begins.
    pub offset_increment: Option<Amount>,
    /// Which of the jobs that `numjobs` makes this is, as [`clone_index`] counts them.
    pub clone_index: u64,
    /// `file_append`: files are extended.
    pub appends: bool,
    /// The lowest block size of all directions.
    pub min_block_bytes: u64,
}

/// A size, or a share of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// In bytes.
    Bytes(u64),
    /// In percent.
    Percent(u64),
}

/// The parts of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents {
    /// By file.
    pub files: Vec<FileExtent>,
    /// What `size` comes out as.
    pub size_bytes: u64,
}

/// The number that fio gives the n-th of the jobs that `numjobs` makes, from 0, in names and
/// offsets: after the first, it counts down.
#[must_use]
pub const fn clone_index(nth: u64, numjobs: u64) -> u64 {
    if nth == 0 { 0 } else { numjobs.saturating_sub(nth) }
}

impl ExtentOptions {
    /// The parts that a job accesses of these files. Those that are shorter must be made as long as
    /// their parts say. If sizes are drawn, it is with a generator for [`Purpose::FileSize`].
    ///
    /// [`Purpose::FileSize`]: crate::Purpose::FileSize
    ///
    /// # Errors
    /// Why there is nothing to access.
    pub fn place(
        &self,
        present: &[PresentFile],
        sizes: &mut Generator,
    ) -> Result<Extents, OffsetError> {
        let count = present.len() as u64;
        if count == 0 {
            return Err(OffsetError::NoFiles);
        }
        let asked = self.asked_bytes();
        let has_size = present.iter().any(|file| file.bytes > 0);
        if !has_size && asked == 0 && self.file_bytes.is_none() {
            return Err(OffsetError::NoSize);
        }
        let each = asked / count;
        let mut longer = (asked - each * count) / self.min_block_bytes;
        let mut files = Vec::with_capacity(present.len());
        let mut total: u64 = 0;
        for file in present {
            let has_more = self.file_bytes.is_none() && longer > 0;
            longer -= u64::from(has_more);
            let asked = if has_more { each + self.min_block_bytes } else { each };
            let extent = self.extent(file, asked, sizes)?;
            total = total.saturating_add(share(extent.size_bytes, self.io_size_percent));
            files.push(extent);
        }
        let size_bytes = if asked == 0 || (total > 0 && asked > total) { total } else { asked };
        if size_bytes < self.min_block_bytes {
            let block_bytes = self.min_block_bytes;
            return Err(OffsetError::LessThanABlock { size_bytes, block_bytes });
        }
        Ok(Extents { files, size_bytes })
    }

    /// Where the part of a file begins, if the file is this long.
    #[must_use]
    pub fn offset(&self, file_bytes: u64) -> u64 {
        if self.appends {
            return file_bytes;
        }
        let amount = |amount: Option<Amount>| match amount.unwrap_or(Amount::Bytes(0)) {
            Amount::Bytes(bytes) => (bytes, false),
            Amount::Percent(percent) => (share(file_bytes, Some(percent)), percent > 0),
        };
        let (increment, increment_is_share) = amount(self.offset_increment);
        let (first, is_share) = amount(self.offset);
        let offset = first.wrapping_add(self.clone_index.wrapping_mul(increment));
        if !increment_is_share && !is_share {
            return offset;
        }
        let align = self.offset_align_bytes.unwrap_or(self.min_block_bytes).max(1);
        offset.div_ceil(align).wrapping_mul(align)
    }

    const fn asked_bytes(&self) -> u64 {
        match self.size {
            Some(Amount::Bytes(bytes)) => bytes,
            Some(Amount::Percent(_)) | None => 0,
        }
    }

    fn extent(
        &self,
        file: &PresentFile,
        asked: u64,
        sizes: &mut Generator,
    ) -> Result<FileExtent, OffsetError> {
        let offset_bytes = self.offset(file.bytes);
        let up_to = |end: u64| {
            let beyond = OffsetError::OffsetBeyondEnd { offset_bytes, file_bytes: end };
            end.checked_sub(offset_bytes).ok_or(beyond)
        };
        let mut size_bytes = match self.file_bytes {
            None if asked > 0 => asked,
            Some((low, high)) if file.bytes < low || file.bytes > high => {
                up_to(low)?;
                up_to(self.draw_size(low, high, sizes))?
            }
            None | Some(_) => up_to(file.bytes)?,
        };
        if let Some(Amount::Percent(percent)) = self.size
            && percent > 0
            && percent != 100
        {
            let part = share(size_bytes + offset_bytes, Some(percent)).min(size_bytes);
            size_bytes = part - part % self.min_block_bytes;
        }
        let end = offset_bytes.saturating_add(size_bytes);
        let file_bytes = if file.can_grow { file.bytes.max(end) } else { file.bytes };
        let later_offset_bytes = self.offset(file_bytes);
        let name = file.name.clone();
        Ok(FileExtent { name, offset_bytes, later_offset_bytes, size_bytes, file_bytes })
    }

    fn draw_size(&self, low: u64, high: u64, sizes: &mut Generator) -> u64 {
        if low == high {
            return low;
        }
        let drawn = sizes.below(high - low) + low;
        drawn - drawn % self.min_block_bytes
    }
}

fn share(bytes: u64, percent: Option<u64>) -> u64 {
    let Some(percent) = percent.filter(|percent| *percent > 0) else { return bytes };
    bytes.wrapping_mul(percent) / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Width;

    fn options() -> ExtentOptions {
        ExtentOptions { min_block_bytes: 4096, ..ExtentOptions::default() }
    }

    fn place(options: &ExtentOptions, files: &[u64]) -> Result<(Vec<[u64; 3]>, u64), OffsetError> {
        let file = |bytes: &u64| PresentFile { name: Vec::new(), bytes: *bytes, can_grow: true };
        let files: Vec<PresentFile> = files.iter().map(file).collect();
        let extents = options.place(&files, &mut Generator::new(Width::Bits32, 1))?;
        let parts = extents.files.iter();
        let parts = parts.map(|file| [file.offset_bytes, file.size_bytes, file.file_bytes]);
        Ok((parts.collect(), extents.size_bytes))
    }

    #[test]
    fn a_size_is_shared_and_the_first_files_get_the_rest() {
        let size = Some(Amount::Bytes(10 * 4096));
        let placed = place(&ExtentOptions { size, ..options() }, &[0, 0, 0, 50_000]);
        let short = 10_240;
        let long = short + 4096;
        assert_eq!(
            placed.unwrap(),
            (
                vec![[0, short, short], [0, short, short], [0, short, short], [0, short, 50_000]],
                40_960
            )
        );
        let size = Some(Amount::Bytes(4 * 10_240 + 8192 + 3));
        let (parts, _) = place(&ExtentOptions { size, ..options() }, &[0; 4]).unwrap();
        assert_eq!(parts[0][1], long - 2048);
    }

    #[test]
    fn offsets_move_with_the_clone() {
        let offsets = ExtentOptions {
            size: Some(Amount::Bytes(65_536)),
            offset: Some(Amount::Bytes(4096)),
            offset_increment: Some(Amount::Bytes(8192)),
            clone_index: 2,
            ..options()
        };
        let (parts, _) = place(&offsets, &[0]).unwrap();
        assert_eq!(parts, [[20_480, 65_536, 86_016]]);
        let shares = ExtentOptions { offset: Some(Amount::Percent(10)), ..offsets };
        assert_eq!(shares.offset(100_000), 28_672);
        let aligned = ExtentOptions { offset_align_bytes: Some(65_536), ..shares };
        assert_eq!(aligned.offset(100_000), 65_536);
    }

    #[test]
    fn without_a_size_files_are_accessed_to_their_ends() {
        let from_4k = ExtentOptions { offset: Some(Amount::Bytes(4096)), ..options() };
        assert_eq!(place(&from_4k, &[40_960]).unwrap(), (vec![[4096, 36_864, 40_960]], 36_864));
        assert_eq!(place(&options(), &[0]), Err(OffsetError::NoSize));
        let beyond = OffsetError::OffsetBeyondEnd { offset_bytes: 4096, file_bytes: 100 };
        assert_eq!(place(&from_4k, &[100]), Err(beyond));
        let half = ExtentOptions { size: Some(Amount::Percent(50)), ..options() };
        assert_eq!(place(&half, &[81_920]).unwrap(), (vec![[0, 40_960, 81_920]], 40_960));
    }

    #[test]
    fn sizes_of_files_are_drawn_from_a_range() {
        let drawn = ExtentOptions { file_bytes: Some((8192, 81_920)), ..options() };
        let (parts, size_bytes) = place(&drawn, &[0, 0, 9000]).unwrap();
        assert!(parts[..2].iter().all(|part| part[1] % 4096 == 0 && part[1] >= 8192));
        assert_eq!(parts[2][1], 9000);
        assert_eq!(size_bytes, parts.iter().map(|part| part[1]).sum());
    }
}
