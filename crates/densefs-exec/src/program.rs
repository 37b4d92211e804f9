//! Finds a command's program, as execvp(3) does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use crate::ExecError;

/// Where programs are if `PATH` is not set.
const PATH_UNSET: &str = "/bin:/usr/bin";

/// The program that a command names: a path if there is a slash in it, or else a name along `PATH`.
pub(crate) fn find(name: &OsStr) -> Result<PathBuf, ExecError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from(PATH_UNSET));
    find_along(name, &path).map_err(|why| ExecError::NotRun { name: name.to_owned(), why })
}

fn find_along(name: &OsStr, path: &OsStr) -> io::Result<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        let program = PathBuf::from(name);
        return is_executable(&program).map(|()| program);
    }
    let mut why = Errno::NOENT;
    if !name.is_empty() {
        for directory in std::env::split_paths(path) {
            // An empty one is the working directory.
            let program = Path::new(".").join(directory).join(name);
            match is_executable(&program) {
                Ok(()) => return Ok(program),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    why = Errno::ACCESS;
                }
                Err(_) => {}
            }
        }
    }
    Err(why.into())
}

/// Whether this process may execute a file.
fn is_executable(program: &Path) -> io::Result<()> {
    if std::fs::metadata(program)?.is_dir() {
        return Err(Errno::ACCESS.into());
    }
    Ok(accessat(CWD, program, Access::EXEC_OK, AtFlags::EACCESS)?)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_along_the_path_if_they_may_be_executed() {
        let place = tempfile::tempdir().expect("there is room");
        let [first, second] = ["first", "second"].map(|name| place.path().join(name));
        let make = |directory: &Path, name: &str, mode: u32| {
            fs::create_dir_all(directory).expect("the place is ours");
            let program = directory.join(name);
            fs::write(&program, "").expect("there is room");
            fs::set_permissions(&program, Permissions::from_mode(mode)).expect("it is ours");
            program
        };
        let text = make(&first, "both", 0o644);
        let program = make(&second, "both", 0o755);
        make(&first, "text", 0o644);
        fs::create_dir(second.join("directory")).expect("the place is ours");
        let path = std::env::join_paths([&first, &second]).expect("plain names");
        let found = |name: &OsStr| find_along(name, &path).map_err(|why| why.kind());
        assert_eq!(found("both".as_ref()), Ok(program.clone()));
        assert_eq!(found(program.as_ref()), Ok(program));
        let (missing, closed) = (io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied);
        assert_eq!(found(text.as_ref()), Err(closed));
        assert_eq!(found("text".as_ref()), Err(closed));
        assert_eq!(found("directory".as_ref()), Err(closed));
        assert_eq!(found("missing".as_ref()), Err(missing));
        assert_eq!(found("".as_ref()), Err(missing));
        assert_eq!(found("./missing".as_ref()), Err(missing));
    }
}
