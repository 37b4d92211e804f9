//! What a program that is executed takes over.
#![expect(unsafe_code, reason = "descriptors as numbers")]

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use densefs_c::attached;
use densefs_process::{DenseFs, HandOver};

use crate::environment::Told;
use crate::{numbers, own, prefix};

/// What the first number of a state must be.
const MAGIC: i32 = 0x0df5_0001;

/// What has been prepared for the program that is about to be executed.
pub(crate) struct Handed {
    state: File,
    /// It stays open for that program.
    _hand_over: HandOver,
    /// The placeholders that do as well.
    kept: Vec<c_int>,
}

impl Handed {
    /// The descriptor from which the program reads what it takes over.
    pub(crate) fn number(&self) -> c_int {
        self.state.as_raw_fd()
    }
}

fn set_closes_on_exec(number: c_int, closes: bool) {
    let flag = if closes { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: it only changes a flag.
    unsafe {
        crate::raw::system_call(
            libc::SYS_fcntl,
            [
                crate::raw::number(number),
                crate::raw::number(libc::F_SETFD),
                crate::raw::number(flag),
                0,
                0,
                0,
            ],
        )
    };
}

impl Drop for Handed {
    fn drop(&mut self) {
        for &number in &self.kept {
            set_closes_on_exec(number, true);
        }
    }
}

/// Prepares what the next program takes over; none if there is nothing.
///
/// # Errors
/// An error number: the program must not be executed without what is open.
pub(crate) fn hand_over() -> Result<Option<Handed>, c_int> {
    let Ok(files) = attached() else { return Ok(None) };
    let stays =
        |one: &numbers::Numbered| files.closes_on_exec(one.descriptor.cast_unsigned()) == Ok(false);
    let staying: Vec<_> = numbers::all().filter(stays).collect();
    if staying.is_empty() && !prefix::is_working_inside() {
        return Ok(None);
    }
    let hand_over = files.hand_over().map_err(|why| why.0)?;
    let record = hand_over.record().cast_signed();
    let mut words = vec![MAGIC, hand_over.number(), record, i32::from(prefix::is_working_inside())];
    words.extend(staying.iter().flat_map(|one| [one.number, one.descriptor]));
    let state = written(&words).map_err(|why| why.raw_os_error().unwrap_or(libc::EMFILE))?;
    let kept: Vec<_> = staying.iter().map(|one| one.number).chain([state.as_raw_fd()]).collect();
    hand_over.let_through().map_err(|why| why.0)?;
    for &number in &kept {
        set_closes_on_exec(number, false);
    }
    Ok(Some(Handed { state, _hand_over: hand_over, kept }))
}

/// A file of ours with these numbers.
fn written(words: &[i32]) -> io::Result<File> {
    let made = rustix::fs::memfd_create("densefs", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(rustix::io::fcntl_dupfd_cloexec(&made, own::lowest())?);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Takes over what the program had that has executed this one.
pub(crate) fn take_over(told: &Told, state: c_int) -> Result<DenseFs, String> {
    let wrong = || "what was handed over to this program cannot be read".to_owned();
    // SAFETY: nobody else knows of this descriptor.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(state) });
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|_| wrong())?;
    let words: Vec<i32> = bytes
        .chunks_exact(size_of::<i32>())
        .map(|word| i32::from_ne_bytes(word.try_into().unwrap_or_default()))
        .collect();
    let Some((&[MAGIC, arena, record, is_working_inside], entries)) = words.split_first_chunk()
    else {
        return Err(wrong());
    };
    set_closes_on_exec(arena, true);
    // SAFETY: it was handed over to this program alone.
    let arena = unsafe { OwnedFd::from_raw_fd(arena) };
    let files = DenseFs::adopt(&told.arena, arena, record.cast_unsigned())
        .map_err(|why| why.to_string())?;
    for entry in entries.chunks_exact(2) {
        set_closes_on_exec(entry[0], true);
        numbers::adopt(entry[0], entry[1]);
    }
    prefix::set_working_inside(is_working_inside != 0);
    Ok(files)
}
