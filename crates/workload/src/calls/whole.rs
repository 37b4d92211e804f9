//! Transfers that are complete or fail: a short read or write is continued, never counted as is.

use rustix::io::Errno;

use super::Calls;
use crate::fault::Fault;

/// Reads all of `buffer` from `offset_bytes` on.
#[inline]
pub(crate) fn read_whole<K: Calls>(
    calls: &K,
    file: &K::Open,
    buffer: &mut [u8],
    offset_bytes: u64,
) -> Result<u64, Fault> {
    match calls.pread(file, &mut *buffer, offset_bytes) {
        Ok(moved) if moved == buffer.len() => Ok(moved as u64),
        first => finish("pread", offset_bytes, buffer.len(), first, |done| {
            calls.pread(file, &mut buffer[done..], offset_bytes + done as u64)
        }),
    }
}

/// Writes all of `buffer` at `offset_bytes`.
#[inline]
pub(crate) fn write_whole<K: Calls>(
    calls: &K,
    file: &K::Open,
    buffer: &[u8],
    offset_bytes: u64,
) -> Result<u64, Fault> {
    match calls.pwrite(file, buffer, offset_bytes) {
        Ok(moved) if moved == buffer.len() => Ok(moved as u64),
        first => finish("pwrite", offset_bytes, buffer.len(), first, |done| {
            calls.pwrite(file, &buffer[done..], offset_bytes + done as u64)
        }),
    }
}

/// Writes all of `buffer` at the file's end; the file is open with `O_APPEND`.
#[inline]
pub(crate) fn append_whole<K: Calls>(
    calls: &K,
    file: &K::Open,
    buffer: &[u8],
) -> Result<u64, Fault> {
    match calls.write(file, buffer) {
        Ok(moved) if moved == buffer.len() => Ok(moved as u64),
        first => finish("write", 0, buffer.len(), first, |done| calls.write(file, &buffer[done..])),
    }
}

/// Reads all of `buffer` from a file that was just opened.
#[inline]
pub(crate) fn read_on<K: Calls>(
    calls: &K,
    from: &K::Descriptor,
    buffer: &mut [u8],
) -> Result<u64, Fault> {
    match calls.read(from, &mut *buffer) {
        Ok(moved) if moved == buffer.len() => Ok(moved as u64),
        first => {
            finish("read", 0, buffer.len(), first, |done| calls.read(from, &mut buffer[done..]))
        }
    }
}

/// Writes all of `buffer` to a file that was just made.
#[inline]
pub(crate) fn write_on<K: Calls>(
    calls: &K,
    into: &K::Descriptor,
    buffer: &[u8],
) -> Result<u64, Fault> {
    match calls.write_to(into, buffer) {
        Ok(moved) if moved == buffer.len() => Ok(moved as u64),
        first => {
            finish("write", 0, buffer.len(), first, |done| calls.write_to(into, &buffer[done..]))
        }
    }
}

/// Continues a transfer whose `first` call was short or interrupted, or fails if it failed.
#[cold]
pub(crate) fn finish(
    call: &'static str,
    offset_bytes: u64,
    wanted: usize,
    first: Result<usize, Errno>,
    mut more: impl FnMut(usize) -> Result<usize, Errno>,
) -> Result<u64, Fault> {
    let mut done = 0;
    let mut moved = first;
    loop {
        match moved {
            Ok(0) => return Err(Fault::short(call, offset_bytes, wanted, done)),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Fault::errno(call, errno)),
        }
        if done >= wanted {
            return Ok(wanted as u64);
        }
        moved = more(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays back results of calls. Returns the outcome and where each further call began.
    fn played(answers: &[Result<usize, Errno>]) -> (Result<u64, Fault>, Vec<usize>) {
        let mut rest = answers[1..].iter();
        let mut starts = Vec::new();
        let outcome = finish("pread", 64, 100, answers[0], |done| {
            starts.push(done);
            *rest.next().expect("no call beyond those played")
        });
        (outcome, starts)
    }

    #[test]
    fn short_and_interrupted_calls_are_gone_on_with() {
        let (outcome, starts) = played(&[Ok(40), Err(Errno::INTR), Ok(59), Ok(1)]);
        assert_eq!((outcome, starts), (Ok(100), vec![40, 40, 99]));
    }

    #[test]
    fn an_end_or_an_error_in_the_middle_is_never_counted() {
        let (outcome, _) = played(&[Ok(40), Ok(0)]);
        assert_eq!(outcome, Err(Fault::short("pread", 64, 100, 40)));
        let (outcome, _) = played(&[Ok(40), Err(Errno::NOSPC)]);
        assert_eq!(outcome, Err(Fault::errno("pread", Errno::NOSPC)));
    }
}
