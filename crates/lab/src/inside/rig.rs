//! A guest of a rig: sets up its links, then carries out the host's requests one at a time.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{InsideError, load_modules_for, port, power_off, start};
use crate::rig::Shape;
use crate::rig::wire::{self, CONFIG, GuestConfig, Hello, Interface, Order, PORT};

/// The kernel's directory of network interfaces.
const INTERFACES: &str = "/sys/class/net";
/// Bytes that may be queued for sending: enough that nothing is dropped, however slow the link.
const WAITING_BYTES: u64 = 8 << 20;
/// Packets that may be queued for a delay.
const WAITING_PACKETS: &str = "100000";
/// The smallest token bucket in bytes: a few packets.
const BUCKET_BYTES_MIN: u64 = 8 << 10;

/// Whether this process is in a guest that belongs to a rig.
#[must_use]
pub fn has_part() -> bool {
    Path::new(CONFIG).exists()
}

/// Sets up the guest, then answers each question with `answer` until told to power off. Only for
/// the init process of a guest.
pub fn serve<Q, A>(mut answer: impl FnMut(Q) -> Result<A, String>) -> !
where
    Q: DeserializeOwned,
    A: Serialize,
{
    let begun = begin();
    match (begun, port::open_port(PORT)) {
        (begun, Ok(mut port)) => {
            let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
            let hello = begun.map(|()| Hello { kernel }).map_err(|error| error.to_string());
            if wire::write(&mut port, &hello).is_ok() {
                converse(&mut port, &mut answer);
            }
        }
        (begun, Err(error)) => {
            let first = begun.err().map(|error| error.to_string()).unwrap_or_default();
            // If the host cannot be reached over the port, it shows the console.
            let _console = fs::write("/dev/console", format!("fsprism: {first} {error}\n"));
        }
    }
    power_off()
}

fn converse<Q, A>(port: &mut File, answer: &mut impl FnMut(Q) -> Result<A, String>)
where
    Q: DeserializeOwned,
    A: Serialize,
{
    // A read error means that the host is gone.
    while let Ok(order) = wire::read::<Order<Q>>(port) {
        match order {
            Order::PowerOff => return,
            Order::Shape(interface) => {
                let shaped = reshape(&interface).map_err(|error| error.to_string());
                if wire::write(port, &shaped).is_err() {
                    return;
                }
            }
            Order::Do(question) => {
                if wire::write(port, &answer(question)).is_err() {
                    return;
                }
            }
        }
    }
}

fn begin() -> Result<(), InsideError> {
    start()?;
    let io = |source| InsideError::Io { path: CONFIG.to_owned(), source };
    let text = fs::read(CONFIG).map_err(io)?;
    let part: GuestConfig = serde_json::from_slice(&text).map_err(|error| io(error.into()))?;
    // NFS identifies clients by host name.
    rustix::system::sethostname(part.role.as_bytes()).map_err(|error| io(error.into()))?;
    for name in ["base", "virtio-net"] {
        load_modules_for(name)?;
    }
    part.load.iter().try_for_each(|name| load_modules_for(name))?;
    run(Command::new("/bin/ifconfig").args(["lo", "127.0.0.1", "up"]), "127.0.0.1")?;
    part.interfaces.iter().try_for_each(set_up)
}

/// Gives an interface its address, and applies its shape to outgoing traffic.
fn set_up(interface: &Interface) -> Result<(), InsideError> {
    let name = name_of(interface)?;
    let mut configure = Command::new("/bin/ifconfig");
    configure.args([&name, &interface.address, "netmask", "255.255.255.0", "up"]);
    run(&mut configure, &interface.address)?;
    shape(&name, interface)
}

/// Changes how an interface that is already set up shapes its outgoing traffic.
fn reshape(interface: &Interface) -> Result<(), InsideError> {
    let name = name_of(interface)?;
    let mut clear = Command::new("/sbin/tc");
    clear.args(["qdisc", "del", "dev", &name, "root"]);
    // If there was no queueing discipline, there is nothing to delete.
    let _nothing_there = run(&mut clear, &interface.address);
    shape(&name, interface)
}

fn shape(name: &str, Interface { address, shape, .. }: &Interface) -> Result<(), InsideError> {
    for arguments in disciplines(name, shape) {
        let module = if arguments.iter().any(|word| word == "netem") { "netem" } else { "tbf" };
        load_modules_for(module)?;
        run(Command::new("/sbin/tc").args(&arguments), address)?;
    }
    Ok(())
}

/// The arguments for successive calls of `tc`.
fn disciplines(interface: &str, shape: &Shape) -> Vec<Vec<String>> {
    let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let mut asked = Vec::new();
    let mut parent = "root".to_owned();
    let Shape { rate_bits_per_s, delay_us, loss_ppm } = *shape;
    if delay_us > 0 || loss_ppm > 0 {
        let loss = f64::from(loss_ppm) / 1e4;
        asked.push(words(format!(
            "qdisc add dev {interface} {parent} handle 1: netem limit {WAITING_PACKETS} delay \
             {delay_us}us loss {loss}%"
        )));
        parent = "parent 1:1".to_owned();
    }
    if let Some(rate) = rate_bits_per_s {
        // 10 ms worth of data, so that the rate is reached even if timers are a few milliseconds
        // late.
        let bucket = (rate / 8 / 100).max(BUCKET_BYTES_MIN);
        asked.push(words(format!(
            "qdisc add dev {interface} {parent} handle 2: tbf rate {rate}bit burst {bucket}b limit \
             {WAITING_BYTES}b"
        )));
    }
    asked
}

/// The kernel's name for an interface.
fn name_of(Interface { ethernet, address, .. }: &Interface) -> Result<String, InsideError> {
    let entries = fs::read_dir(INTERFACES).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let found = names.find(|name| {
        let address = fs::read_to_string(format!("{INTERFACES}/{name}/address"));
        address.is_ok_and(|address| address.trim() == ethernet)
    });
    found.ok_or_else(|| InsideError::Link {
        address: address.clone(),
        why: format!("no interface has the Ethernet address {ethernet}"),
    })
}

fn run(command: &mut Command, address: &str) -> Result<(), InsideError> {
    let failed = |why: String| InsideError::Link { address: address.to_owned(), why };
    let output = command.env("PATH", "/sbin:/bin").output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_stands_before_a_rate() {
        let shape = Shape { rate_bits_per_s: Some(8_000_000), delay_us: 5000, loss_ppm: 1000 };
        let asked: Vec<String> =
            disciplines("eth0", &shape).iter().map(|words| words.join(" ")).collect();
        assert_eq!(
            asked,
            [
                "qdisc add dev eth0 root handle 1: netem limit 100000 delay 5000us loss 0.1%",
                "qdisc add dev eth0 parent 1:1 handle 2: tbf rate 8000000bit burst 10000b limit \
                 8388608b",
            ]
        );
        assert!(disciplines("eth0", &Shape::default()).is_empty());
    }
}
