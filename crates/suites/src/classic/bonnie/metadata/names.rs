//! File names as Bonnie++ makes them: a number of ten hexadecimal digits and up to twelve random
//! characters, which come after it for files in sequential order and before it for those in random
//! order.

use std::ffi::CString;

use rand::{Rng, RngExt};
use record::BonnieMetadataOptions;

/// The most random characters in a name.
const RANDOM_MAX: usize = 12;
/// The characters to choose from.
const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The order in which names sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOrder {
    /// In the order in which files are made.
    Sequential,
    /// In random order.
    Random,
}

/// The names of the directories. If there should be only one, there are none: files are at the top.
pub(super) fn directories(options: &BonnieMetadataOptions) -> Vec<CString> {
    let name = |number: u32| plain(format!("{number:05}"));
    if options.directories == 1 { Vec::new() } else { (0..options.directories).map(name).collect() }
}

/// The paths of all files, in the order in which they are made: directory by directory.
pub(super) fn files(
    options: &BonnieMetadataOptions,
    order: NameOrder,
    generator: &mut impl Rng,
) -> Vec<CString> {
    let all = options.directories * options.files_per_directory;
    let path = |number: u32| {
        let length = generator.random_range(0..=RANDOM_MAX);
        let character = |_| char::from(CHARACTERS[generator.random_range(0..CHARACTERS.len())]);
        let random: String = (0..length).map(character).collect();
        let name = match order {
            NameOrder::Sequential => format!("{number:010x}{random}"),
            NameOrder::Random => format!("{random}{number:010x}"),
        };
        if options.directories == 1 {
            return plain(name);
        }
        plain(format!("{:05}/{name}", number / options.files_per_directory))
    };
    (0..all).map(path).collect()
}

fn plain(name: String) -> CString {
    CString::new(name).expect("it has letters and digits alone")
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn names(options: &BonnieMetadataOptions, order: NameOrder) -> Vec<String> {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(7);
        let all = files(options, order, &mut generator).into_iter();
        all.map(|name| name.into_string().expect("it is text")).collect()
    }

    #[test]
    fn each_directory_has_its_files_and_each_name_its_number() {
        let options = BonnieMetadataOptions { directories: 3, files_per_directory: 16 };
        let sequential = names(&options, NameOrder::Sequential);
        assert_eq!(sequential.len(), 48);
        assert!(sequential[17].starts_with("00001/0000000011"), "{}", sequential[17]);
        assert!(sequential.is_sorted());
        let random = names(&options, NameOrder::Random);
        assert!(random[47].starts_with("00002/") && random[47].ends_with("000000002f"));
        assert!(!random.is_sorted());
        assert_eq!(directories(&options).len(), 3);
    }

    #[test]
    fn one_directory_is_none() {
        let options = BonnieMetadataOptions { directories: 1, files_per_directory: 4 };
        assert!(directories(&options).is_empty());
        assert!(names(&options, NameOrder::Sequential).iter().all(|name| !name.contains('/')));
    }
}
