//! A tree of files like a program's sources, and a C project, the same each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many files a directory has, and how many directories.
const FILES_PER_DIRECTORY: u32 = 16;
const DIRECTORIES_PER_DIRECTORY: u32 = 12;
/// Sizes are from `SMALLEST_BYTES` to 2^`DOUBLINGS` times that, evenly in the logarithm: 1.5 KiB in
/// the middle and 3,100 bytes on average.
const SMALLEST_BYTES: f64 = 156.0;
const DOUBLINGS: f64 = 6.5;
/// Lines that the files consist of.
const LINES: usize = 1000;
/// One line in so many has the word that is searched for.
const SEARCHED_EVERY: usize = 500;
pub(super) const SEARCHED: &str = "EXPORT_SYMBOL_GPL";
const WORDS: [&str; 16] = [
    "struct", "static", "return", "device", "buffer", "length", "if", "else", "unsigned", "int",
    "pointer", "register", "lock", "error", "->next", "flags",
];
/// Units of the C project that are compiled, and headers that each of them includes.
const UNITS: u32 = 48;
const HEADERS: u32 = 24;

/// Makes a tree with so many files, and returns an archive of it, which is all that stays.
pub(super) fn archive(work: &Path, files: u32) -> anyhow::Result<PathBuf> {
    let (tree, archive) = (work.join("tree"), work.join("tree.tar"));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let lines: Vec<String> = (0..LINES).map(|number| line(number, &mut random)).collect();
    for number in 0..files {
        let directory = tree.join(directory(number / FILES_PER_DIRECTORY));
        if number.is_multiple_of(FILES_PER_DIRECTORY) {
            fs::create_dir_all(&directory)?;
        }
        let ending = ["c", "c", "h", "rst"][number as usize % 4];
        let name = format!("{}_{number:06x}.{ending}", WORDS[number as usize % 8]);
        fs::write(directory.join(name), text(&lines, &mut random))?;
    }
    let mut tar = Command::new("tar");
    tar.arg("cf").arg(&archive).arg("-C").arg(work).arg("tree");
    anyhow::ensure!(tar.status()?.success(), "tar could not archive the tree");
    fs::remove_dir_all(&tree)?;
    Ok(archive)
}

fn line(number: usize, random: &mut Xoshiro256PlusPlus) -> String {
    if number.is_multiple_of(SEARCHED_EVERY) {
        return format!("{SEARCHED}(symbol_{number});\n");
    }
    let words: Vec<&str> = (0..random.random_range(1..8))
        .map(|_| WORDS[random.random_range(0..WORDS.len())])
        .collect();
    format!("\t{}_{number}({});\n", words[0], words.join(" "))
}

fn text(lines: &[String], random: &mut Xoshiro256PlusPlus) -> String {
    let bytes = SMALLEST_BYTES * random.random_range(0.0..DOUBLINGS).exp2();
    let mut text = String::new();
    while (text.len() as f64) < bytes {
        text.push_str(&lines[random.random_range(0..lines.len())]);
    }
    text
}

/// The path of a directory: below number 0 are numbers 1 to 12, below number 1 the next twelve, and
/// so on.
fn directory(number: u32) -> PathBuf {
    if number == 0 {
        return PathBuf::new();
    }
    let above = (number - 1) / DIRECTORIES_PER_DIRECTORY;
    directory(above).join(format!("part{:02}", (number - 1) % DIRECTORIES_PER_DIRECTORY))
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
