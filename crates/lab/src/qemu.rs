//! QEMU: whether it is suitable, and how it is invoked.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use crate::error::BootError;

/// The full-system emulator.
const PROGRAM: &str = "qemu-system-x86_64";
/// The oldest version that the plugin interface and seeded random numbers are known to work with.
const OLDEST: (u32, u32) = (6, 2);

/// Kernel arguments for every guest.
///
/// - No address, mitigation or random number depends on the host or on chance.
/// - `cryptomgr.notests`, `initcall_blacklist`: tests of algorithms and certificates that no guest
///   uses take half of the boot.
/// - `tsc=reliable`, `lpj`: the clock counts instructions, so there is nothing to calibrate.
/// - `noreplace-smp` keeps locked instructions the way they are with several processors.
/// - `rodata=off` skips the check of all of the kernel's pages; no instruction depends on it.
/// - `panic=-1` reboots, which makes QEMU exit.
const ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 nokaslr norandmaps mitigations=off \
                         random.trust_cpu=on cryptomgr.notests tsc=reliable lpj=4000000 \
                         initcall_blacklist=load_system_certificate_list ipv6.disable=1 \
                         noreplace-smp rodata=off";
/// With one processor, use the platform's timer instead of the local APIC's, whose calibration
/// against another clock takes up to ten seconds if the clock counts instructions.
const ARGUMENT_OF_ONE: &str = "nolapic_timer";
/// One nanosecond per instruction. Only with one processor: before QEMU 8.1 the first of several
/// uses up all instructions until the next timer while the others wait ("tcg: spread the icount
/// budget across all CPUs in RR mode"), and Linux never gets to start the second.
const CLOCK_OF_ONE: [&str; 2] = ["-icount", "shift=0,sleep=off"];

/// Checks that QEMU is installed, is new enough and, if necessary, supports plugins.
pub(crate) fn check(needs_plugins: bool) -> Result<(), BootError> {
    let found = version()?;
    let needed = || format!("{}.{}", OLDEST.0, OLDEST.1);
    let parts: Vec<u32> = found.split('.').map_while(|part| part.parse().ok()).collect();
    match parts[..] {
        [major, minor, ..] if (major, minor) >= OLDEST => {}
        _ => return Err(BootError::OldQemu { found, needed: needed() }),
    }
    if needs_plugins && !prints(&["-help"])?.contains("-plugin") {
        return Err(BootError::NoPlugins);
    }
    Ok(())
}

/// QEMU's version, such as `7.2.22`.
pub(crate) fn version() -> Result<String, BootError> {
    let text = prints(&["--version"])?;
    let after = text.split("version ").nth(1).unwrap_or_default();
    Ok(after.split([' ', '\n', '(']).next().unwrap_or_default().to_owned())
}

fn prints(arguments: &[&str]) -> Result<String, BootError> {
    let program = programs::find(PROGRAM).ok_or(BootError::NoQemu)?;
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The QEMU command for every guest that is not in a rig: emulation only, no devices and, with one
/// processor, a clock that counts instructions.
pub(crate) fn command(processors: u32) -> Result<Command, BootError> {
    let mut command = machine(processors, "single")?;
    if processors == 1 {
        command.args(CLOCK_OF_ONE);
    }
    command.args(["-rtc", "base=2020-01-01,clock=vm", "-seed", "1"]);
    Ok(command)
}

/// The QEMU command for guests of a rig: one processor, and this machine's clock.
pub(crate) fn command_on_time() -> Result<Command, BootError> {
    let mut command = machine(1, "multi")?;
    command.args(["-rtc", "base=utc"]);
    Ok(command)
}

/// A purely emulated machine without default devices. Its processors share one thread or have one
/// each.
fn machine(processors: u32, thread: &str) -> Result<Command, BootError> {
    let mut command = Command::new(programs::find(PROGRAM).ok_or(BootError::NoQemu)?);
    command.stdin(Stdio::null()).args(["-M", "pc", "-cpu", "max,la57=off"]);
    command.arg("-accel").arg(format!("tcg,thread={thread}"));
    command.args(["-smp", &processors.to_string()]);
    command.args(["-nodefaults", "-display", "none", "-monitor", "none", "-no-reboot"]);
    Ok(command)
}

/// Arguments that assign each processor and each part of memory to a NUMA node; there are never
/// more nodes than processors.
pub(crate) fn node_arguments(nodes: u32, processors: u32, memory_kib: u64) -> Vec<String> {
    let nodes = nodes.clamp(1, processors.max(1));
    let of_node = |node: u32| {
        let first = |node: u32| node * processors / nodes;
        let kib = |node: u32| u64::from(node) * memory_kib / u64::from(nodes);
        let (from, to, share_kib) = (first(node), first(node + 1) - 1, kib(node + 1) - kib(node));
        [
            "-object".to_owned(),
            format!("memory-backend-ram,id=node{node},size={share_kib}k"),
            "-numa".to_owned(),
            format!("node,nodeid={node},cpus={from}-{to},memdev=node{node}"),
        ]
    };
    (0..nodes).flat_map(of_node).collect()
}

/// The path of an open file that QEMU inherits.
pub(crate) fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The kernel's command line.
pub(crate) fn kernel_arguments(processors: u32, further: &[String]) -> String {
    let of_one = (processors == 1).then_some(ARGUMENT_OF_ONE);
    arguments(of_one, further)
}

/// The kernel's command line when the clock is this machine's.
pub(crate) fn kernel_arguments_on_time() -> String {
    arguments(None, &[])
}

fn arguments(of_one: Option<&str>, further: &[String]) -> String {
    let mut arguments = ARGUMENTS.to_owned();
    for argument in of_one.into_iter().chain(further.iter().map(String::as_str)) {
        arguments.push(' ');
        arguments.push_str(argument);
    }
    arguments
}

/// Why QEMU refused, from its output.
pub(crate) fn refusal(said: &str, has_plugin: bool) -> BootError {
    let is_about_plugin = |line: &&str| line.contains("plugin");
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    if has_plugin && let Some(line) = lines.clone().find(is_about_plugin) {
        return BootError::PluginRefused(plain(line));
    }
    BootError::Qemu(lines.next_back().map_or_else(|| "it printed nothing".to_owned(), plain))
}

fn plain(line: &str) -> String {
    let prefix = format!("{PROGRAM}: ");
    line.trim_start_matches(prefix.as_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{kernel_arguments, node_arguments, refusal};
    use crate::error::BootError;

    #[test]
    fn each_processor_and_each_piece_of_memory_belongs_to_a_node() {
        let arguments = node_arguments(2, 3, 1025).join(" ");
        assert!(arguments.contains("size=512k -numa node,nodeid=0,cpus=0-0,memdev=node0"));
        assert!(arguments.contains("size=513k -numa node,nodeid=1,cpus=1-2,memdev=node1"));
        assert_eq!(node_arguments(4, 1, 512).len(), 4);
    }

    #[test]
    fn the_sentence_about_the_plugin_is_found() {
        let said = "qemu-system-x86_64: Could not load plugin ./x: API version 4 is too new\n\n";
        let error = refusal(said, true);
        assert!(matches!(error, BootError::PluginRefused(why) if why.starts_with("Could not")));
        assert!(matches!(refusal(said, false), BootError::Qemu(_)));
    }

    #[test]
    fn one_processor_has_no_timer_of_its_own() {
        assert!(kernel_arguments(1, &[]).ends_with(" nolapic_timer"));
        assert!(!kernel_arguments(2, &[]).contains("nolapic_timer"));
        assert!(kernel_arguments(2, &["a=b".to_owned()]).ends_with(" a=b"));
    }
}
