//! The page: `report.html` in a run directory, or wherever several runs are put together.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ::report::{Source, page::HEAD, render_html};
use record::RunDirectory;
use rustix::fs::{Mode, OFlags, open};

use crate::exit::Blame;
use crate::output;

/// The page's name in a run directory.
pub(crate) const FILE: &str = "report.html";

/// Writes the page of a run that has just been measured into its directory. Without room for it
/// the run stays whole, so that is only said.
pub(crate) fn write_into(directory: &RunDirectory, source: &Source<'_>) {
    let path = directory.path();
    let there = directory.beginning(FILE, HEAD.len());
    if there.is_some_and(|head| !is_ours(&head)) {
        return say_failure(Err(not_ours(&path.join(FILE))));
    }
    let text = render_html(std::slice::from_ref(source));
    say_failure(directory.put(FILE, text.as_bytes()).map_err(anyhow::Error::from));
}

/// The same for a run that is known by its path.
pub(crate) fn write_beside(source: &Source<'_>) {
    say_failure(write(&source.path.join(FILE), std::slice::from_ref(source)));
}

fn say_failure(written: anyhow::Result<()>) {
    if let Err(error) = written {
        output::say(&format!("{error:#}: `fsprism report` writes it again"));
    }
}

/// Writes the page of these runs; what lies there is replaced only if it is a page of ours, and
/// only once the new one is whole.
pub(crate) fn write(page: &Path, sources: &[Source<'_>]) -> anyhow::Result<()> {
    check(page)?;
    write_text(page, &render_html(sources))
}

/// Refuses to write over what is not a page of ours, and where there is no directory.
pub(crate) fn check(page: &Path) -> anyhow::Result<()> {
    check_replaceable(page).blame_input()
}

/// Writes a page where [`check`] lets it be.
pub(crate) fn write_text(page: &Path, text: &str) -> anyhow::Result<()> {
    write_whole(page, text.as_bytes())
}

/// Puts a whole file where `path` is, by way of a new one that has a name of its own: whatever
/// waits at either is not written through. A device or a pipe is written to, and stays; so does a
/// link to a file, such as /dev/stdout may be, which is refused.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let cannot = |error: io::Error| anyhow::anyhow!("cannot write {}: {error}", path.display());
    if let Ok(there) = fs::metadata(path) {
        if !there.is_file() {
            let opened = File::options().write(true).open(path);
            return opened.and_then(|mut file| file.write_all(content)).map_err(cannot);
        }
        let why = "it is a symbolic link; name the file it points to";
        anyhow::ensure!(!path.is_symlink(), "cannot write {}: {why}", path.display());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default();
    let written = tempfile::Builder::new()
        .prefix(name)
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .and_then(|mut file| {
            file.write_all(content)?;
            file.as_file().sync_all()?;
            Ok(file.persist(path)?)
        });
    written.map(drop).map_err(cannot)
}

/// Refuses a file that has no directory to be in, or is one.
pub(crate) fn check_directory(file: &Path) -> anyhow::Result<()> {
    let directory = file.parent().filter(|path| !path.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|path| !path.is_dir()) {
        let (file, directory) = (file.display(), directory.display());
        anyhow::bail!("{file} cannot be written: the directory {directory} does not exist");
    }
    anyhow::ensure!(!file.is_dir(), "{} is a directory: name a file in it", file.display());
    Ok(())
}

fn check_replaceable(page: &Path) -> anyhow::Result<()> {
    check_directory(page)?;
    let Ok(file) = open_plain(page) else { return Ok(()) };
    let mut head = Vec::new();
    let is_read = file.take(HEAD.len() as u64).read_to_end(&mut head).is_ok();
    if is_read && is_ours(&head) { Ok(()) } else { Err(not_ours(page)) }
}

/// A file as it is there; a pipe has nothing to read, and is not waited for.
fn open_plain(path: &Path) -> io::Result<File> {
    Ok(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?.into())
}

fn is_ours(head: &[u8]) -> bool {
    head == HEAD.as_bytes()
}

fn not_ours(page: &Path) -> anyhow::Error {
    anyhow::anyhow!("{} is not an fsprism page: name another file with --out", page.display())
}
