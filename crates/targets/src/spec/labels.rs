//! Labels for directories that were given none.
//!
//! A path that ends in a name is its own label. `.`, `..` and the like say nothing to the reader of
//! a report, so such a directory is labelled with its name. If another target has that label too,
//! the names of directories above it are added until they can be told apart.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path};

use textual::plain_text;

use crate::spec::{Location, SpecError, TargetSpec};

/// The label for a target described by `text`, which starts with its path, if the path does not end
/// in a name.
pub(super) fn for_nameless(location: &Location, text: &str) -> Option<String> {
    let Location::Directory(path) = location else { return None };
    if path.file_name().is_some() {
        return None;
    }
    let options = text.strip_prefix(path.to_str()?)?;
    Some(format!("{}{options}", last_names(path, 1)?))
}

/// The last `count` names of a directory's path, without links and dots; `None` if there are fewer.
fn last_names(path: &Path, count: usize) -> Option<String> {
    let whole = fs::canonicalize(path).ok()?;
    let names: Vec<&OsStr> = whole
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect();
    let first = names.len().checked_sub(count)?;
    Some(names[first..].join(OsStr::new("/")).to_string_lossy().into_owned())
}

/// Gives different labels to targets that share one, if some of them are directories labelled with
/// their names. Two that are the same directory, or were given the same label, keep it.
pub fn tell_apart(specs: &mut [TargetSpec]) {
    let labels: BTreeSet<String> = specs.iter().map(|spec| spec.label.clone()).collect();
    for label in labels {
        let mut count = 2;
        while specs.iter().filter(|spec| spec.label == label).count() > 1 {
            let longer: Vec<Option<String>> = specs
                .iter()
                .map(|spec| if spec.label == label { with_names(spec, count) } else { None })
                .collect();
            if longer.iter().all(Option::is_none) {
                break;
            }
            let told = specs.iter().zip(&longer);
            let told = told.map(|(spec, longer)| longer.as_ref().unwrap_or(&spec.label));
            if told.collect::<HashSet<_>>().len() == specs.len() {
                for (spec, longer) in specs.iter_mut().zip(longer) {
                    spec.label = longer.unwrap_or_else(|| spec.label.clone());
                }
            }
            count += 1;
        }
    }
}

/// The label of a directory with the last `count` names of its path, if it is labelled with its
/// name.
fn with_names(spec: &TargetSpec, count: usize) -> Option<String> {
    let Location::Directory(path) = &spec.location else { return None };
    let options = spec.label.strip_prefix(&last_names(path, 1)?)?;
    let is_called_so = options.is_empty() || options.starts_with(':');
    let names = last_names(path, count).filter(|_| is_called_so)?;
    Some(format!("{names}{options}"))
}

/// Refuses a list in which two targets have the same label.
///
/// # Errors
/// [`SpecError::DuplicateLabel`] names the first label that is repeated.
pub fn refuse_duplicate_labels(specs: &[TargetSpec]) -> Result<(), SpecError> {
    let mut seen = HashSet::new();
    // Compare labels as readers see them: characters that no terminal shows do not count.
    match specs.iter().find(|spec| !seen.insert(plain_text(&spec.label))) {
        Some(spec) => Err(SpecError::DuplicateLabel {
            label: spec.label.clone(),
            target: spec.specification(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of targets, where `{}` stands for a directory that contains `a/data` and
    /// `b/data`.
    fn labels(texts: &[&str]) -> Vec<String> {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["a/data/x", "b/data/x", "ext4/x"] {
            fs::create_dir_all(place.path().join(name)).expect("it is ours");
        }
        let place = fs::canonicalize(place.path()).expect("it is there");
        let place = place.to_str().expect("plain text");
        let parse = |text: &&str| text.replace("{}", place).parse::<TargetSpec>().expect(text);
        let mut specs: Vec<TargetSpec> = texts.iter().map(parse).collect();
        tell_apart(&mut specs);
        specs.into_iter().map(|spec| spec.label.replace(place, "{}")).collect()
    }

    #[test]
    fn a_path_without_a_name_is_called_as_its_directory() {
        assert_eq!(labels(&["{}/b/data/../../a"]), ["{}/b/data/../../a"]);
        assert_eq!(labels(&["{}/a/data/.."]), ["a"]);
        assert_eq!(labels(&["{}/a/data/."]), ["{}/a/data/."]);
        assert_eq!(labels(&["{}/a/data/..:memory=64m"]), ["a:memory=64m"]);
        assert_eq!(labels(&["/", "mine=.", "{}/a"]), ["/", "mine", "{}/a"]);
        let here = std::env::current_dir().expect("it is there");
        let here = here.file_name().expect("no root").to_str().expect("plain text");
        assert_eq!(labels(&[".", "tmpfs"]), [here, "tmpfs"]);
    }

    #[test]
    fn equal_names_are_told_apart_by_what_is_above_them() {
        let [a, b] = ["{}/a/data/x/..", "{}/b/data/x/.."];
        assert_eq!(labels(&[a, b]), ["a/data", "b/data"]);
        assert_eq!(labels(&[a, "data=tmpfs", "{}/a"]), ["a/data", "data", "{}/a"]);
        let [directory, scratch] = &labels(&["{}/ext4/x/..", "ext4"])[..] else { panic!("two") };
        assert!(directory.ends_with("/ext4") && scratch == "ext4", "{directory}");
    }

    #[test]
    fn what_is_the_same_stays_so_and_is_refused() {
        for texts in [["{}/a/data/x/..", "{}/a/data/x/../x/.."], ["a=tmpfs", "a=ext4"]] {
            let labels = labels(&texts);
            assert_eq!(labels[0], labels[1]);
        }
        let specs = ["a=tmpfs", "a=ext4"].map(|text| text.parse::<TargetSpec>().expect(text));
        let refused = refuse_duplicate_labels(&specs).expect_err("one label").to_string();
        assert!(refused.contains("`other=ext4`"), "{refused}");
        let mut specs = ["tmpfs", "ext4"].map(|text| text.parse::<TargetSpec>().expect(text));
        for (spec, label) in specs.iter_mut().zip(["a b", "a\nb"]) {
            label.clone_into(&mut spec.label);
        }
        refuse_duplicate_labels(&specs).expect_err("readers see one label");
    }
}
