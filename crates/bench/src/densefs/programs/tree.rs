//! A tree of files like a program's sources, as an archive, and a C project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use workload::{FileSet, FileSetSpec, SourceTree};

/// Units of the C project that are compiled, and headers that each of them includes.
const UNITS: u32 = 48;
const HEADERS: u32 = 24;

/// Makes a tree with so many files, the same each time, and returns an archive of it, which is all
/// that stays. In it, the tree is `sources`.
pub(super) fn archive(work: &Path, files: u32) -> anyhow::Result<PathBuf> {
    let (made, archive) = (work.join("made"), work.join("tree.tar"));
    fs::create_dir(&made)?;
    let spec = FileSetSpec { sources: SourceTree { files }, ..FileSetSpec::default() };
    FileSet::create(&made, &spec, 1, &AtomicBool::new(false))?;
    let mut tar = Command::new("tar");
    tar.arg("cf").arg(&archive).arg("-C").arg(&made).arg("sources");
    anyhow::ensure!(tar.status()?.success(), "tar could not archive the tree");
    fs::remove_dir_all(&made)?;
    Ok(archive)
}

/// Makes a C project with a makefile.
pub(super) fn project(directory: &Path) -> anyhow::Result<()> {
    fs::create_dir(directory)?;
    for header in 0..HEADERS {
        let text = format!("static inline int h{header}(int x) {{ return x * {header} + 1; }}\n");
        fs::write(directory.join(format!("h{header}.h")), text)?;
    }
    for unit in 0..UNITS {
        let headers: String = (0..HEADERS).map(|h| format!("#include \"h{h}.h\"\n")).collect();
        let body: String = (0..HEADERS).map(|h| format!("    x = h{h}(x);\n")).collect();
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n{headers}int f{unit}(int x)\n{{\n{body}    \
             return x;\n}}\n"
        );
        fs::write(directory.join(format!("f{unit}.c")), text)?;
    }
    fs::write(directory.join("main.c"), "int main(void)\n{\n    return 0;\n}\n")?;
    let makefile = "objects = $(patsubst %.c,%.o,$(wildcard *.c))\n\
                    program: $(objects)\n\t$(CC) -o $@ $^\n\
                    %.o: %.c $(wildcard *.h)\n\t$(CC) -O1 -c -o $@ $<\n\
                    clean:\n\trm -f program $(objects)\n";
    Ok(fs::write(directory.join("Makefile"), makefile)?)
}
