//! The programs that guests call: services as packaged by Debian.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};

use lab::GuestProgram;

use crate::messages::CommandResult;

/// The programs that must be in the guests' image.
pub const PROGRAMS: [GuestProgram; 5] = [
    GuestProgram { name: "rpcbind", package: "rpcbind" },
    GuestProgram { name: "rpc.mountd", package: "nfs-kernel-server" },
    GuestProgram { name: "rpc.nfsd", package: "nfs-kernel-server" },
    GuestProgram { name: "exportfs", package: "nfs-kernel-server" },
    GuestProgram { name: "cachefilesd", package: "cachefilesd" },
];

/// How many lines of a program's output are reported.
const LINES: usize = 4;

/// Files that the C library and its RPC code look things up in.
const FILES: [(&str, &str); 7] = [
    ("/etc/passwd", "root:x:0:0:root:/:/bin/sh\n_rpc:x:101:101::/:/bin/false\n"),
    ("/etc/group", "root:x:0:\n_rpc:x:101:\n"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nnetgroup: files\n"),
    ("/etc/hosts", "127.0.0.1 localhost\n"),
    ("/etc/services", "sunrpc 111/tcp portmapper\nsunrpc 111/udp portmapper\nnfs 2049/tcp\n"),
    ("/etc/protocols", "ip 0 IP\ntcp 6 TCP\nudp 17 UDP\n"),
    (
        "/etc/netconfig",
        "udp tpi_clts v inet udp - -\ntcp tpi_cots_ord v inet tcp - -\n\
         local tpi_cots_ord - loopback - - -\n",
    ),
];

/// Writes the files in which services look things up.
pub(crate) fn write_files() -> Result<(), String> {
    for (path, text) in FILES {
        fs::create_dir_all("/etc").map_err(|error| format!("/etc: {error}"))?;
        fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Runs a program until it exits; a service that daemonizes leaves a process behind.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<(), String> {
    let said = format!("/tmp/{name}.said");
    let failed = |why: String| format!("{name} failed: {why}");
    let mut child = start(name, arguments, &said).map_err(|error| failed(error.to_string()))?;
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    Err(failed(last_lines(&said).unwrap_or_else(|| status.to_string())))
}

/// Runs a program, and returns its status and output.
pub(crate) fn run_words(words: &[String]) -> Result<CommandResult, String> {
    let (program, arguments) = words.split_first().ok_or("there is nothing to run")?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/sbin:/bin").current_dir("/tmp");
    let output = command.output().map_err(|error| format!("cannot run {program}: {error}"))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (printed, said) = (text(output.stdout), text(output.stderr));
    Ok(CommandResult { status: output.status.code(), printed, said })
}

/// Starts a program whose output goes to the file `said`.
pub(crate) fn start(name: &str, arguments: &[&str], said: &str) -> std::io::Result<Child> {
    let words = File::create(said)?;
    let mut command = Command::new(format!("/sbin/{name}"));
    command.args(arguments).env_clear().env("PATH", "/sbin:/bin").current_dir("/");
    command.stdin(Stdio::null()).stdout(words.try_clone()?).stderr(words).spawn()
}

/// The last lines of a program's output, joined into one.
pub(crate) fn last_lines(said: &str) -> Option<String> {
    let text = fs::read_to_string(said).ok()?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
    (!last.is_empty()).then_some(last)
}
