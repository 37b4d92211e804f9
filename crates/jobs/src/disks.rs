//! The devices below files, and what they did while jobs ran.
//!
//! Source: the kernel's `Documentation/block/stat.rst`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use job_results::{DiskFigures, DiskUtilization};

/// Devices that are watched.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    watched: BTreeMap<String, Watched>,
    order: Vec<String>,
}

#[derive(Debug)]
struct Watched {
    directory: PathBuf,
    slaves: Vec<String>,
    before: Counters,
    since: Instant,
}

type Counters = [u64; 11];

impl Disks {
    /// Watches the device below a file, or the one that its directory is on, and those that it is
    /// made of.
    pub(crate) fn watch(&mut self, file: &Path) {
        let Some(number) = device_of(file) else { return };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let Ok(mut directory) = fs::canonicalize(link) else { return };
        if directory.join("partition").exists() {
            directory.pop();
        }
        self.add(directory);
    }

    fn add(&mut self, directory: PathBuf) {
        let Some(name) = directory.file_name().map(|name| name.to_string_lossy().into_owned())
        else {
            return;
        };
        let Some(before) = counters(&directory) else { return };
        if self.watched.contains_key(&name) {
            return;
        }
        let slaves: Vec<PathBuf> = fs::read_dir(directory.join("slaves"))
            .map(|entries| {
                entries.flatten().filter_map(|one| fs::canonicalize(one.path()).ok()).collect()
            })
            .unwrap_or_default();
        let names = slaves.iter().filter_map(|one| one.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned()).collect();
        self.order.push(name.clone());
        let watched = Watched { directory, slaves: names, before, since: Instant::now() };
        self.watched.insert(name, watched);
        for slave in slaves {
            self.add(slave);
        }
    }

    /// What they did since.
    pub(crate) fn report(&self) -> Vec<DiskUtilization> {
        let figures = |name: &String| self.watched.get(name).map(Watched::figures);
        let of = |name: &String| {
            let watched = &self.watched[name];
            DiskUtilization {
                name: name.clone(),
                figures: watched.figures(),
                slaves: watched.slaves.iter().filter_map(figures).collect(),
            }
        };
        self.order.iter().map(of).collect()
    }
}

impl Watched {
    fn figures(&self) -> DiskFigures {
        let now = counters(&self.directory).unwrap_or(self.before);
        let since = |at: usize| now[at].saturating_sub(self.before[at]);
        DiskFigures {
            ios: [since(0), since(4)],
            merges: [since(1), since(5)],
            ticks_ms: [since(3), since(7)],
            busy_ms: since(9),
            in_queue_ms: since(10),
            watched_ms: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

fn device_of(file: &Path) -> Option<u64> {
    use std::os::unix::fs::FileTypeExt;
    match fs::metadata(file) {
        Ok(metadata) if metadata.file_type().is_block_device() => Some(metadata.rdev()),
        Ok(metadata) => Some(metadata.dev()),
        Err(_) => {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            fs::metadata(parent.unwrap_or(Path::new("."))).ok().map(|metadata| metadata.dev())
        }
    }
}

fn counters(directory: &Path) -> Option<Counters> {
    let text = fs::read_to_string(directory.join("stat")).ok()?;
    let mut counters = [0; 11];
    let mut words = text.split_whitespace();
    for counter in &mut counters {
        *counter = words.next()?.parse().ok()?;
    }
    Some(counters)
}
