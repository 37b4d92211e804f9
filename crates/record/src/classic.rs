//! What a run of a suite with options of its own was asked for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::applications::ApplicationsOptions;
use crate::job_file::JobFileOptions;
use crate::metric::{Better, MetricDefinition};
use crate::pollution::PollutionOptions;

/// A suite that has options of its own, with all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "benchmark", rename_all = "kebab-case")]
pub enum SuiteOptions {
    /// The Sprite LFS large-file benchmark.
    SpriteLfs(SpriteLfsRun),
    /// The array walk, in memory alone.
    ArrayWalk(ArrayWalkOptions),
    /// Bonnie: one file written, rewritten, read and sought in.
    Bonnie(BonnieRun),
    /// The tests that Bonnie++ added: files made, looked at and deleted.
    BonnieMetadata(BonnieMetadataOptions),
    /// Operations between rounds of code, and what they cost it.
    Pollution(PollutionOptions),
    /// Whole programs on a tree of files.
    Applications(ApplicationsOptions),
    /// The jobs of a job file of fio.
    JobFile(JobFileOptions),
}

/// What a processor counts in a phase by counters of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorCount {
    /// Bytes of the lines that L2 takes in, prefetched ones included.
    L2BytesIn,
    /// Bytes of the lines that leave L2 and were modified.
    L2BytesOut,
    /// Loads that are not aligned; on x86, those that touch two lines.
    MisalignedLoads,
    /// The same of stores.
    MisalignedStores,
}

impl ProcessorCount {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::L2BytesIn, Self::L2BytesOut, Self::MisalignedLoads, Self::MisalignedStores];

    /// The name of the metric that says it. Simulated caches have the same of what goes in and out.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            Self::L2BytesIn => "l2_bytes_in",
            Self::L2BytesOut => "l2_bytes_out",
            Self::MisalignedLoads => "misaligned_loads",
            Self::MisalignedStores => "misaligned_stores",
        }
    }

    /// The metric: lines of a cache are given in bytes.
    #[must_use]
    pub fn definition(self) -> MetricDefinition {
        let unit = if self.is_in_lines() { "bytes" } else { "accesses" };
        MetricDefinition::new(self.metric(), unit, Better::Lower)
    }

    /// What it is, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::L2BytesIn => "moved into L2",
            Self::L2BytesOut => "moved out of L2",
            Self::MisalignedLoads => "misaligned loads",
            Self::MisalignedStores => "misaligned stores",
        }
    }

    /// Whether it is counted in lines of a cache.
    #[must_use]
    pub const fn is_in_lines(self) -> bool {
        matches!(self, Self::L2BytesIn | Self::L2BytesOut)
    }
}

/// Bonnie, once or in several sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BonnieRun {
    /// How it is run; with several sizes, in the first of them.
    #[serde(flatten)]
    pub options: BonnieOptions,
    /// Sizes of the file besides that one, in bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_size_bytes: Vec<u64>,
}

impl BonnieRun {
    /// The options of each size, in ascending order.
    #[must_use]
    pub fn by_size(&self) -> Vec<BonnieOptions> {
        let of = |size_bytes| BonnieOptions { size_bytes, ..self.options.clone() };
        let sizes = [&[self.options.size_bytes], &self.further_size_bytes[..]].concat();
        ascending(&sizes).map(of).collect()
    }
}

impl From<BonnieOptions> for BonnieRun {
    fn from(options: BonnieOptions) -> Self {
        Self { options, further_size_bytes: Vec::new() }
    }
}

/// Sizes in ascending order, none twice.
fn ascending(sizes: &[u64]) -> impl Iterator<Item = u64> {
    sizes.iter().copied().collect::<BTreeSet<u64>>().into_iter()
}

/// How Bonnie is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BonnieOptions {
    /// Size of the file, in bytes; a multiple of the chunk.
    pub size_bytes: u64,
    /// What one read or write of a block moves, in bytes.
    pub chunk_bytes: u64,
    /// Number of random seeks, all seekers together.
    pub seeks: u32,
    /// Number of threads that seek.
    pub seekers: u32,
    /// Whether each phase syncs the file before it closes it, as Bonnie++ does and Bonnie does not.
    pub fsync: bool,
    /// Which of the phases that write comes after the characters. Absent where it is Bonnie's.
    #[serde(default, skip_serializing_if = "BonniePhaseOrder::is_bonnies")]
    pub phase_order: BonniePhaseOrder,
}

/// Which phases Bonnie has, and in which order its file is written by block and rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BonniePhaseOrder {
    /// Bonnie's: what was written per character is rewritten, then a new file written by block.
    #[default]
    #[serde(rename = "bonnie")]
    Bonnie,
    /// That of Bonnie++: a new file is written by block, and rewritten.
    #[serde(rename = "bonnie++")]
    BonniePlusPlus,
    /// The same without the phases per character, as with the option `-f` of Bonnie++.
    #[serde(rename = "bonnie++-f")]
    BonniePlusPlusByBlock,
}

impl BonniePhaseOrder {
    fn is_bonnies(&self) -> bool {
        *self == Self::Bonnie
    }
}

/// How the metadata tests of Bonnie++ are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BonnieMetadataOptions {
    /// Number of directories.
    pub directories: u32,
    /// Number of empty files in each.
    pub files_per_directory: u32,
}

/// How the array walk is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayWalkOptions {
    /// Sizes of the array, in bytes. Earlier versions recorded one, or null for a sweep of their
    /// own.
    #[serde(deserialize_with = "array_sizes")]
    pub array_bytes: Vec<u64>,
    /// What the processor counts in each walk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processor_counts: Vec<ProcessorCount>,
}

impl ArrayWalkOptions {
    /// Arrays of these sizes, in bytes, each once, and nothing besides.
    #[must_use]
    pub fn new(array_bytes: &[u64]) -> Self {
        let array_bytes = ascending(array_bytes).collect();
        Self { array_bytes, processor_counts: Vec::new() }
    }
}

/// What was swept when runs did not record it: powers of two from 16 KiB to 256 MiB.
const SWEPT_BEFORE: std::ops::RangeInclusive<u32> = 14..=28;

fn array_sizes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Recorded {
        All(Vec<u64>),
        One(u64),
        Swept,
    }
    Ok(match Recorded::deserialize(deserializer)? {
        Recorded::All(sizes) => sizes,
        Recorded::One(size) => vec![size],
        Recorded::Swept => SWEPT_BEFORE.map(|power| 1 << power).collect(),
    })
}

/// The Sprite LFS large-file benchmark, once or in several sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpriteLfsRun {
    /// How it is run; with several sizes, in the first of them.
    #[serde(flatten)]
    pub options: SpriteLfsOptions,
    /// Sizes of each file besides that one, in bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_file_bytes: Vec<u64>,
}

impl SpriteLfsRun {
    /// The options of each size, in ascending order.
    #[must_use]
    pub fn by_size(&self) -> Vec<SpriteLfsOptions> {
        let of = |file_bytes| SpriteLfsOptions { file_bytes, ..self.options.clone() };
        let sizes = [&[self.options.file_bytes], &self.further_file_bytes[..]].concat();
        ascending(&sizes).map(of).collect()
    }
}

impl From<SpriteLfsOptions> for SpriteLfsRun {
    fn from(options: SpriteLfsOptions) -> Self {
        Self { options, further_file_bytes: Vec::new() }
    }
}

/// How the Sprite LFS large-file benchmark is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpriteLfsOptions {
    /// Size of each file, in bytes.
    pub file_bytes: u64,
    /// Number of files; each phase works on all of them, in the same order.
    pub files: u32,
    /// Whether the first file is left out of every phase's figures.
    pub drop_first: bool,
    /// Whether the files exist beforehand, and are read before anything is written.
    pub pre_read: bool,
    /// How often each phase that reads is executed in succession.
    pub repeat_reads: u32,
    /// How often each phase that writes is executed in succession.
    pub repeat_writes: u32,
    /// Pause after each write, in nanoseconds; 0 for none.
    pub write_pause_ns: u64,
    /// Which of the two phases that write comes first.
    pub first_write: FirstWrite,
    /// Which files the second phase that writes works on, and all later ones read.
    #[serde(default, skip_serializing_if = "SecondWrite::is_usual")]
    pub second_write: SecondWrite,
    /// Where random reads and writes begin.
    pub alignment: RandomAlignment,
    /// Whether each operation of a sequential phase makes the calls of a random one as well.
    pub pad_calls: bool,
    /// What the processor counts in each phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processor_counts: Vec<ProcessorCount>,
}

impl SpriteLfsOptions {
    /// As the benchmark was in 2001: one file, and random operations that begin at any byte.
    #[must_use]
    pub fn published() -> Self {
        Self {
            file_bytes: 1 << 20,
            files: 1,
            drop_first: false,
            pre_read: false,
            repeat_reads: 1,
            repeat_writes: 1,
            write_pause_ns: 0,
            first_write: FirstWrite::Sequential,
            second_write: SecondWrite::SameFiles,
            alignment: RandomAlignment::Byte,
            pad_calls: false,
            processor_counts: Vec::new(),
        }
    }

    /// With all corrections: eleven files of which the first is dropped, which exist and have been
    /// read beforehand, random operations on pages, and the same calls in every phase.
    #[must_use]
    pub fn corrected() -> Self {
        Self {
            files: 11,
            drop_first: true,
            pre_read: true,
            alignment: RandomAlignment::Page,
            pad_calls: true,
            ..Self::published()
        }
    }
}

/// Which of the two phases that write comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWrite {
    /// The sequential one, as in the original.
    Sequential,
    /// The random one.
    Random,
}

/// Which files the second phase that writes works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SecondWrite {
    /// Those that were written first.
    #[default]
    SameFiles,
    /// New ones.
    NewFiles,
}

impl SecondWrite {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Where random reads and writes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RandomAlignment {
    /// At any byte.
    Byte,
    /// At the beginning of a page.
    Page,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_arrays_are_read_as_earlier_versions_recorded_them() {
        let sizes = |text: &str| {
            let options: ArrayWalkOptions = serde_json::from_str(text).expect("it is one");
            options.array_bytes
        };
        assert_eq!(sizes(r#"{"array_bytes":[4096,8192]}"#), [4096, 8192]);
        assert_eq!(sizes(r#"{"array_bytes":1048576}"#), [1 << 20]);
        let swept = sizes(r#"{"array_bytes":null}"#);
        assert_eq!((swept.len(), swept[0], swept[14]), (15, 16 << 10, 256 << 20));
        assert!(serde_json::from_str::<ArrayWalkOptions>(r#"{"array_bytes":"all"}"#).is_err());
    }

    #[test]
    fn one_size_of_files_is_recorded_as_before() {
        let options = SpriteLfsOptions::published();
        let one = SuiteOptions::SpriteLfs(options.clone().into());
        let mut before = serde_json::to_value(&options).expect("it can be written");
        before["benchmark"] = "sprite-lfs".into();
        assert_eq!(serde_json::to_value(&one).expect("it can be written"), before);
        assert_eq!(serde_json::from_value::<SuiteOptions>(before).expect("it can be read"), one);
        let several = SpriteLfsRun { options, further_file_bytes: vec![8192, 4096, 8192] };
        let sizes = several.by_size().into_iter().map(|one| one.file_bytes);
        assert_eq!(sizes.collect::<Vec<_>>(), [4096, 8192, 1 << 20]);
        let several = SuiteOptions::SpriteLfs(several);
        let text = serde_json::to_string(&several).expect("it can be written");
        assert_eq!(serde_json::from_str::<SuiteOptions>(&text).expect("it can be read"), several);
    }

    #[test]
    fn sizes_of_bonnie_come_back_as_they_were_recorded() {
        let options = BonnieOptions {
            size_bytes: 256 << 20,
            chunk_bytes: 16 << 10,
            seeks: 4000,
            seekers: 4,
            fsync: false,
            phase_order: BonniePhaseOrder::BonniePlusPlus,
        };
        for further_size_bytes in [vec![], vec![16 << 20, 1 << 30]] {
            let run = BonnieRun { options: options.clone(), further_size_bytes };
            let classic = SuiteOptions::Bonnie(run);
            let text = serde_json::to_string(&classic).expect("it can be written");
            let read = serde_json::from_str::<SuiteOptions>(&text).expect("it can be read");
            assert_eq!(read, classic);
        }
        let before = r#"{"benchmark":"bonnie","size_bytes":16384,"chunk_bytes":16384,"seeks":1,
            "seekers":1,"fsync":true}"#;
        let read = serde_json::from_str::<SuiteOptions>(before).expect("it can be read");
        let SuiteOptions::Bonnie(run) = read else { panic!("{read:?}") };
        assert_eq!(run.by_size().len(), 1);
    }

    #[test]
    fn bonnies_order_is_recorded_as_before_there_was_another() {
        let before =
            r#"{"size_bytes":16384,"chunk_bytes":16384,"seeks":1,"seekers":1,"fsync":true}"#;
        let mut options: BonnieOptions = serde_json::from_str(before).expect("it can be read");
        assert_eq!(options.phase_order, BonniePhaseOrder::Bonnie);
        assert_eq!(serde_json::to_string(&options).expect("it can be written"), before);
        for (phase_order, name) in [
            (BonniePhaseOrder::BonniePlusPlus, "bonnie++"),
            (BonniePhaseOrder::BonniePlusPlusByBlock, "bonnie++-f"),
        ] {
            options.phase_order = phase_order;
            let written = serde_json::to_value(&options).expect("it can be written");
            assert_eq!(written["phase_order"], name);
        }
    }

    #[test]
    fn sizes_of_arrays_are_in_order_and_each_once() {
        assert_eq!(ArrayWalkOptions::new(&[8, 4, 8]).array_bytes, [4, 8]);
    }
}
