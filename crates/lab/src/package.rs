//! Debian's packages, through apt: found, fetched and unpacked, never installed.

use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::tool;

/// A package that apt can fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// The newest version that is offered.
    pub(crate) version: String,
    /// What is fetched, in bytes.
    pub(crate) size_bytes: u64,
}

/// What apt says of a package, of the version that it would install.
pub(crate) fn look_up(name: &str) -> Result<Package, LabError> {
    let unknown = || LabError::NoPackage { package: name.to_owned() };
    let mut command = tool::command("apt-cache", "apt")?;
    command.args(["show", "--no-all-versions", name]);
    let text = tool::run(&mut command).map_err(|_| unknown())?;
    parse(name, &String::from_utf8_lossy(&text)).ok_or_else(unknown)
}

fn parse(name: &str, text: &str) -> Option<Package> {
    let field = |field: &str| text.lines().find_map(|line| line.strip_prefix(field));
    let version = field("Version: ")?.to_owned();
    let size_bytes = field("Size: ")?.parse().ok()?;
    Some(Package { name: name.to_owned(), version, size_bytes })
}

/// The package that a meta-package stands for: the first it depends on that begins so.
pub(crate) fn dependency(name: &str, prefix: &str) -> Result<String, LabError> {
    let mut command = tool::command("apt-cache", "apt")?;
    command.args(["depends", "--important", name]);
    let unknown = || LabError::NoPackage { package: name.to_owned() };
    let text = tool::run(&mut command).map_err(|_| unknown())?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let found =
        names.find(|name| name.starts_with(prefix) && name[prefix.len()..].starts_with(digit));
    found.map(str::to_owned).ok_or_else(unknown)
}

fn digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Fetches a package and unpacks it below `directory`; where.
pub(crate) fn fetch(package: &Package, directory: &Path) -> Result<PathBuf, LabError> {
    let mut download = tool::command("apt-get", "apt")?;
    // apt's own user may not write where the lab lies.
    download.args(["-qq", "-o", "APT::Sandbox::User=root", "download"]);
    download.arg(format!("{}={}", package.name, package.version)).current_dir(directory);
    tool::run(&mut download)?;
    let entries = std::fs::read_dir(directory).map_err(LabError::at(directory))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut archives = files.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let archive = archives.next().ok_or_else(|| LabError::Tool {
        tool: "apt-get download".to_owned(),
        why: "it left no package".to_owned(),
    })?;
    let unpacked = directory.join("unpacked");
    let mut unpack = tool::command("dpkg-deb", "dpkg")?;
    tool::run(unpack.arg("-x").arg(&archive).arg(&unpacked))?;
    std::fs::remove_file(&archive).map_err(LabError::at(&archive))?;
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_fields_of_a_package_are_found() {
        let text = "Package: x\nVersion: 1:2.3-4\nInstalled-Size: 900\nSize: 1234\n";
        let package = parse("x", text).unwrap();
        assert_eq!((package.version.as_str(), package.size_bytes), ("1:2.3-4", 1234));
        assert!(parse("x", "").is_none());
    }
}
