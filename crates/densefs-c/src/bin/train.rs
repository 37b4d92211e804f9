//! Calls the functions of a `libdensefs.so` like a typical program. If the library was built for
//! profiling, the compiler learns from this which parts of its code belong together. Arguments: the
//! library, and a path for an arena, which is made and then removed.
//!
//! With `--preloaded PREFIX` in place of the library, it calls those of the C library, with paths
//! below the prefix: the library that is trained has been preloaded, and finds the arena there.
#![expect(unsafe_code, reason = "the functions are those that C calls")]

use std::env::args_os;
use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::{File, remove_file};
use std::mem::{self, MaybeUninit};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;

use densefs_process::{DenseFs, NewArena, make};

/// How many rounds there are, and with how many files.
const ROUNDS: usize = 16;
const FILES: usize = 64;
/// How often files are created and removed in a round.
const CHURNS: usize = 4;
const ARENA_BYTES: u64 = 64 << 20;
/// Two numbers in the superblock: see SPEC.md of the crate `densefs`.
const SECRETS: [u8; 16] = *b"0.577215664901 \n";
const SECRETS_AT: u64 = 24;
/// The size of a write, for most files; and for a large one, with the number of writes.
const PAGE: usize = 4096;
const PIECE: usize = 16 * PAGE;
const PIECES: usize = 32;

/// Declares functions of the library, and looks them up by name.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of the library.
        struct Library {
            /// How absolute paths begin.
            root: String,
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Library {
            /// The functions of which `find` gets the names, without `dfs_`.
            fn load(
                root: String,
                find: &dyn Fn(&str) -> Result<*mut c_void, String>,
            ) -> Result<Self, String> {
                Ok(Self {
                    root,
                    // SAFETY: the function has this type in include/densefs.h.
                    $($name: unsafe {
                        type Function = unsafe extern "C" fn($($argument),*) -> $result;
                        let found = find(stringify!($name))?;
                        mem::transmute::<*mut c_void, Function>(found)
                    },)*
                })
            }
        }
    };
}

functions! {
    access: fn(*const c_char, c_int) -> c_int;
    chdir: fn(*const c_char) -> c_int;
    chmod: fn(*const c_char, libc::mode_t) -> c_int;
    close: fn(c_int) -> c_int;
    closedir: fn(*mut c_void) -> c_int;
    fstat: fn(c_int, *mut libc::stat) -> c_int;
    fstatat: fn(c_int, *const c_char, *mut libc::stat, c_int) -> c_int;
    fsync: fn(c_int) -> c_int;
    ftruncate: fn(c_int, libc::off_t) -> c_int;
    link: fn(*const c_char, *const c_char) -> c_int;
    lseek: fn(c_int, libc::off_t, c_int) -> libc::off_t;
    lstat: fn(*const c_char, *mut libc::stat) -> c_int;
    mkdir: fn(*const c_char, libc::mode_t) -> c_int;
    open: fn(*const c_char, c_int, libc::mode_t) -> c_int;
    openat: fn(c_int, *const c_char, c_int, libc::mode_t) -> c_int;
    opendir: fn(*const c_char) -> *mut c_void;
    pread: fn(c_int, *mut c_void, usize, libc::off_t) -> isize;
    pwrite: fn(c_int, *const c_void, usize, libc::off_t) -> isize;
    read: fn(c_int, *mut c_void, usize) -> isize;
    readdir: fn(*mut c_void) -> *mut libc::dirent;
    readlink: fn(*const c_char, *mut c_char, usize) -> isize;
    rename: fn(*const c_char, *const c_char) -> c_int;
    rmdir: fn(*const c_char) -> c_int;
    stat: fn(*const c_char, *mut libc::stat) -> c_int;
    symlink: fn(*const c_char, *const c_char) -> c_int;
    unlink: fn(*const c_char) -> c_int;
    unlinkat: fn(c_int, *const c_char, c_int) -> c_int;
    utimensat: fn(c_int, *const c_char, *const libc::timespec, c_int) -> c_int;
    write: fn(c_int, *const c_void, usize) -> isize;
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let arena = *arguments.last().ok_or("give a library, and a path for an arena")?;
    let root = DenseFs::new_root(0o755);
    make(Path::new(arena), &NewArena { overwrites: true, ..NewArena::new(ARENA_BYTES, root) })?;
    // The same secrets each time, in place of random ones: then names have the same hashes, and the
    // same code gets the same profile.
    File::options().write(true).open(arena)?.write_all_at(&SECRETS, SECRETS_AT)?;
    let library = match arguments[..] {
        ["--preloaded", prefix, _] => preloaded(prefix),
        [library, _] => attached(&text(library), &text(arena)),
        _ => Err("give a library, and a path for an arena".to_owned()),
    };
    let trained = library.and_then(|library| library.train());
    remove_file(arena)?;
    trained.map_err(Into::into)
}

/// The functions of the C library, which a preloaded one stands before.
fn preloaded(prefix: &str) -> Result<Library, String> {
    Library::load(prefix.to_owned(), &|name| find(libc::RTLD_DEFAULT, name))
}

/// The functions of the library at this path, after attaching an arena.
fn attached(path: &CString, arena: &CString) -> Result<Library, String> {
    // SAFETY: the argument is a C string; the library is our own, and so is what it does when
    // loaded.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return Err(format!("{} cannot be loaded", path.to_string_lossy()));
    }
    let find = |name: &str| find(library, &format!("dfs_{name}"));
    // SAFETY: the function has this type in include/densefs.h, and the argument is a C string.
    let done = unsafe {
        type Attach = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
        mem::transmute::<*mut c_void, Attach>(find("attach")?)(arena.as_ptr(), 0)
    };
    must("attach", done)?;
    Library::load(String::new(), &find)
}

fn find(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    // SAFETY: the library is loaded, and the name is a C string.
    let found = unsafe { libc::dlsym(library, text(name).as_ptr()) };
    if found.is_null() { Err(format!("{name} is not there")) } else { Ok(found) }
}

impl Library {
    fn train(&self) -> Result<(), String> {
        let tree = format!("{}/tree", self.root);
        self.make_directory(&tree)?;
        self.make_directory(&format!("{tree}/deep"))?;
        for round in 0..ROUNDS {
            let directory = format!("{tree}/deep/round-{round}");
            self.make_directory(&directory)?;
            self.enter(&directory)?;
            for file in 0..FILES {
                self.create(&name(file), file % 4)?;
            }
            for file in 0..FILES {
                self.look(&name(file))?;
                self.read(&name(file))?;
                self.write_over(&name(file))?;
            }
            for file in (0..FILES).step_by(4) {
                self.look(&format!("{directory}/{}", name(file)))?;
                self.look(&format!("../round-{round}/{}", name(file)))?;
            }
            if !self.root.is_empty() {
                self.by_absolute_paths(&directory)?;
            }
            self.list(".")?;
            self.links_and_long_names()?;
            self.change(&directory)?;
            self.remove()?;
            for _ in 0..CHURNS {
                self.churn()?;
            }
            self.enter(&format!("{}/", self.root))?;
            // SAFETY: the argument is a C string.
            must("rmdir", unsafe { (self.rmdir)(text(&directory).as_ptr()) })?;
        }
        self.large(&format!("{tree}/large"))
    }

    /// Programs as they are mostly have absolute paths.
    fn by_absolute_paths(&self, directory: &str) -> Result<(), String> {
        for file in 0..FILES {
            let path = format!("{directory}/{}", name(file));
            self.look(&path)?;
            self.read(&path)?;
            let (new, newer) = (format!("{path}.new"), format!("{path}.newer"));
            self.create(&new, 0)?;
            let (new, newer) = (text(&new), text(&newer));
            // SAFETY: the arguments are C strings.
            unsafe {
                must("rename", (self.rename)(new.as_ptr(), newer.as_ptr()))?;
                must("unlink", (self.unlink)(newer.as_ptr()))?;
            }
        }
        Ok(())
    }

    fn open(&self, name: &str, how: c_int) -> Result<c_int, String> {
        // SAFETY: the argument is a C string.
        let file = unsafe { (self.open)(text(name).as_ptr(), how, 0o644) };
        must("open", file).map(|_| file)
    }

    fn close(&self, file: c_int) -> Result<(), String> {
        // SAFETY: the function has no preconditions.
        must("close", unsafe { (self.close)(file) }).map(drop)
    }

    fn make_directory(&self, name: &str) -> Result<(), String> {
        // SAFETY: the argument is a C string.
        must("mkdir", unsafe { (self.mkdir)(text(name).as_ptr(), 0o755) }).map(drop)
    }

    fn enter(&self, name: &str) -> Result<(), String> {
        // SAFETY: the argument is a C string.
        must("chdir", unsafe { (self.chdir)(text(name).as_ptr()) }).map(drop)
    }

    /// Creates a file that is empty, or has a few bytes, a page or several pages.
    fn create(&self, name: &str, kind: usize) -> Result<(), String> {
        let file = self.open(name, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC)?;
        let page = [1_u8; PAGE];
        let (times, bytes) = [(0, 0), (1, 100), (1, PAGE), (5, PAGE)][kind];
        for _ in 0..times {
            // SAFETY: the buffer has this many bytes.
            must("write", unsafe { (self.write)(file, page.as_ptr().cast(), bytes) as i64 })?;
        }
        let mut stat = MaybeUninit::uninit();
        // SAFETY: the result has room to be written.
        must("fstat", unsafe { (self.fstat)(file, stat.as_mut_ptr()) })?;
        self.close(file)
    }

    /// Looks files up before opening them, including one that does not exist.
    fn look(&self, name: &str) -> Result<(), String> {
        let (name, missing) = (text(name), text("missing.txt"));
        let mut stat = MaybeUninit::uninit();
        for _ in 0..4 {
            // SAFETY: a C string, and room for the result.
            must("stat", unsafe { (self.stat)(name.as_ptr(), stat.as_mut_ptr()) })?;
        }
        // SAFETY: C strings, and room for the results.
        unsafe {
            must("lstat", (self.lstat)(name.as_ptr(), stat.as_mut_ptr()))?;
            must("access", (self.access)(name.as_ptr(), libc::R_OK))?;
            match (self.stat)(missing.as_ptr(), stat.as_mut_ptr()) {
                -1 => Ok(()),
                _ => Err("stat found what is missing".to_owned()),
            }
        }
    }

    fn read(&self, name: &str) -> Result<(), String> {
        let file = self.open(name, libc::O_RDONLY)?;
        let mut page = [0_u8; PAGE];
        // SAFETY: the buffer has room for this many bytes.
        while must("read", unsafe { (self.read)(file, page.as_mut_ptr().cast(), PAGE) as i64 })? > 0
        {
        }
        // SAFETY: as above.
        must("pread", unsafe { (self.pread)(file, page.as_mut_ptr().cast(), PAGE, 0) as i64 })?;
        self.close(file)
    }

    fn write_over(&self, name: &str) -> Result<(), String> {
        let file = self.open(name, libc::O_RDWR)?;
        let page = [2_u8; PAGE];
        for _ in 0..2 {
            // SAFETY: the buffer has this many bytes.
            must("pwrite", unsafe { (self.pwrite)(file, page.as_ptr().cast(), PAGE, 0) as i64 })?;
        }
        // SAFETY: the function has no preconditions.
        must("lseek", unsafe { (self.lseek)(file, 10, libc::SEEK_SET) })?;
        // SAFETY: the buffer has this many bytes.
        must("write", unsafe { (self.write)(file, page.as_ptr().cast(), 10) as i64 })?;
        self.close(file)
    }

    /// What `ls -l` does.
    fn list(&self, name: &str) -> Result<(), String> {
        let (directory, held) = (text(name), self.open(name, libc::O_RDONLY | libc::O_DIRECTORY)?);
        let mut stat = MaybeUninit::uninit();
        // SAFETY: C strings, and room for the results; the listing is closed once.
        unsafe {
            let listing = (self.opendir)(directory.as_ptr());
            if listing.is_null() {
                return Err("opendir failed".to_owned());
            }
            while let Some(entry) = (self.readdir)(listing).as_ref() {
                must("fstatat", (self.fstatat)(held, entry.d_name.as_ptr(), stat.as_mut_ptr(), 0))?;
            }
            must("closedir", (self.closedir)(listing))?;
        }
        self.close(held)
    }

    fn links_and_long_names(&self) -> Result<(), String> {
        let long = "a name that is longer than what a cell has room for";
        self.create(long, 2)?;
        self.look(long)?;
        let (first, hard, soft) = (text(&name(0)), text("hard"), text("soft"));
        let mut target = [0; 64];
        // SAFETY: C strings, and buffers of this size.
        unsafe {
            must("link", (self.link)(first.as_ptr(), hard.as_ptr()))?;
            must("symlink", (self.symlink)(first.as_ptr(), soft.as_ptr()))?;
            must(
                "readlink",
                (self.readlink)(soft.as_ptr(), target.as_mut_ptr(), target.len()) as i64,
            )?;
        }
        for name in ["hard", "soft"] {
            self.look(name)?;
            self.read(name)?;
        }
        for name in [long, "hard", "soft"] {
            // SAFETY: the argument is a C string.
            must("unlink", unsafe { (self.unlink)(text(name).as_ptr()) })?;
        }
        Ok(())
    }

    /// What an archiver or an editor does with files.
    fn change(&self, directory: &str) -> Result<(), String> {
        let held = self.open(directory, libc::O_RDONLY | libc::O_DIRECTORY)?;
        for file in 0..FILES / 2 {
            let (old, new) = (text(&name(file)), text(&name(FILES + file)));
            // SAFETY: C strings; no times stand for the current one.
            unsafe {
                must("rename", (self.rename)(old.as_ptr(), new.as_ptr()))?;
                if file % 4 == 0 {
                    must(
                        "utimensat",
                        (self.utimensat)(libc::AT_FDCWD, new.as_ptr(), ptr::null(), 0),
                    )?;
                    must("chmod", (self.chmod)(new.as_ptr(), 0o600))?;
                    let opened = (self.openat)(held, new.as_ptr(), libc::O_RDWR, 0);
                    must("openat", opened)?;
                    must("ftruncate", (self.ftruncate)(opened, 50))?;
                    must("fsync", (self.fsync)(opened))?;
                    self.close(opened)?;
                }
                // Replaces an existing file.
                must("rename", (self.rename)(new.as_ptr(), old.as_ptr()))?;
            }
        }
        self.close(held)
    }

    fn remove(&self) -> Result<(), String> {
        let held = self.open(".", libc::O_RDONLY | libc::O_DIRECTORY)?;
        for file in 0..FILES {
            let name = text(&name(file));
            // SAFETY: the argument is a C string.
            unsafe {
                match file % 4 {
                    0 => must("unlinkat", (self.unlinkat)(held, name.as_ptr(), 0))?,
                    _ => must("unlink", (self.unlink)(name.as_ptr()))?,
                };
            }
        }
        self.close(held)
    }

    /// Creates and removes files and directories, like queues and builds.
    fn churn(&self) -> Result<(), String> {
        for file in 0..FILES {
            let opened = self.open(&name(file), libc::O_RDWR | libc::O_CREAT)?;
            self.close(opened)?;
        }
        for file in 0..FILES {
            let (old, new) = (text(&name(file)), text(&name(FILES + file)));
            // SAFETY: the arguments are C strings.
            unsafe {
                must("rename", (self.rename)(old.as_ptr(), new.as_ptr()))?;
                must("unlink", (self.unlink)(new.as_ptr()))?;
            }
        }
        for directory in 0..FILES / 4 {
            self.make_directory(&name(directory))?;
            // SAFETY: the argument is a C string.
            must("rmdir", unsafe { (self.rmdir)(text(&name(directory)).as_ptr()) })?;
        }
        Ok(())
    }

    fn large(&self, name: &str) -> Result<(), String> {
        let file = self.open(name, libc::O_RDWR | libc::O_CREAT)?;
        let mut piece = vec![3_u8; PIECE];
        for _ in 0..PIECES {
            // SAFETY: the buffer has this many bytes.
            must("write", unsafe { (self.write)(file, piece.as_ptr().cast(), PIECE) as i64 })?;
        }
        // SAFETY: the function has no preconditions.
        must("lseek", unsafe { (self.lseek)(file, 0, libc::SEEK_SET) })?;
        // SAFETY: the buffer has room for this many bytes.
        while must("read", unsafe { (self.read)(file, piece.as_mut_ptr().cast(), PIECE) as i64 })?
            > 0
        {}
        self.close(file)
    }
}

/// Names of 12 bytes, a common length.
fn name(file: usize) -> String {
    format!("file{file:04}.txt")
}

fn text(text: &str) -> CString {
    CString::new(text).expect("it has no zero")
}

/// Checks the result of a call, which must succeed.
fn must(call: &str, result: impl Into<i64>) -> Result<i64, String> {
    let result = result.into();
    if result < 0 {
        Err(format!("{call} failed: {}", std::io::Error::last_os_error()))
    } else {
        Ok(result)
    }
}
