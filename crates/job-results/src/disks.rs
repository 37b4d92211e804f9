//! What devices below the files did meanwhile.

/// What a device did, as the kernel counts it in `/sys/block/NAME/stat`: read, then written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskFigures {
    /// Requests.
    pub ios: [u64; 2],
    /// Requests that were merged into others.
    pub merges: [u64; 2],
    /// Milliseconds that requests took, all added.
    pub ticks_ms: [u64; 2],
    /// Milliseconds during which the device was busy.
    pub busy_ms: u64,
    /// Milliseconds that requests were in the queue, all added.
    pub in_queue_ms: u64,
    /// How long the device was watched.
    pub watched_ms: u64,
}

impl DiskFigures {
    /// The share of the time that the device was busy, in percent.
    pub fn utilization(&self) -> f64 {
        if self.watched_ms == 0 {
            return 0.0;
        }
        (100.0 * self.busy_ms as f64 / self.watched_ms as f64).min(100.0)
    }
}

/// A device, and those that it is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskUtilization {
    /// The device's name.
    pub name: String,
    /// What it did.
    pub figures: DiskFigures,
    /// What the devices did that it is made of. Those are in the report's list as well.
    pub slaves: Vec<DiskFigures>,
}

impl DiskUtilization {
    /// The means over the devices that it is made of, with the largest utilization among them.
    pub fn aggregate(&self) -> Option<(DiskFigures, f64)> {
        let count = u64::try_from(self.slaves.len()).ok().filter(|count| *count > 0)?;
        let mean = |figure: &dyn Fn(&DiskFigures) -> u64| {
            self.slaves.iter().map(figure).sum::<u64>() / count
        };
        let pair = |figure: &dyn Fn(&DiskFigures) -> [u64; 2]| {
            [mean(&|slave| figure(slave)[0]), mean(&|slave| figure(slave)[1])]
        };
        let figures = DiskFigures {
            ios: pair(&|slave| slave.ios),
            merges: pair(&|slave| slave.merges),
            ticks_ms: pair(&|slave| slave.ticks_ms),
            busy_ms: mean(&|slave| slave.busy_ms),
            in_queue_ms: mean(&|slave| slave.in_queue_ms),
            watched_ms: mean(&|slave| slave.watched_ms),
        };
        let largest = self.slaves.iter().map(DiskFigures::utilization).fold(0.0, f64::max);
        Some((figures, largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_others_has_their_means() {
        let slave = |ios, busy_ms| DiskFigures {
            ios: [ios, 1],
            busy_ms,
            watched_ms: 100,
            ..DiskFigures::default()
        };
        let mut raid = DiskUtilization::default();
        assert_eq!(raid.aggregate(), None);
        raid.slaves = vec![slave(10, 50), slave(21, 120)];
        let (figures, largest) = raid.aggregate().unwrap();
        assert_eq!((figures.ios, largest), ([15, 1], 100.0));
    }
}
