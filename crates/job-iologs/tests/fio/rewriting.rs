//! A log, read and written again.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Cursor;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use job_iologs::{
    Entry, EntryAction, IologReader, IologWriter, Line, LoggedFile, Source, UnusableReason,
};

/// Reads a log of version 3 and writes it again. Several in one become several writers.
pub(crate) fn rewrite(log: &[u8]) -> Vec<u8> {
    let source = Source::new(Path::new("log"), Box::new(Cursor::new(log.to_vec())));
    let mut reader = IologReader::new(source).expect("a log");
    let mut written = Vec::new();
    let mut writer = Some(Rewriter::new());
    while let Some(line) = reader.next_line().expect("a line") {
        match line {
            Line::Entry(entry) => writer.as_mut().expect("there is one").write(entry),
            Line::Unusable(unusable) => {
                assert_eq!(unusable.reason, UnusableReason::SecondLog);
                written.extend(writer.replace(Rewriter::new()).expect("there is one").end());
            }
        }
    }
    written.extend(writer.expect("there is one").end());
    written
}

struct Rewriter {
    log: IologWriter<Cursor<Vec<u8>>>,
    files: HashMap<Vec<u8>, LoggedFile>,
}

impl Rewriter {
    fn new() -> Self {
        Self { log: IologWriter::new(Cursor::default()), files: HashMap::new() }
    }

    fn write(&mut self, Entry { time_us, name, action }: Entry<'_>) {
        let Self { log, files } = self;
        let at = Duration::from_micros(time_us.expect("version 3 has times"));
        let file = files.get(name).copied();
        let known = || file.expect("the file was added");
        let written = match action {
            EntryAction::Add => log.add(at, OsStr::from_bytes(name)).map(|file| {
                files.insert(name.to_vec(), file);
            }),
            EntryAction::Open => log.open(at, known()),
            EntryAction::Close => log.close(at, known()),
            EntryAction::Io { kind, offset, length } => {
                log.io(at, known(), kind, offset, u64::from(length))
            }
            EntryAction::Wait { .. } => panic!("version 3 has no waits"),
        };
        written.expect("memory");
    }

    fn end(mut self) -> Vec<u8> {
        self.log.flush().expect("memory");
        self.log.out().get_ref().clone()
    }
}
