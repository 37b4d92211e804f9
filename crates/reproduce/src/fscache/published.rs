//! The paper's numbers, exactly as in the message.

use crate::item::{Item, Printed};

/// A row of a table of times.
pub(super) struct Times {
    /// The state, by its name in targets.
    pub(super) state: &'static str,
    /// Time of each run in seconds.
    pub(super) seconds: &'static [f64],
    /// The average in the paper, in minutes with three decimals.
    pub(super) average_minutes: Option<f64>,
}

const fn times(
    state: &'static str,
    seconds: &'static [f64],
    average_minutes: Option<f64>,
) -> Times {
    Times { state, seconds, average_minutes }
}

/// The first benchmark: a file of 100 MB, read with cat.
pub(super) const FILE: [Times; 5] = [
    times("server", &[0.062], None),
    times("none", &[119.462, 119.948, 121.852], Some(2.007)),
    times("cold", &[118.448, 119.436, 125.746], Some(2.020)),
    times("hot", &[2.235, 2.154, 2.171], Some(0.036)),
    times("pgcache", &[0.040], None),
];

/// The second benchmark: a kernel tree of 256 MB, read with tar.
pub(super) const TREE: [Times; 5] = [
    times("server", &[0.348], None),
    times("none", &[455.335, 462.075, 452.797], Some(7.612)),
    times("cold", &[465.117, 474.774, 482.172], Some(7.900)),
    times("hot", &[434.970, 430.953, 436.390], Some(7.235)),
    times("pgcache", &[190.864], None),
];

/// A row of the table of RPCs, from the second benchmark's third run. The column headings are
/// missing in every copy of the message. The text mentions GETATTR, ACCESS and READDIRPLUS, the
/// last count drops to 0 together with the bytes read, and the second equals the number of
/// directories and files. So the columns are assumed to be GETATTR, ACCESS and READ.
pub(super) struct Calls {
    pub(super) state: &'static str,
    pub(super) getattr: f64,
    pub(super) access: f64,
    pub(super) read: f64,
    pub(super) read_bytes: f64,
}

/// The table of RPCs.
pub(super) const CALLS: [Calls; 3] = [
    calls("none", [22_371.0, 20_486.0, 21_402.0, 221_252_168.0]),
    calls("cold", [22_411.0, 20_486.0, 21_402.0, 221_252_168.0]),
    calls("hot", [22_495.0, 20_481.0, 0.0, 0.0]),
];

const fn calls(state: &'static str, [getattr, access, read, read_bytes]: [f64; 4]) -> Calls {
    Calls { state, getattr, access, read, read_bytes }
}

/// The mean in minutes.
pub(super) fn mean_minutes(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len().max(1) as f64 / 60.0
}

/// The averages and the rate in the paper, recomputed.
pub(super) fn recomputed() -> Vec<Item> {
    let of_table = |name: &'static str, rows: &[Times]| -> Vec<Item> {
        let item = |row: &Times| {
            let printed = Printed { value: row.average_minutes?, decimals: 3 };
            Some(Item::new(name, row.state, printed, mean_minutes(row.seconds)))
        };
        rows.iter().filter_map(item).collect()
    };
    let mut items = of_table("file, minutes", &FILE);
    items.extend(of_table("tree, minutes", &TREE));
    // Only with KB of 1024 bytes and megabits of 1024 * 1024 bits is 890 KB/s the printed number.
    let rate = 890.0 * 1024.0 * 8.0 / (1024.0 * 1024.0);
    let printed = Printed { value: 6.95, decimals: 2 };
    items.push(Item::new("link, Mbit/s", "of 890 KB/s", printed, rate));
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Agreement;

    #[test]
    fn the_papers_averages_are_right() {
        let items = recomputed();
        assert_eq!(items.len(), 7);
        for item in items {
            assert_eq!(item.agreement, Agreement::Same, "{item:?}");
        }
    }
}
