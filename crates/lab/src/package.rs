//! Debian's packages, through apt: found, fetched and unpacked, never installed.

use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::tool;

/// A package that apt can fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// The newest version on offer.
    pub(crate) version: String,
    /// Download size in bytes.
    pub(crate) size_bytes: u64,
    /// Unpacked size in bytes.
    pub(crate) unpacked_bytes: u64,
    /// Names of the packages it depends on.
    pub(crate) needs: Vec<String>,
}

/// What apt reports about a package, in the version that it would install.
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
    // In KiB; not every package has this field.
    let unpacked = field("Installed-Size: ").and_then(|size| size.parse::<u64>().ok());
    let unpacked_bytes = unpacked.unwrap_or(0).saturating_mul(1024);
    let needs = field("Depends: ").unwrap_or_default().split([',', '|']);
    let needs = needs.filter_map(|need| need.split_whitespace().next()).map(str::to_owned);
    Some(Package {
        name: name.to_owned(),
        version,
        size_bytes,
        unpacked_bytes,
        needs: needs.collect(),
    })
}

/// A kernel's package, together with the parts that newer ones are divided into: its dependencies
/// whose names end in its release.
pub(crate) fn with_parts(name: &str, release: &str) -> Result<Vec<Package>, LabError> {
    let package = look_up(name)?;
    let end = format!("-{release}");
    let parts: Vec<String> =
        package.needs.iter().filter(|name| name.ends_with(&end)).cloned().collect();
    let parts = parts.iter().map(|part| look_up(part)).collect::<Result<Vec<_>, _>>()?;
    Ok([package].into_iter().chain(parts).collect())
}

/// The versions of the kernel's source that apt offers.
pub(crate) fn sources() -> Result<Vec<String>, LabError> {
    let mut command = tool::command("apt-cache", "apt")?;
    let text = tool::run(command.args(["pkgnames", "linux-source-"]))?;
    let text = String::from_utf8_lossy(&text);
    let versions = text.lines().filter_map(|line| line.strip_prefix("linux-source-"));
    let mut versions: Vec<String> =
        versions.filter(|rest| rest.starts_with(digit)).map(str::to_owned).collect();
    versions.sort();
    Ok(versions)
}

/// The package that a meta-package stands for: its first dependency with this prefix.
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

/// Fetches packages and unpacks them all into one directory below `directory`, which is returned.
pub(crate) fn fetch(packages: &[Package], directory: &Path) -> Result<PathBuf, LabError> {
    let unpacked = directory.join("unpacked");
    packages.iter().try_for_each(|package| fetch_one(package, directory, &unpacked))?;
    Ok(unpacked)
}

fn fetch_one(package: &Package, directory: &Path, unpacked: &Path) -> Result<(), LabError> {
    let mut download = tool::command("apt-get", "apt")?;
    // apt's own user may not be able to write to the lab.
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
    unpack(&archive, unpacked)?;
    std::fs::remove_file(&archive).map_err(LabError::at(&archive))
}

/// Unpacks a package file into a directory, which may already have others unpacked in it.
pub(crate) fn unpack(archive: &Path, into: &Path) -> Result<(), LabError> {
    // A name with a leading dash would be taken as an option.
    let archive = std::path::absolute(archive).map_err(LabError::at(archive))?;
    let mut unpack = tool::command("dpkg-deb", "dpkg")?;
    tool::run(unpack.arg("-x").arg(archive).arg(into)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_fields_of_a_package_are_found() {
        let text = "Package: x\nVersion: 1:2.3-4\nInstalled-Size: 900\nSize: 1234\n";
        let package = parse("x", text).unwrap();
        assert_eq!((package.version.as_str(), package.size_bytes), ("1:2.3-4", 1234));
        assert_eq!(parse("x", text).unwrap().unpacked_bytes, 900 << 10);
        assert!(parse("x", "").is_none());
        let text = format!("{text}Depends: dracut | initramfs-tools (>= 0.120), x-7.2 (= 7.2-1)\n");
        assert_eq!(parse("x", &text).unwrap().needs, ["dracut", "initramfs-tools", "x-7.2"]);
    }
}
