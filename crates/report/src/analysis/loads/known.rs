//! The loads that are known by name, each based on published descriptions, with what a program of
//! the same mix has confirmed or contradicted: the tables of docs/loads.md.

use super::mix::{Load, LoadOperation, MeasuredBy, Transfer, Validation};

/// Every known load.
#[must_use]
pub fn known_loads() -> Vec<Load> {
    vec![database(), mail(), build(), media(), web(), container()]
}

const KIB: u64 = 1024;

fn database() -> Load {
    Load {
        name: "database".to_owned(),
        title: "a database".to_owned(),
        unit: "ten page writes and their commit".to_owned(),
        source: "1.9 page reads per page write: Chen et al., \"TPC-E vs. TPC-C: Characterizing \
                 the New TPC-E Benchmark via an I/O Comparison Study\", SIGMOD Record 39(3), \
                 2010; ten stock pages are updated by an order of ten lines: TPC-C 5.11, clause \
                 2.4; pages of 8 KiB"
            .to_owned(),
        leaves_out: "writing pages back in the background, several clients at a time, reads that \
                     the database finds in its own memory"
            .to_owned(),
        must_last: true,
        operations: vec![
            transfer("reads", 19.0, Transfer::RandomReadCold, 8 * KIB),
            transfer("writes", 10.0, Transfer::RandomWriteClean, 8 * KIB),
            each("fsync", 1.0, "append-fsync-4k"),
        ],
        validation: Some(Validation {
            program: "sqlite3",
            confirmed: &[("xfs", "ext4"), ("ext4", "btrfs"), ("xfs", "btrfs")],
            contradicted: &[],
        }),
    }
}

fn mail() -> Load {
    Load {
        name: "mail".to_owned(),
        title: "a mail server".to_owned(),
        unit: "a message delivered, another read and appended to, another read, one deleted"
            .to_owned(),
        source: format!("{FILEBENCH}, personality varmail: files of 16 KiB, appends of 8 KiB"),
        leaves_out: "16 threads at a time, directories of a million names".to_owned(),
        must_last: true,
        operations: vec![
            each("deletes", 1.0, "unlink-100"),
            each("creates", 1.0, "create-100"),
            each("opens", 2.0, "open-close-100"),
            each("fsync", 2.0, "append-fsync-4k"),
            transfer("writes", 2.0, Transfer::SequentialWriteWarm, 4 * KIB),
            transfer("reads", 2.0, Transfer::SequentialReadWarm, 16 * KIB),
        ],
        validation: Some(Validation {
            program: "Python's mailbox.Maildir",
            confirmed: &[("xfs", "ext4"), ("ext4", "btrfs"), ("xfs", "btrfs")],
            contradicted: &[],
        }),
    }
}

fn build() -> Load {
    Load {
        name: "build".to_owned(),
        title: "building software".to_owned(),
        unit: "a tree of 70 sources copied, examined, read and compiled".to_owned(),
        source: "Howard et al., \"Scale and Performance in a Distributed File System\", ACM \
                 Transactions on Computer Systems 6(1), 1988, section 3 (the Andrew benchmark): 70 \
                 files of 200 KB together, 20 directories"
            .to_owned(),
        leaves_out: "the compiler's own time and temporary files, headers outside the tree, \
                     several compilers at a time"
            .to_owned(),
        must_last: false,
        operations: vec![
            each("mkdir", 20.0, "mkdir-100"),
            transfer("writes", 140.0, Transfer::NewFile, 3 * KIB),
            each("stat", 90.0, "stat-100"),
            each("readdir", 20.0, "readdir-100"),
            transfer("reads", 210.0, Transfer::ReadFile, 3 * KIB),
        ],
        validation: Some(Validation {
            program: "tar, find, grep and cp",
            confirmed: &[("ext4", "btrfs"), ("xfs", "btrfs")],
            contradicted: &[("xfs", "ext4")],
        }),
    }
}

fn media() -> Load {
    Load {
        name: "media".to_owned(),
        title: "a media server".to_owned(),
        unit: "1 MiB of a film".to_owned(),
        source: format!("{FILEBENCH}, personality videoserver: reads of 256 KiB in large files"),
        leaves_out: "48 readers at a time, films that are replaced meanwhile".to_owned(),
        must_last: false,
        operations: vec![transfer("reads", 4.0, Transfer::SequentialReadCold, 256 * KIB)],
        validation: Some(Validation {
            program: "dd",
            confirmed: &[],
            contradicted: &[("xfs", "btrfs")],
        }),
    }
}

fn web() -> Load {
    Load {
        name: "web".to_owned(),
        title: "a web server".to_owned(),
        unit: "ten pages and their line in the log".to_owned(),
        source: format!("{FILEBENCH}, personality webserver: files of 16 KiB in memory"),
        leaves_out: "100 threads at a time, pages that are not in memory".to_owned(),
        must_last: false,
        operations: vec![
            transfer("reads", 10.0, Transfer::ReadFile, 16 * KIB),
            transfer("writes", 1.0, Transfer::SequentialWriteWarm, 8 * KIB),
        ],
        validation: Some(Validation {
            program: "a server without a network, in C",
            confirmed: &[("ext4", "btrfs"), ("xfs", "btrfs")],
            contradicted: &[],
        }),
    }
}

fn container() -> Load {
    Load {
        name: "container".to_owned(),
        title: "starting containers".to_owned(),
        unit: "100 files of an image unpacked, and the share that a start reads".to_owned(),
        source:
            "files of 32 KiB: Zhao et al., \"Large-Scale Analysis of the Docker Hub Dataset\", \
                 IEEE Cluster 2019; 6.4 % are read: Harter et al., \"Slacker: Fast Distribution \
                 with Lazy Docker Containers\", USENIX FAST 2016"
                .to_owned(),
        leaves_out: "directories and owners, overlays, writing back in the background".to_owned(),
        must_last: false,
        operations: vec![
            transfer("writes", 100.0, Transfer::NewFile, 32 * KIB),
            each("opens", 6.4, "open-close-100"),
            transfer("reads", 6.4, Transfer::RandomReadCold, 32 * KIB),
        ],
        validation: Some(Validation {
            program: "tar and cat",
            confirmed: &[("ext4", "btrfs"), ("xfs", "btrfs")],
            contradicted: &[("xfs", "ext4")],
        }),
    }
}

const FILEBENCH: &str = "Tarasov, Zadok & Shepler, \"Filebench: A Flexible Framework for File \
                         System Benchmarking\", ;login: 41(1), 2016";

fn each(kind: &str, count: f64, benchmark: &str) -> LoadOperation {
    LoadOperation {
        kind: kind.to_owned(),
        count,
        measured: MeasuredBy::Benchmark(benchmark.to_owned()),
    }
}

fn transfer(kind: &str, count: f64, transfer: Transfer, bytes: u64) -> LoadOperation {
    LoadOperation { kind: kind.to_owned(), count, measured: MeasuredBy::Transfer(transfer, bytes) }
}
