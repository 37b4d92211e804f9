//! Messages between host and guest: a four-byte length, little-endian, then JSON.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The name of the port that messages are sent over, on both sides.
pub(crate) const PORT: &str = "fsprism.control";
/// The file that tells a guest its part in the rig, as JSON.
pub(crate) const CONFIG: &str = "/job/rig.json";
/// The longest message.
pub(crate) const BYTES_MAX: usize = 16 << 20;

/// A guest's part of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuestConfig {
    /// Its role.
    pub(crate) role: String,
    /// Its network interfaces.
    pub(crate) interfaces: Vec<Interface>,
    /// Names of what is loaded first.
    pub(crate) load: Vec<String>,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interface {
    /// The Ethernet address, which identifies the interface.
    pub(crate) ethernet: String,
    /// The IP address that it gets; the netmask has 24 bits.
    pub(crate) address: String,
    /// How its outgoing traffic is shaped.
    pub(crate) shape: super::shape::Shape,
}

/// A message from the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order<Q> {
    /// Do this.
    Do(Q),
    /// Change how this end of a link shapes its outgoing traffic.
    Shape(Interface),
    /// Power off.
    PowerOff,
}

/// The first message from a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Its kernel's release, as printed by `uname -r`.
    pub kernel: String,
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).ok().filter(|_| text.len() <= BYTES_MAX);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&text)?;
    to.flush()
}

/// Reads a message.
pub(crate) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > BYTES_MAX {
        let why = format!("a message of {length} bytes is too long");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, &Order::Do("mount".to_owned())).unwrap();
        let read_back: Order<String> = read(&mut bytes.as_slice()).unwrap();
        assert_eq!(read_back, Order::Do("mount".to_owned()));
    }

    #[test]
    fn a_message_that_is_too_long_is_not_read() {
        let bytes = [0xff; 8];
        assert!(read::<String>(&mut bytes.as_slice()).is_err());
        assert!(read::<String>(&mut [4, 0, 0, 0, b'x'].as_slice()).is_err());
    }
}
