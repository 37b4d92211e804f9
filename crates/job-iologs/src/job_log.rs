//! Which log is a job's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The log that a job replays: `read_iolog` has one name, or several between colons, which clones
/// of a job take in turn. A colon after a backslash belongs to a name. None if there is no name.
///
/// `clone_index` is which clone of `numjobs` the job is, from 0.
#[must_use]
pub fn log_of_job(read_iolog: &OsStr, clone_index: usize) -> Option<OsString> {
    let mut names = names(read_iolog.as_bytes());
    let count = names.len();
    (count > 0).then(|| OsString::from_vec(names.swap_remove(clone_index % count)))
}

fn names(list: &[u8]) -> Vec<Vec<u8>> {
    let mut names = vec![Vec::new()];
    for &byte in list {
        let name = names.last_mut().expect("it begins with one and only grows");
        match (byte, name.last()) {
            (b':', Some(b'\\')) => {
                name.pop();
                name.push(b':');
            }
            (b':', Some(_)) => names.push(Vec::new()),
            (b':', None) => {}
            (other, _) => name.push(other),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::log_of_job;

    fn of(list: &str, clone_index: usize) -> Option<String> {
        log_of_job(OsStr::new(list), clone_index)
            .map(|name| name.into_string().expect("a test's name"))
    }

    #[test]
    fn clones_take_names_in_turn() {
        let list = r"n0.log:n1.log:n\:2.log";
        let taken: Vec<_> = (0..5).filter_map(|clone| of(list, clone)).collect();
        assert_eq!(taken, ["n0.log", "n1.log", "n:2.log", "n0.log", "n1.log"]);
    }

    #[test]
    fn colons_without_names_between_them_count_for_nothing() {
        let taken: Vec<_> = (0..3).filter_map(|clone| of(":n0.log::n1.log:", clone)).collect();
        assert_eq!(taken, ["n0.log", "n1.log", "n0.log"]);
        assert_eq!(of("", 0), None);
        assert_eq!(of("::", 3), None);
    }
}
