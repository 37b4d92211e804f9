//! Where the bytes of a log come from.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::error::IologError;

/// Where the bytes of a log come from, and what messages call it.
pub struct Source {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Box<dyn Read + Send>,
}

impl Source {
    /// Opens what `read_iolog` names: a file, a socket of the domain UNIX to connect to, or `-` for
    /// the standard input.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(name: &Path) -> Result<Self, IologError> {
        let opened = if name.as_os_str() == "-" {
            Ok(Box::new(io::stdin()) as Box<dyn Read + Send>)
        } else if name.metadata().is_ok_and(|metadata| metadata.file_type().is_socket()) {
            UnixStream::connect(name).map(|stream| Box::new(stream) as Box<dyn Read + Send>)
        } else {
            File::open(name).map(|file| Box::new(file) as Box<dyn Read + Send>)
        };
        let bytes =
            opened.map_err(|source| IologError::Unreadable { path: name.to_owned(), source })?;
        Ok(Self::new(name, bytes))
    }

    /// Takes the bytes of a log from anywhere; messages call it `name`.
    #[must_use]
    pub fn new(name: &Path, bytes: Box<dyn Read + Send>) -> Self {
        Self { path: name.to_owned(), bytes }
    }
}
