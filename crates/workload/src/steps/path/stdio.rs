//! Single characters through C stdio streams, as Bonnie moves them (Bray, "Bonnie", 1990:
//! `putc_block` and `getc` over a whole file).
//!
//! A request that continues where the stream's last one ended, in the same direction, consists only
//! of the characters, and of what the library reads or writes when its buffer is empty or full. Any
//! other begins with an `fseeko`, which is timed with it: it writes back what is buffered and
//! discards what was read, which is where such a request has its costs.

use super::{Direction, Path};
use crate::edge::Stream;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::StdioLocking;
use crate::steps::DataFile;
use crate::steps::transfer::Location;

/// A stream and its position.
#[derive(Debug)]
struct OpenStream {
    stream: Stream,
    direction: Direction,
    offset_bytes: u64,
}

impl OpenStream {
    #[inline(always)]
    fn go_to(&mut self, offset_bytes: u64, direction: Direction) -> Result<(), Fault> {
        if self.offset_bytes == offset_bytes && self.direction == direction {
            return Ok(());
        }
        self.seek(offset_bytes, direction)
    }

    #[cold]
    fn seek(&mut self, offset_bytes: u64, direction: Direction) -> Result<(), Fault> {
        self.stream.seek(offset_bytes)?;
        (self.offset_bytes, self.direction) = (offset_bytes, direction);
        Ok(())
    }
}

/// The streams of a thread's files.
#[derive(Debug)]
pub(crate) struct Stdio {
    streams: Vec<OpenStream>,
}

impl Stdio {
    /// Opens a stream for each file; `always` is the direction that the files were opened for, None
    /// if for both.
    pub(crate) fn new(
        files: &[DataFile],
        always: Option<Direction>,
        locking: StdioLocking,
    ) -> Result<Self, EngineError> {
        let mode = match always {
            Some(Direction::Read) => c"r",
            // With fdopen, this does not truncate; and on a stream that cannot be read, seeks read
            // nothing.
            Some(Direction::Write) => c"w",
            None => c"r+",
        };
        let open = |file: &DataFile| {
            let descriptor = rustix::io::fcntl_dupfd_cloexec(&file.file, 0);
            let stream = descriptor
                .map_err(|errno| Fault::errno("fcntl", errno))
                .and_then(|descriptor| Stream::open(descriptor, mode, locking))
                .map_err(|fault| fault.into_error(&file.path))?;
            let direction = always.unwrap_or_default();
            Ok(OpenStream { stream, direction, offset_bytes: 0 })
        };
        Ok(Self { streams: files.iter().map(open).collect::<Result<_, EngineError>>()? })
    }
}

impl Path for Stdio {
    #[inline(always)]
    fn read(
        &mut self,
        _files: &[DataFile],
        location: Location,
        buffer: &mut [u8],
    ) -> Result<u64, Fault> {
        let open = &mut self.streams[location.file];
        open.go_to(location.offset_bytes, Direction::Read)?;
        let done = open.stream.read(buffer)?;
        if done < buffer.len() {
            return Err(Fault::short("getc", location.offset_bytes, buffer.len(), done));
        }
        open.offset_bytes += done as u64;
        Ok(done as u64)
    }

    #[inline(always)]
    fn write(
        &mut self,
        _files: &[DataFile],
        location: Location,
        request: &[u8],
    ) -> Result<u64, Fault> {
        let open = &mut self.streams[location.file];
        open.go_to(location.offset_bytes, Direction::Write)?;
        open.stream.write(request)?;
        open.offset_bytes += request.len() as u64;
        Ok(request.len() as u64)
    }

    fn flush(&mut self, file: usize) -> Result<(), Fault> {
        match self.streams[file].direction {
            Direction::Read => Ok(()),
            Direction::Write => self.streams[file].stream.flush(),
        }
    }
}
