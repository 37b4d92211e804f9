//! The page: `report.html` in a run directory, or wherever several runs are put together.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use ::report::{Source, page::HEAD, render_html};
use record::Run;

use crate::exit::Blame;
use crate::output;

/// The page's name in a run directory.
pub(crate) const FILE: &str = "report.html";

/// Writes the page of a run that has just been measured into its directory. Without room for it
/// the run stays whole, so that is only said.
pub(crate) fn write_beside(run: &Run, path: &Path) {
    if let Err(error) = write(&path.join(FILE), &[Source { path, run }]) {
        output::say(&format!("{error:#}: `fsprism report` writes it again"));
    }
}

/// Writes the page of these runs; what lies there is replaced only if it is a page of ours, and
/// only once the new one is whole.
pub(crate) fn write(page: &Path, sources: &[Source<'_>]) -> anyhow::Result<()> {
    check(page)?;
    write_text(page, &render_html(sources))
}

/// Refuses to write over what is no page of ours, and where there is no directory.
pub(crate) fn check(page: &Path) -> anyhow::Result<()> {
    check_replaceable(page).blame_input()
}

/// Writes a page where [`check`] lets it be.
pub(crate) fn write_text(page: &Path, text: &str) -> anyhow::Result<()> {
    let mut name = page.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = page.with_file_name(name);
    File::create(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, page))
        .inspect_err(|_| drop(fs::remove_file(&part)))
        .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", page.display()))
}

/// Refuses a file that has no directory to be in, or is one.
pub(crate) fn check_directory(file: &Path) -> anyhow::Result<()> {
    let directory = file.parent().filter(|path| !path.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|path| !path.is_dir()) {
        let (file, directory) = (file.display(), directory.display());
        anyhow::bail!("{file} cannot be written: there is no directory {directory}");
    }
    anyhow::ensure!(!file.is_dir(), "{} is a directory: name a file in it", file.display());
    Ok(())
}

fn check_replaceable(page: &Path) -> anyhow::Result<()> {
    check_directory(page)?;
    let Ok(mut file) = File::open(page) else { return Ok(()) };
    let mut head = vec![0; HEAD.len()];
    let is_ours = file.read_exact(&mut head).is_ok() && head == HEAD.as_bytes();
    anyhow::ensure!(
        is_ours,
        "{} is no page of fsprism's: name another file with --out",
        page.display()
    );
    Ok(())
}
