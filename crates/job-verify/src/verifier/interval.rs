//! How far headers are from each other.

/// What `verify_interval` is, in a job with these blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalRule {
    /// `verify_interval`, or 0.
    pub given_bytes: u32,
    /// The smallest block that is written.
    pub write_bytes_min: u32,
    /// The largest block that is written.
    pub write_bytes_max: u32,
    /// The smallest block that is read, if the job reads.
    pub read_bytes_min: Option<u32>,
}

impl IntervalRule {
    /// Bytes from a header to the next: what is given, but no more than the smallest block, and a
    /// part of all of them.
    pub fn interval_bytes(&self) -> u32 {
        let (least, most) = (self.write_bytes_min, self.write_bytes_max);
        let mut interval = self.given_bytes;
        if interval == 0 && least != most {
            interval = least;
        }
        if interval > least {
            interval = least;
        } else if let Some(read) = self.read_bytes_min.filter(|read| interval > *read) {
            interval = read;
        }
        let is_part = |block: u32| block.checked_rem(interval) == Some(0);
        if is_part(least) && is_part(most) { interval } else { greatest_divisor(least, most) }
    }
}

/// The greatest common divisor: Euclid's algorithm.
fn greatest_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_parts_of_every_block() {
        let interval = |given_bytes, write_bytes_min, write_bytes_max, read_bytes_min| {
            let rule =
                IntervalRule { given_bytes, write_bytes_min, write_bytes_max, read_bytes_min };
            rule.interval_bytes()
        };
        assert_eq!(interval(0, 4096, 4096, None), 4096);
        assert_eq!(interval(512, 4096, 4096, None), 512);
        assert_eq!(interval(8192, 4096, 4096, None), 4096);
        assert_eq!(interval(0, 4096, 16384, None), 4096);
        assert_eq!(interval(0, 4096, 10240, None), 2048);
        assert_eq!(interval(1000, 4096, 4096, None), 4096);
        assert_eq!(interval(2048, 4096, 4096, Some(1024)), 1024);
        assert_eq!(interval(8192, 4096, 4096, Some(1024)), 4096);
    }
}
