//! Where a replay's events come from: the log, read as a whole or ahead of the replay.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::interpreter::{Batch, Interpreter};
use super::options::ReplayOptions;
use crate::error::IologError;
use crate::reader::IologReader;
use crate::source::Source;

/// How many batches are ready at most. One is what a read brings, up to 256 KiB of the log.
const BATCHES_AHEAD: usize = 4;

/// A log on its way to events.
struct Feed {
    reader: IologReader,
    interpreter: Interpreter,
    batch: Batch,
}

impl Feed {
    fn new(source: Source, options: &ReplayOptions) -> Result<Self, IologError> {
        Ok(Self {
            reader: IologReader::new(source)?,
            interpreter: Interpreter::new(options),
            batch: Batch::default(),
        })
    }

    /// Takes the lines that have been read.
    fn take_lines(&mut self) -> Result<(), IologError> {
        while let Some((line, place)) = self.reader.buffered_line()? {
            self.interpreter.line(line, place, &mut self.batch)?;
        }
        Ok(())
    }

    /// Takes lines and reads more. False at the end.
    fn advance(&mut self) -> Result<bool, IologError> {
        self.take_lines()?;
        self.reader.fill()
    }

    /// Sends what it has. False if nobody receives.
    fn send(&mut self, batches: &SyncSender<Result<Batch, IologError>>) -> bool {
        let capacity = self.batch.events.capacity();
        let events = Vec::with_capacity(capacity);
        let batch = std::mem::replace(&mut self.batch, Batch { events, ..Batch::default() });
        batch.is_empty() || batches.send(Ok(batch)).is_ok()
    }
}

/// Reads a whole log.
pub(super) fn read_whole(source: Source, options: &ReplayOptions) -> Result<Batch, IologError> {
    let mut feed = Feed::new(source, options)?;
    while feed.advance()? {}
    Ok(feed.batch)
}

/// Begins to read a log in a thread of its own, ahead of whoever receives. The thread ends with the
/// log, after an error, or when it has something for a receiver that is gone.
pub(super) fn read_ahead(
    source: Source,
    options: &ReplayOptions,
) -> Result<Receiver<Result<Batch, IologError>>, IologError> {
    let path = source.path.clone();
    let mut feed = Feed::new(source, options)?;
    let (sender, receiver) = sync_channel(BATCHES_AHEAD);
    let read = move || {
        loop {
            let lines = feed.take_lines();
            if !feed.send(&sender) {
                return;
            }
            match lines.and_then(|()| feed.reader.fill()) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    // If nobody receives it, nobody replays.
                    let _ = sender.send(Err(error));
                    return;
                }
            }
        }
    };
    thread::Builder::new()
        .name("iolog".to_owned())
        .spawn(read)
        .map_err(|source| IologError::Unreadable { path, source })?;
    Ok(receiver)
}
