//! Kernels built here from Debian's source, with everything built in and debug information.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use super::packaged::{Origin, Plan, finish, newest};
use super::{FOR_MODULES, KERNELS, Kernel, RECIPE, for_modules, modules};
use crate::decompress;
use crate::error::LabError;
use crate::package::{self, Package};
use crate::place::{Lab, name_of};
use crate::tool;

/// Everything that is enabled in a guest's kernel; the rest is off.
const CONFIGURATION: &str = include_str!("../../assets/guest.config");
/// What is enabled besides in one that checks itself.
const CHECKS: &str = include_str!("../../assets/checks.config");
/// Approximate build time on one processor, in minutes.
const MINUTES_OF_ONE: usize = 24;
/// Tools and headers that the build needs: name, package.
const TOOLS: [(&str, &str); 7] = [
    ("make", "make"),
    ("gcc", "gcc"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];
const HEADERS: [(&str, &str); 2] =
    [("/usr/include/libelf.h", "libelf-dev"), ("/usr/include/openssl/ssl.h", "libssl-dev")];

/// Disk space for unpacking and building.
pub(super) const BUILD_BYTES: u64 = 6_000_000_000;

/// Approximate build time on this machine.
pub(super) fn minutes() -> usize {
    MINUTES_OF_ONE.div_ceil(processors())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRequest {
    /// The version, such as `6.1`, or that of the newest packaged kernel.
    pub version: Option<String>,
    /// Whether the kernel checks itself: its memory accesses (KASAN), its locks, and that it does
    /// not sleep where it must not.
    pub checks: bool,
}

impl SourceRequest {
    fn configuration(&self) -> String {
        let checks = if self.checks { CHECKS } else { "" };
        format!("{CONFIGURATION}{checks}")
    }
}

/// How the asked kernel can be built.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
pub(super) fn plan(lab: &Lab, request: &SourceRequest) -> Result<Plan, LabError> {
    let version = match &request.version {
        Some(version) => version.clone(),
        None => version_of(&newest()?),
    };
    let package = package::look_up(&format!("linux-source-{version}"));
    let package = package.or_else(|error| match error {
        LabError::NoPackage { .. } => Err(not_offered(&version)?),
        error => Err(error),
    })?;
    let compiler = compiler()?;
    let configuration = request.configuration();
    let recipe = [package.version.as_str(), &configuration, compiler.as_str(), RECIPE];
    let name = name_of(&recipe.map(str::as_bytes));
    let name = format!("source-{version}-{name}-{RECIPE}");
    let directory = lab.directory().join(KERNELS).join(name);
    let origin = match Kernel::read(&directory) {
        Some(kernel) => Origin::Lab(kernel),
        None => {
            check_tools()?;
            Origin::Source { package, configuration }
        }
    };
    Ok(Plan { directory, origin })
}

/// The version of a release: its first two numbers.
fn version_of(release: &str) -> String {
    let numbers = release.split(|character: char| !character.is_ascii_digit());
    numbers.take(2).collect::<Vec<_>>().join(".")
}

fn not_offered(version: &str) -> Result<LabError, LabError> {
    let mut offered = package::sources()?.join(", ");
    if offered.is_empty() {
        offered.push_str("no version");
    }
    Ok(LabError::NoSource { version: version.to_owned(), offered })
}

fn compiler() -> Result<String, LabError> {
    let text = tool::run(tool::command("gcc", "gcc")?.arg("--version"))?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned())
}

fn check_tools() -> Result<(), LabError> {
    let tools = TOOLS.iter().filter(|(name, _)| programs::find(name).is_none());
    let headers = HEADERS.iter().filter(|(name, _)| !Path::new(name).exists());
    let (names, packages): (Vec<&str>, Vec<&str>) = tools.chain(headers).copied().unzip();
    if names.is_empty() {
        return Ok(());
    }
    let verb = if names.len() == 1 { "is" } else { "are" };
    let what = format!("{} {verb}", names.join(", "));
    Err(LabError::NoBuildTools { what, packages: packages.join(" ") })
}

/// Fetches, unpacks, configures and builds a kernel, and stores what is needed of it.
pub(super) fn build(
    lab: &Lab,
    plan: &Plan,
    (package, configuration): (&Package, &str),
    say: &dyn Fn(&str),
) -> Result<Kernel, LabError> {
    lab.check_room(BUILD_BYTES)?;
    let temporary = lab.temporary()?;
    let unpacked = package::fetch(std::slice::from_ref(package), temporary.path())?;
    say("unpacking the kernel's source");
    let archive = unpacked.join("usr/src").join(format!("{}.tar.xz", package.name));
    let mut tar = tool::command("tar", "tar")?;
    tool::run(tar.arg("-xf").arg(&archive).arg("-C").arg(temporary.path()))?;
    let source = temporary.path().join(&package.name);
    leave_entry_unchecked(&source)?;
    let fragment = source.join("guest.config");
    fs::write(&fragment, configuration).map_err(LabError::at(&fragment))?;
    tool::run(make(&source)?.arg("KCONFIG_ALLCONFIG=guest.config").arg("allnoconfig"))?;
    say("building the kernel");
    compile(&source, lab)?;
    keep(lab, plan, &source)
}

/// Guests begin in code that runs before there is anything to check accesses with, and calls
/// `memcmp`. The kernel does not exclude them from checks itself.
fn leave_entry_unchecked(source: &Path) -> Result<(), LabError> {
    for (name, line) in [
        ("arch/x86/platform/pvh/Makefile", "KASAN_SANITIZE := n"),
        ("lib/Makefile", "KASAN_SANITIZE_string.o := n"),
    ] {
        let makefile = source.join(name);
        let text = fs::read_to_string(&makefile).map_err(LabError::at(&makefile))?;
        fs::write(&makefile, format!("{text}\n{line}\n")).map_err(LabError::at(&makefile))?;
    }
    Ok(())
}

fn make(source: &Path) -> Result<Command, LabError> {
    let mut make = tool::command("make", "make")?;
    make.current_dir(source).arg(format!("-j{}", processors()));
    // The result must depend on the recipe alone.
    for (name, value) in [
        ("KBUILD_BUILD_TIMESTAMP", "2020-01-01"),
        ("KBUILD_BUILD_USER", "fsprism"),
        ("KBUILD_BUILD_HOST", "lab"),
    ] {
        make.env(name, value);
    }
    Ok(make)
}

/// Builds; the long output of `make` is kept in the lab.
fn compile(source: &Path, lab: &Lab) -> Result<(), LabError> {
    let path = lab.within("logs")?.join("kernel.log");
    let log = File::create(&path).map_err(LabError::at(&path))?;
    let errors = log.try_clone().map_err(LabError::at(&path))?;
    let mut make = make(source)?;
    make.args(["bzImage", "modules.builtin", "modules"]).stdout(Stdio::from(log)).stderr(errors);
    let status = make.status().map_err(LabError::at(source))?;
    if status.success() {
        return Ok(());
    }
    let why = format!("its output is in {}", path.display());
    Err(LabError::Tool { tool: "make".to_owned(), why })
}

fn keep(lab: &Lab, plan: &Plan, source: &Path) -> Result<Kernel, LabError> {
    let made = lab.temporary()?;
    let to = |name: &str| made.path().join(name);
    let write =
        |name: &str, bytes: &[u8]| fs::write(to(name), bytes).map_err(LabError::at(&to(name)));
    write("kernel", &decompress::kernel(&source.join("arch/x86/boot/bzImage"))?)?;
    for (from, name) in [(".config", "config"), ("vmlinux", "vmlinux")] {
        let from = source.join(from);
        fs::copy(&from, to(name)).map_err(LabError::at(&from))?;
    }
    let release = tool::run(make(source)?.args(["-s", "kernelrelease"]))?;
    let release = String::from_utf8_lossy(&release).trim().to_owned();
    modules::collect(source, made.path(), &release)?;
    for_modules::keep(source, &to(FOR_MODULES))?;
    write("release", release.as_bytes())?;
    finish(lab, made, &plan.directory)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn the_version_of_a_release_has_two_numbers() {
        for (release, version) in [
            ("6.1.0-56-amd64", "6.1"),
            ("6.12.107+deb13-amd64", "6.12"),
            ("7.3-amd64", "7.3"),
            ("7.0-rc4-amd64", "7.0"),
        ] {
            assert_eq!(version_of(release), version);
        }
    }
}
