//! Which arena is seen where.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::ExecError;

/// An arena, and the path below which a command sees what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    arena: PathBuf,
    prefix: PathBuf,
}

impl Place {
    /// Reads `ARENA:PREFIX`. Both become absolute paths without symbolic links.
    ///
    /// # Errors
    /// [`ExecError`] if it is not of this form, or if no program could use the two together.
    pub fn parse(text: &OsStr) -> Result<Self, ExecError> {
        let bytes = text.as_bytes();
        let colon = bytes.iter().rposition(|&byte| byte == b':').ok_or(ExecError::NoPrefix)?;
        let path = |bytes| PathBuf::from(OsStr::from_bytes(bytes));
        let (arena, prefix) = (path(&bytes[..colon]), path(&bytes[colon + 1..]));
        let prefix = normal(&prefix).ok_or(ExecError::NoPrefix)?;
        if colon == 0 {
            return Err(ExecError::NoPrefix);
        }
        let missing = |why| ExecError::NoArena { arena: arena.clone(), why };
        let arena = arena.canonicalize().map_err(missing)?;
        if arena.starts_with(&prefix) {
            return Err(ExecError::HidesArena { arena, prefix });
        }
        if let Some(real) = real(&prefix).filter(|real| *real != prefix) {
            return Err(ExecError::Indirect { prefix, real });
        }
        Ok(Self { arena, prefix })
    }

    /// The arena's file.
    #[must_use]
    pub fn arena(&self) -> &Path {
        &self.arena
    }

    /// The path below which commands see what is in it.
    #[must_use]
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// `ARENA:PREFIX`, in the form that the library reads: the prefix begins after the last colon.
    pub(crate) fn to_text(&self) -> OsString {
        let mut text = self.arena.as_os_str().as_bytes().to_vec();
        text.push(b':');
        text.extend_from_slice(self.prefix.as_os_str().as_bytes());
        OsString::from_vec(text)
    }
}

/// An absolute path other than the root, without what does not change its meaning.
fn normal(prefix: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component| matches!(part, Component::RootDir | Component::Normal(_));
    let is_fit = prefix.is_absolute() && prefix.parent().is_some();
    let normal: PathBuf = prefix.components().collect();
    (is_fit && prefix.components().all(is_plain)).then_some(normal)
}

/// Where a path leads, if that is known: what does not exist yet is in the directory that does.
fn real(prefix: &Path) -> Option<PathBuf> {
    match prefix.canonicalize() {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            Some(prefix.parent()?.canonicalize().ok()?.join(prefix.file_name()?))
        }
        found => found.ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_arena_and_a_prefix_are_read_from_behind() {
        let place = tempfile::tempdir().expect("there is room");
        let root = place.path().canonicalize().expect("it is there");
        std::fs::write(root.join("a:b"), "").expect("there is room");
        let parse = |arena: &str, prefix: &str| {
            Place::parse(format!("{}/{arena}:{prefix}", root.display()).as_ref())
        };
        let read = parse("a:b", "//new/./dense/").unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(read.arena(), root.join("a:b"));
        assert_eq!(read.prefix(), Path::new("/new/dense"));
        assert_eq!(read.to_text().to_string_lossy(), format!("{}/a:b:/new/dense", root.display()));
        for prefix in ["", "/", "//", "dense", "./dense", "/dense/..", "/../dense"] {
            let refused = parse("a:b", prefix).expect_err("it is no prefix");
            assert!(matches!(refused, ExecError::NoPrefix), "{prefix}: {refused}");
        }
        assert!(matches!(Place::parse("/dev/shm/a".as_ref()), Err(ExecError::NoPrefix)));
        let missing = parse("missing", "/new").expect_err("there is none");
        assert!(missing.to_string().contains("missing: No such file"), "{missing}");
    }

    #[test]
    fn a_prefix_is_where_its_path_says_and_not_around_the_arena() {
        let place = tempfile::tempdir().expect("there is room");
        let root = place.path().canonicalize().expect("it is there");
        let (arena, link) = (root.join("arena"), root.join("link"));
        std::fs::write(&arena, "").expect("there is room");
        symlink("/usr", &link).expect("there is room");
        let parse = |prefix: &Path| {
            let text = format!("{}:{}", arena.display(), prefix.display());
            Place::parse(text.as_ref()).expect_err("it is refused").to_string()
        };
        assert!(parse(&link).contains("name it /usr"), "{}", parse(&link));
        assert!(parse(&link.join("none")).contains("name it /usr/none"));
        for hiding in [&root, &arena] {
            assert!(parse(hiding).contains("would hide the arena"), "{}", parse(hiding));
        }
    }
}
