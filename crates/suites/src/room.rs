//! Which places a target has no room for.
//!
//! A file system sets aside a number of inodes when it is made (ext4: one for every 16 KiB), so a
//! million files need more than their bytes.

use std::collections::{BTreeMap, BTreeSet};

use machine::target::Space;

use crate::place::Place;

/// What an entry takes besides its inode at most, copies and logs included.
const ENTRY_BYTES: u64 = 2048;
/// The part of what is free that places may take.
const SHARE: f64 = 0.9;
const GIB: u64 = 1 << 30;

/// What places take of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Need {
    bytes: u64,
    inodes: u64,
}

impl Need {
    fn of(place: Place, data_file_bytes: u64) -> Self {
        let entries = place.entries();
        Self { bytes: place.bytes(data_file_bytes) + entries * ENTRY_BYTES, inodes: entries }
    }

    fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, inodes: self.inodes + other.inodes }
    }

    /// How many times all that is usable it is.
    fn of_space(self, space: &Space) -> f64 {
        let share = |need: u64, free: u64| need as f64 / (free as f64 * SHARE).max(1.0);
        let inodes = space.free_inodes.map_or(0.0, |free| share(self.inodes, free));
        inodes.max(share(self.bytes, space.free_bytes))
    }
}

/// The places among `places` that do not fit beside the smaller ones, each with why.
pub(crate) fn too_large(
    places: BTreeSet<Place>,
    space: &Space,
    data_file_bytes: u64,
) -> BTreeMap<Place, String> {
    let mut by_need: Vec<(Need, Place)> =
        places.into_iter().map(|place| (Need::of(place, data_file_bytes), place)).collect();
    by_need.sort_by_key(|(need, _)| (need.bytes, need.inodes));
    let mut taken = Need::default();
    let mut refused = BTreeMap::new();
    for (need, place) in by_need {
        let with_it = taken.and(need);
        let times = with_it.of_space(space);
        if times <= 1.0 {
            taken = with_it;
        } else {
            refused.insert(place, why(need, space, times));
        }
    }
    refused
}

fn why(need: Need, space: &Space, times: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let wanted_gib = (space.total_bytes as f64 * times / GIB as f64).ceil() as u64;
    let is_of_inodes = Need { bytes: 0, ..need }.of_space(space) > 1.0
        || Need { inodes: 0, ..need }.of_space(space) < 1.0 && need.inodes > 0;
    match space.free_inodes {
        Some(free) if is_of_inodes => format!(
            "they are {} files beside those of the others, and it has room for {free}: more room, \
             such as size={wanted_gib}G, would do",
            need.inodes
        ),
        _ => format!(
            "they take {} MiB beside those of the others, and it has {} MiB: more room, such as \
             size={wanted_gib}G, would do",
            need.bytes >> 20,
            space.free_bytes >> 20
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{Directories, Files};

    fn directories(entries: u64) -> Place {
        Place::Directories(Directories::of(entries))
    }

    fn space(free_bytes: u64, free_inodes: Option<u64>) -> Space {
        Space { free_bytes, total_bytes: 2 * free_bytes, free_inodes }
    }

    #[test]
    fn the_largest_are_left_out_until_the_rest_fits() {
        let places = BTreeSet::from([1_000, 10_000, 100_000, 1_000_000].map(directories));
        let refused = |space| too_large(places.clone(), &space, 0);
        let roomy = space(100 << 30, Some(2_000_000));
        assert!(refused(roomy).is_empty());
        let of_inodes = refused(space(100 << 30, Some(200_000)));
        assert_eq!(of_inodes.keys().collect::<Vec<_>>(), [&directories(1_000_000)]);
        let why = &of_inodes[&directories(1_000_000)];
        assert!(why.contains("1000000 files") && why.contains("room for 200000"), "{why}");
        // 1,113,000 of 180,000 usable ones: 6.2 times the size of 200 GiB.
        assert!(why.contains("size=1237G"), "{why}");
        let of_bytes = refused(space(100 << 20, None));
        let expected = [&directories(100_000), &directories(1_000_000)];
        assert_eq!(of_bytes.keys().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn data_files_take_their_bytes() {
        let large = Place::Files(Files { count: 2, bytes: 1 << 30, are_written: false });
        let places = BTreeSet::from([Place::Data, large]);
        let refused = too_large(places, &space(1 << 30, Some(1000)), 64 << 20);
        assert_eq!(refused.keys().collect::<Vec<_>>(), [&large]);
        assert!(refused[&large].contains("they take 2048 MiB"), "{}", refused[&large]);
        assert!(refused[&large].contains("it has 1024 MiB"), "{}", refused[&large]);
    }
}
