//! What is written.

use job_files::pattern::{self, Pattern};

use super::given::Values;

/// What buffers hold when they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct BuffersPlan {
    /// Zeros.
    pub zeros: bool,
    /// Filled anew for each write.
    pub refills: bool,
    /// Changed a little for each write.
    pub scrambles: bool,
    /// How many percent of a block compress away.
    pub compress_percent: u32,
    /// In pieces of so many bytes.
    pub compress_chunk: u64,
    /// What is repeated instead of random bytes.
    pub pattern: Option<Vec<u8>>,
    /// How many percent of blocks are copies.
    pub dedupe_percent: u32,
    /// Of which blocks.
    pub dedupe: DedupeMode,
    /// What each buffer's address is increased by, after a page.
    pub align: u64,
}

/// Which blocks copies are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DedupeMode {
    /// The last one.
    #[default]
    Repeat,
    /// One of a working set: so many percent of all.
    WorkingSet(u32),
}

impl BuffersPlan {
    pub(super) fn read(given: Values<'_>, reads: bool) -> Result<Self, (&'static str, String)> {
        let pattern = match given.text("buffer_pattern") {
            None => None,
            Some(text) => match pattern::parse(text).map_err(|why| ("buffer_pattern", why))? {
                Pattern { bytes, offsets } if offsets.is_empty() => Some(bytes),
                Pattern { .. } => {
                    let why = "%o is for verify_pattern alone".to_owned();
                    return Err(("buffer_pattern", why));
                }
            },
        };
        let set_percent = given.small("dedupe_working_set_percentage", 5);
        let compress = given.small("buffer_compress_percentage", 0);
        let refill_by_default = match (&pattern, compress) {
            (Some(_), share) => share > 0 || reads,
            (None, 0 | 100) => {
                given.is_given("verify") && given.choice("verify") != Some(("0", None))
            }
            (None, _) => true,
        };
        Ok(Self {
            zeros: pattern.is_none() && (given.switch("zero_buffers", false) || compress == 100),
            refills: given.switch("refill_buffers", refill_by_default),
            scrambles: pattern.is_none() && given.switch("scramble_buffers", true),
            compress_percent: if compress == 100 { 0 } else { compress },
            compress_chunk: given.count("buffer_compress_chunk", 512),
            pattern,
            dedupe_percent: given.small("dedupe_percentage", 0),
            dedupe: match (given.choice("dedupe_mode"), set_percent) {
                (Some(("working_set", _)), percent) => DedupeMode::WorkingSet(percent),
                (_, _) => DedupeMode::Repeat,
            },
            align: given.count("iomem_align", 0),
        })
    }
}
