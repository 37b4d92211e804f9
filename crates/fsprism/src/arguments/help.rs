//! What the help of commands contains beyond their options: default targets, and examples.

use ::report::known_loads;
use file_system::FileSystem;

/// What a survey measures by default: `tmpfs, ext4, xfs and btrfs`.
fn defaults() -> String {
    let names: Vec<String> = FileSystem::by_default().map(|one| one.name.to_owned()).collect();
    textual::list(&names, "and")
}

pub(crate) fn loads_help() -> String {
    let names: Vec<String> = known_loads().into_iter().map(|load| load.name).collect();
    format!(
        "Answer for these loads, and measure only what they take: {}, or your own in a file, \
         MIX.toml; by default for all that have a name",
        names.join(", ")
    )
}

pub(crate) fn targets_help() -> String {
    format!("What to measure; by default {} as root, otherwise . and /dev/shm", defaults())
}

pub(crate) fn examples() -> String {
    format!(
        "\
Examples:
  sudo fsprism survey                        {} side by side
  fsprism survey . /dev/shm                  two directories, without root
  fsprism report fsprism-runs/RUN            write its page, report.html, again
",
        defaults()
    )
}

pub(crate) fn survey_examples() -> String {
    let made: Vec<&str> = FileSystem::makeable().map(|one| one.row().name).collect();
    let targets = TARGETS.replace("FILE SYSTEMS", &made.join("  "));
    format!("{targets}\n{SURVEY_EXAMPLES}\n{EXIT_STATUS}")
}

pub(crate) fn run_examples() -> String {
    with_exit_status(RUN_EXAMPLES)
}

/// Examples, followed by what the exit status means.
pub(crate) fn with_exit_status(examples: &str) -> String {
    format!("{examples}\n{EXIT_STATUS}")
}

const TARGETS: &str = "\
Targets:
  PATH                                       a directory on a mounted file system
  FILE SYSTEMS
                                             a scratch file system, made and removed (root)
  LABEL=TARGET                               the same, under this label
  FS:size=4G,mkfs=-O ^has_journal,mount=noatime
                                             with this size (else 64 GiB, sparse; 2 GiB in memory)
                                             and these mkfs and mount options
  FS:image=allocated                         on an image written in full beforehand
  FS:memory=64m,read_bps=50m,write_bps=,read_iops=,write_iops=
                                             with memory and device limits
  FS:delay=2ms,delay_cache=64m               each request of its device takes that long, as on a
                                             disk (100us to 1s), and reads of the last 64 MiB it
                                             has used a tenth of it
  FS:read_ahead=64k                          with this kernel read-ahead (0 turns it off)
  FS:filled=50%                              filled to this share of its space (10% to 95%)
  FS:aged=5,fill=80%                         aged: filled, then deleted and rewritten in rounds
  FS:device=/dev/sdX                         on a device (needs --destroy-data /dev/sdX)
  densefs:door=preload                       reached as programs do, in run pollution
";

const SURVEY_EXAMPLES: &str = "\
Examples:
  sudo fsprism survey
  sudo fsprism survey ext4 xfs --budget 10m --precision 2%
  sudo fsprism survey ext4 xfs --for mail,database
  sudo fsprism survey plain=ext4 'lean=ext4:mkfs=-O ^has_journal,mount=noatime'
  sudo fsprism survey fast=ext4 slow=ext4:read_bps=20m
  fsprism survey . /dev/shm --budget 30s
  sudo fsprism survey ext4 xfs --runs 3      which differences hold from run to run
  sudo fsprism survey ext4 --plan-for 5%     how many runs it takes to see a change of 5 %
  fsprism survey --resume fsprism-runs/20260301T101500Z-survey
  fsprism survey --resume RUN --budget 10m   continues it for ten minutes
  sudo fsprism survey ext4 xfs --dry-run     what would be measured
";

const RUN_EXAMPLES: &str = "\
`fsprism run SUITE --help` describes what a suite takes.

Examples:
  fsprism run --list                         the suites and what their benchmarks isolate
  fsprism run --list --format json           the names of all benchmarks
  fsprism run nano/metadata . --budget 30s   in this directory, without root
  sudo fsprism run survey/metadata ext4 xfs  one dimension of the survey
  sudo fsprism run nano --benchmark 'append*,rename*' ext4 xfs
                                             only these benchmarks (* stands for any text)
  sudo fsprism run bonnie tmpfs ext4 --size 1g
                                             a classic benchmark
  fsprism run footprint ext4 --op create     cache lines that an operation touches
  fsprism run fscache                        NFS without its cache, with a cold one, a hot one
  fsprism run --resume fsprism-runs/20260301T101500Z-run
";

/// Examples for a suite that has no options of its own.
pub(crate) fn timed_examples(suite: &str, has_schedule: bool) -> String {
    let pair = |command: String, what: &str| format!("  {command:<41}  {what}\n");
    let mut text = format!(
        "Targets are those of survey: `fsprism survey --help` describes them.\n\nExamples:\n{}{}",
        pair(format!("sudo fsprism run {suite} ext4 xfs"), "side by side"),
        pair(format!("fsprism run {suite} . --budget 30s"), "in this directory, without root"),
    );
    if has_schedule {
        text += &pair(
            format!("sudo fsprism run {suite} ext4 --rate 2000"),
            "latencies of operations started 2,000 a second",
        );
    }
    text + &pair(format!("fsprism run {suite} --list"), "its benchmarks")
}

pub(crate) const CUSTOM_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  fsprism run custom . --rw randread --bs 4k --threads 8 --replicate 1s
                                             random reads by eight threads
  sudo fsprism run custom ext4 xfs --rw randwrite --direct --depth 32
                                             random writes past the page cache, 32 in flight
  fsprism run custom . --rw read --state cold
                                             sequential reads of a file that is not in memory
";

pub(crate) const SPRITE_LFS_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism run sprite-lfs tmpfs ext4     the Sprite LFS large-file benchmark, as published
  sudo fsprism run sprite-lfs tmpfs ext4 --variant corrected
                                             with the corrections, in sizes around the caches
  sudo fsprism run sprite-lfs tmpfs ext4 --variant corrected --file-size 128k
                                             the same on files of one size
  sudo fsprism run sprite-lfs tmpfs --cache-traffic --cache l1d=32k,64,8 --cache l2=1m,64,16
                                             also what each phase moves through these caches
";

pub(crate) const ARRAY_WALK_EXAMPLES: &str = "\
Memory alone is measured, so no target is named.

Examples:
  fsprism run array-walk                     arrays on both sides of each cache of this machine
  fsprism run array-walk --size 1m           an array in memory written, read and read again
";

pub(crate) const POLLUTION_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism run pollution tmpfs xfs densefs
                                             how much stat, create and read slow down the code
                                             around them
  fsprism run pollution densefs densefs:door=preload --op create
                                             DenseFS by calls of its library, and as programs call
                                             it, by fsprism densefs exec
  fsprism run pollution . --op rename --code 32k --data 4k..256k
                                             the same for rename here, by the size of the data
";

pub(crate) const APPLICATIONS_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism run applications tmpfs ext4 xfs densefs
                                             grep, find, tar and git status on a tree of sources
  sudo fsprism run applications tmpfs densefs:size=4G --program grep --files 242272
                                             the tree of the DenseFS paper
  fsprism run applications . --program find,git-status
                                             programs in a directory
";

pub(crate) const BONNIE_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism run bonnie tmpfs ext4 --size 1g
                                             a file by character, by block, at random
  sudo fsprism run bonnie ext4:memory=64m --size around-memory
                                             far below and far above the memory that caches it
  sudo fsprism run bonnie ext4 --fsync --phase-order bonnie++
                                             as Bonnie++ does it
";

pub(crate) const BONNIE_ANOVA_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism reproduce bonnie-anova        on the paper's file systems, beside its numbers
  sudo fsprism run bonnie-anova ext4 xfs     on others
";

pub(crate) const BONNIE_METADATA_EXAMPLES: &str = "\
Targets are those of survey: `fsprism survey --help` describes them.

Examples:
  sudo fsprism run bonnie-metadata tmpfs ext4
                                             the tests of files that Bonnie++ added
  sudo fsprism run bonnie-metadata xfs --dirs 64 --files 256
                                             more files in fewer directories
";

pub(crate) const FOOTPRINT_EXAMPLES: &str = "\
Targets are made in a guest (run fsprism lab build once to get one), each in its own boot.

Examples:
  fsprism run footprint ext4 --op create     cache lines that an operation touches
  fsprism run footprint tmpfs ext4 xfs       all operations, on three file systems
  fsprism run footprint ext4 --cold --cache l1d=32k,64,8 --cache l2=1m,64,16
                                             with cold kernel caches; misses in these caches
";

pub(crate) const FSCACHE_EXAMPLES: &str = "\
Server and client are guests (run fsprism lab build once to get a kernel), except with --at.

Examples:
  fsprism run fscache                        NFS without its cache, with a cold one, a hot one
  fsprism run fscache --link 100mbit,delay=5ms --nfs 4.2,3 --cache-fs ext4,xfs
                                             over another link, in other configurations
  fsprism run fscache --break-even           up to which link rate a cache pays, by size of files
  sudo fsprism run fscache --at /mnt/nfs     on a mount of your own
";

const EXIT_STATUS: &str = "\
Exit status: 0 success; 1 a measurement or check failed; 2 invalid command line or input;
130 interrupted (what was measured is kept).
";

pub(crate) const JOB_FILE_EXAMPLES: &str = "\
Examples:
  fsprism run job.fio ext4 xfs              every job of the file on both, with intervals
  fsprism run job.fio ext4 xfs --runtime 5  jobs that last 5 seconds, whatever the file says
  fsprism run fio --job-file job.fio --section random-reads /mnt/data
  fsprism fio job.fio                       once, as fio does it
";

pub(crate) const FIO_EXAMPLES: &str = "\
Examples:
  fsprism fio job.fio                                     as fio would
  fsprism fio job.fio --output-format=json+ --output=job.json
  fsprism fio --name=x --rw=randread --size=1g --runtime=10 --time_based
  fsprism fio --cmdhelp=rw                                what values an option has
";

pub(crate) const RUNS_EXAMPLES: &str = "\
Examples:
  fsprism runs                               those in fsprism-runs
  fsprism runs /srv/runs --format json       those in another directory, for programs
";

pub(crate) const MACHINE_EXAMPLES: &str = "\
Examples:
  fsprism machine                            processor, memory, kernel, storage, file systems
  fsprism machine /srv --format json         also the storage of /srv, for programs
";

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  . <(fsprism completions bash)              for this shell
  fsprism completions zsh > ~/.zfunc/_fsprism
  fsprism completions fish > ~/.config/fish/completions/fsprism.fish
";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  fsprism man | man -l -                     fsprism and its commands
  fsprism man footprint trace | man -l -     one command
  fsprism man survey > fsprism-survey.1      a file to install
  fsprism man --directory man1               all pages, as such files
";

#[cfg(test)]
mod tests {
    use super::*;

    /// A short budget must not leave out the benchmarks that estimates of loads depend on.
    #[test]
    fn a_survey_measures_first_what_loads_take() {
        let survey = suites::suite("survey").expect("it is declared");
        let rank_of = |name: &str| {
            let found = survey.benchmarks.iter().find(|one| one.name == name);
            found.unwrap_or_else(|| panic!("a survey has no {name}")).rank
        };
        let last = survey.benchmarks.iter().map(|one| one.rank).max().unwrap_or(0);
        for load in known_loads() {
            for name in load.benchmarks() {
                assert!(rank_of(name) * 2 < last, "{name}, of {}", load.title);
            }
        }
    }
}
