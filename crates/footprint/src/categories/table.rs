//! The table of categories.

use std::collections::HashMap;

use super::OTHER;
use super::glob::matches;

/// fsprism's own table, for Linux 6.1 and similar versions.
const DEFAULT: &str = include_str!("../../assets/categories.txt");

/// Rules that give functions their categories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    rules: Vec<Rule>,
    /// The first rule of each pattern without wildcards.
    exact: HashMap<(Attribute, String), usize>,
    /// The other rules.
    globs: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    attribute: Attribute,
    pattern: String,
    /// `None` if the function belongs to its caller.
    category: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Attribute {
    Path,
    Symbol,
    Module,
}

/// What is known about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Its source file, relative to the source tree.
    pub file: Option<&'a str>,
    /// Its symbol.
    pub name: Option<&'a str>,
    /// Where it is: `vmlinux`, a module's name, or a path.
    pub object: Option<&'a str>,
}

/// Why a text is not a table of categories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CategoryError {
    /// A line is not a rule.
    #[error(
        "line {line} of the categories is not a rule: write `path`, `symbol` or `module`, a \
         pattern and a category, such as `path fs/ext4/* file system`"
    )]
    Rule {
        /// The line number, from 1.
        line: usize,
    },
}

impl Default for Categories {
    fn default() -> Self {
        Self::parse(DEFAULT).expect("the table brought along is one")
    }
}

impl Categories {
    /// Parses a table.
    ///
    /// # Errors
    ///
    /// A message about the first line that is not a rule.
    pub fn parse(text: &str) -> Result<Self, CategoryError> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let rule = |(index, line)| Rule::parse(line).ok_or(CategoryError::Rule { line: index + 1 });
        let rules: Vec<Rule> = lines.map(rule).collect::<Result<_, _>>()?;
        let (mut exact, mut globs) = (HashMap::new(), Vec::new());
        for (number, rule) in rules.iter().enumerate() {
            if rule.pattern.contains(['*', '?']) {
                globs.push(number);
            } else {
                exact.entry((rule.attribute, rule.pattern.clone())).or_insert(number);
            }
        }
        Ok(Self { rules, exact, globs })
    }

    /// A function's category; `None` if it belongs to its caller.
    #[must_use]
    pub fn category(&self, subject: Subject<'_>) -> Option<&str> {
        let exact = [Attribute::Path, Attribute::Symbol, Attribute::Module].into_iter().filter_map(
            |attribute| {
                let text = attribute.text(subject)?.to_owned();
                self.exact.get(&(attribute, text)).copied()
            },
        );
        let exact = exact.min().unwrap_or(self.rules.len());
        let mut earlier = self.globs.iter().copied().take_while(|&number| number < exact);
        let number = earlier.find(|&number| self.rules[number].matches(subject)).unwrap_or(exact);
        self.rules.get(number).map_or(Some(OTHER), |rule| rule.category.as_deref())
    }

    /// All categories in the rules, in the order of the table.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for name in self.rules.iter().filter_map(|rule| rule.category.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let (attribute, rest) = line.split_once(char::is_whitespace)?;
        let (pattern, category) = rest.trim_start().split_once(char::is_whitespace)?;
        let attribute = match attribute {
            "path" => Attribute::Path,
            "symbol" => Attribute::Symbol,
            "module" => Attribute::Module,
            _ => return None,
        };
        let category = category.trim();
        let category = (category != "-").then(|| category.to_owned());
        Some(Self { attribute, pattern: pattern.to_owned(), category })
    }

    fn matches(&self, subject: Subject<'_>) -> bool {
        self.attribute.text(subject).is_some_and(|text| matches(&self.pattern, text))
    }
}

impl Attribute {
    /// The text that rules of this kind match against.
    fn text(self, subject: Subject<'_>) -> Option<&str> {
        match (self, subject.file) {
            (Self::Path, file) => file,
            (Self::Symbol, None) => subject.name.map(without_suffix),
            (Self::Module, None) => subject.object,
            (_, Some(_)) => None,
        }
    }
}

/// Strips the suffixes that compilers append to parts and copies of functions: `.cold`, `.part.0`,
/// `.constprop.0`, `.isra.0`.
fn without_suffix(name: &str) -> &str {
    name.split_once('.').map(|(start, _)| start).filter(|start| !start.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# first wins\npath fs/ext4/inode.c  vfs\n\npath fs/ext4/* file system\n\
                         path include/* -\nsymbol ext4_* by name\nmodule ext4 by module\n";

    #[test]
    fn the_first_rule_wins_and_files_go_before_names() {
        let table = Categories::parse(TABLE).expect("a table");
        let of = |file, name, object| table.category(Subject { file, name, object });
        assert_eq!(of(Some("fs/ext4/inode.c"), None, None), Some("vfs"));
        assert_eq!(of(Some("fs/ext4/super.c"), Some("ext4_put"), None), Some("file system"));
        assert_eq!(of(Some("mm/slub.c"), Some("ext4_put"), Some("ext4")), Some(OTHER));
        assert_eq!(of(Some("include/linux/fs.h"), None, None), None);
        assert_eq!(of(None, Some("ext4_put"), Some("ext4")), Some("by name"));
        assert_eq!(of(None, Some("mb_find"), Some("ext4")), Some("by module"));
        assert_eq!(of(None, None, None), Some(OTHER));
        assert_eq!(table.names(), ["vfs", "file system", "by name", "by module"]);
    }

    #[test]
    fn what_is_no_rule_is_named() {
        let refused = Categories::parse("path a b\n\nfile a b\n").expect_err("no rule");
        assert_eq!(refused, CategoryError::Rule { line: 3 });
        assert!(Categories::parse("path a").is_err());
    }

    #[test]
    fn the_table_brought_along_knows_linux() {
        let table = Categories::default();
        let by_file = |file| table.category(Subject { file: Some(file), ..Subject::default() });
        assert_eq!(by_file("mm/slub.c"), Some("malloc"));
        assert_eq!(by_file("mm/slab.c"), Some("malloc"));
        assert_eq!(by_file("fs/file.c"), Some("vfs"));
        assert_eq!(by_file("mm/filemap.c"), Some("page cache"));
        assert_eq!(by_file("fs/xfs/xfs_inode.c"), Some("file system"));
        assert_eq!(by_file("fs/jbd2/commit.c"), Some("journal"));
        assert_eq!(by_file("mm/memcontrol.c"), Some("memcg"));
        let by_name = |name| table.category(Subject { name: Some(name), ..Subject::default() });
        assert_eq!(by_name("kmem_cache_alloc"), Some("malloc"));
        assert_eq!(by_name("_raw_spin_lock"), Some("locking"));
        assert_eq!(by_name("link_path_walk"), Some("vfs"));
        assert_eq!(by_name("entry_SYSCALL_64"), Some("entry"));
        assert_eq!(by_name("shmem_mknod"), Some("file system"));
        assert_eq!(by_name("memset_erms"), Some("string"));
        assert_eq!(by_name("do_nanosleep.constprop.0"), Some("time"));
    }
}
