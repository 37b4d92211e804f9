//! Disks, network interfaces and processors: `/proc/diskstats`, `/proc/net/dev`, `/proc/stat`.

use serde::{Deserialize, Serialize};

use super::text::{Unreadable, number, numbers};

const OF_DISKS: &str = "the counts of disks";
const OF_INTERFACES: &str = "the counts of network interfaces";
const OF_PROCESSORS: &str = "the times of processors";
/// Size of a sector in `/proc/diskstats`, whatever the disk's own sector size is.
const SECTOR_BYTES: u64 = 512;

/// I/O of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl DiskCounters {
    /// Parses a disk's line of `/proc/diskstats`; `None` if there is no such disk.
    ///
    /// # Errors
    /// If the text does not have the known format.
    pub fn parse(text: &str, disk: &str) -> Result<Option<Self>, Unreadable> {
        let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut of_disk = words.filter(|words| words.get(2) == Some(&disk));
        let Some(words) = of_disk.next() else { return Ok(None) };
        let [_, _, _, reads, _, read_sectors, _, writes, _, written_sectors, ..] = words[..] else {
            return Err(Unreadable::Missing { of: OF_DISKS, what: "all counts of a disk" });
        };
        let number = |word| number(OF_DISKS, word);
        let bytes = |word| Ok(number(word)?.saturating_mul(SECTOR_BYTES));
        Ok(Some(Self {
            reads: number(reads)?,
            read_bytes: bytes(read_sectors)?,
            writes: number(writes)?,
            written_bytes: bytes(written_sectors)?,
        }))
    }
}

/// Network traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Packets received.
    pub received_packets: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

impl NetworkCounters {
    /// Parses `/proc/net/dev`: the sum over all interfaces except loopback.
    ///
    /// # Errors
    /// If the text does not have the known format.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut sum = Self::default();
        for (name, words) in text.lines().skip(2).filter_map(|line| line.split_once(':')) {
            if name.trim() == "lo" {
                continue;
            }
            let numbers = numbers(OF_INTERFACES, words)?;
            let [received_bytes, received_packets, _, _, _, _, _, _, sent_bytes, sent_packets, ..] =
                numbers[..]
            else {
                let what = "all counts of an interface";
                return Err(Unreadable::Missing { of: OF_INTERFACES, what });
            };
            sum.received_packets = sum.received_packets.saturating_add(received_packets);
            sum.received_bytes = sum.received_bytes.saturating_add(received_bytes);
            sum.sent_packets = sum.sent_packets.saturating_add(sent_packets);
            sum.sent_bytes = sum.sent_bytes.saturating_add(sent_bytes);
        }
        Ok(sum)
    }
}

/// Time of all processors together, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorTime {
    /// Idle, or waiting for I/O.
    pub idle: u64,
    /// Total time.
    pub total: u64,
}

impl ProcessorTime {
    /// Parses `/proc/stat`.
    ///
    /// # Errors
    /// If the text does not have the known format.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let missing = Unreadable::Missing { of: OF_PROCESSORS, what: "the line of all" };
        let words = text.lines().find_map(|line| line.strip_prefix("cpu ")).ok_or(missing)?;
        let numbers = numbers(OF_PROCESSORS, words)?;
        let [_, _, _, idle, waiting, ..] = numbers[..] else {
            return Err(Unreadable::Missing { of: OF_PROCESSORS, what: "the time of waiting" });
        };
        // Guest time, in the last two columns, is already included in the first two.
        let total = numbers.iter().take(8).fold(0_u64, |sum, one| sum.saturating_add(*one));
        Ok(Self { idle: idle.saturating_add(waiting), total })
    }

    /// The share of idle time since `before`; `None` if no tick has passed.
    #[must_use]
    pub fn idle_share_since(self, before: Self) -> Option<f64> {
        let total = self.total.checked_sub(before.total).filter(|total| *total > 0)?;
        Some(self.idle.saturating_sub(before.idle) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DISKS: &str = "   8       0 sda 1 2 3 4 5 6 7 8 0 0 0 0 0 0 0 0 0\n \
         254       0 vda 100 1 800 50 20 3 160 70 0 60 120 0 0 0 0 2 1\n";
    const INTERFACES: &str = "Inter-|   Receive                            |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs\n\
             lo:     999       9    0    0    0     0          0         0   999       9    0\n\
           eth0: 1000 10 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n  eth1:5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n";
    const PROCESSORS: &str = "cpu  10 0 456 29 654 0 48 0 0 0\ncpu0 10 0 456 29 654 0 48 0 0 0\n";

    #[test]
    fn the_counts_of_a_kernel_are_read() {
        let disk = DiskCounters::parse(DISKS, "vda").unwrap().unwrap();
        let expected =
            DiskCounters { reads: 100, read_bytes: 409_600, writes: 20, written_bytes: 81_920 };
        assert_eq!(disk, expected);
        assert_eq!(DiskCounters::parse(DISKS, "vdb").unwrap(), None);
        let network = NetworkCounters::parse(INTERFACES).unwrap();
        assert_eq!((network.received_bytes, network.received_packets), (1005, 11));
        assert_eq!((network.sent_bytes, network.sent_packets), (207, 3));
        let time = ProcessorTime::parse(PROCESSORS).unwrap();
        assert_eq!(time, ProcessorTime { idle: 683, total: 1197 });
        let before = ProcessorTime { idle: 183, total: 197 };
        assert_eq!(time.idle_share_since(before), Some(0.5));
        assert_eq!(time.idle_share_since(time), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}") {
            let _read_or_refused = DiskCounters::parse(&text, "vda");
            let _read_or_refused = NetworkCounters::parse(&text);
            let _read_or_refused = ProcessorTime::parse(&text);
        }
    }
}
