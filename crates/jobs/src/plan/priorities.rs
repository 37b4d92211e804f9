//! Which operations have a priority of their own (`cmdprio_percentage`, `cmdprio_bssplit`).

use job_files::quantity::KbBase;

use super::given::Values;

const SPLIT: &str = "cmdprio_bssplit";

type Wrong = (&'static str, String);

/// The priorities of reads and of writes; both empty if all operations have that of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrioritiesPlan {
    /// Of reads.
    pub reads: Vec<PriorityShare>,
    /// Of writes.
    pub writes: Vec<PriorityShare>,
}

/// How many operations have a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Of operations of so many bytes; `None` for all.
    pub block_bytes: Option<u64>,
    /// So many percent.
    pub percent: u32,
    /// The priority, as the kernel takes it.
    pub priority: u16,
}

/// A priority as the kernel takes it. Without a class, it is of the best-effort class, as in fio.
pub(super) const fn value(class: u16, level: u16) -> u16 {
    const BEST_EFFORT: u16 = 2;
    (if class == 0 { BEST_EFFORT } else { class }) << 13 | level
}

impl PrioritiesPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, Wrong> {
        const REAL_TIME: u64 = 1;
        let percent = given.counts("cmdprio_percentage", 0);
        let (classes, levels) = (given.counts("cmdprio_class", 0), given.counts("cmdprio", 0));
        let usual = |way: usize| {
            let class = if classes[way] == 0 { REAL_TIME } else { classes[way] };
            value(u16::try_from(class).unwrap_or(0), u16::try_from(levels[way]).unwrap_or(0))
        };
        let base = given.base();
        match given.text(SPLIT) {
            Some(_) if percent.iter().any(|one| *one > 0) => {
                let why = "cmdprio_percentage= is given as well; only one of the two can count";
                Err((SPLIT, why.to_owned()))
            }
            Some(text) => {
                let (reads, writes) = text.split_once(',').unwrap_or((text, text));
                let of = |list, way| shares(list, usual(way), base).map_err(|why| (SPLIT, why));
                Ok(Self { reads: of(reads, 0)?, writes: of(writes, 1)? })
            }
            None => {
                let of = |way: usize| {
                    let percent = u32::try_from(percent[way]).unwrap_or(100);
                    let share = PriorityShare { block_bytes: None, percent, priority: usual(way) };
                    Vec::from_iter((percent > 0).then_some(share))
                };
                Ok(Self { reads: of(0), writes: of(1) })
            }
        }
    }
}

/// `4k/10:8k/20/1/3`: sizes of blocks, how many of them in percent, perhaps class and level.
fn shares(list: &str, usual: u16, base: KbBase) -> Result<Vec<PriorityShare>, String> {
    let all = list.split(':').map(str::trim).take_while(|entry| !entry.is_empty());
    let all = all.map(|entry| share(entry, usual, base)).collect::<Result<Vec<_>, _>>()?;
    let mut used: Vec<PriorityShare> = all.into_iter().filter(|one| one.percent > 0).collect();
    used.sort_by_key(|share| share.block_bytes);
    for one in &used {
        let same = used.iter().filter(|other| other.block_bytes == one.block_bytes);
        let sum: u32 = same.map(|other| other.percent).sum();
        if sum > 100 {
            let bytes = one.block_bytes.unwrap_or(0);
            return Err(format!("the percentages of blocks of {bytes} bytes add up to {sum}"));
        }
    }
    Ok(used)
}

fn share(entry: &str, usual: u16, base: KbBase) -> Result<PriorityShare, String> {
    let mut parts = entry.split('/');
    let block_bytes = base.bytes(parts.next().unwrap_or_default())?;
    let number = |text: &str, most: u16| {
        let number = text.trim().parse::<u16>().ok().filter(|number| *number <= most);
        number.ok_or_else(|| format!("`{text}` in `{entry}` is not a number from 0 to {most}"))
    };
    let percent = match parts.next() {
        None | Some("") => 0,
        Some(percent) => number(percent, 100)?,
    };
    let priority = match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => usual,
        (Some(class), Some(level), None) => value(number(class, 3)?, number(level, 7)?),
        (Some(_), ..) => {
            return Err(format!("`{entry}` is neither SIZE/PERCENT nor SIZE/PERCENT/CLASS/LEVEL"));
        }
    };
    Ok(PriorityShare { block_bytes: Some(block_bytes), percent: percent.into(), priority })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: u16 = 0x2000;

    fn of(list: &str) -> Result<Vec<PriorityShare>, String> {
        shares(list, USUAL, KbBase::Binary)
    }

    #[test]
    fn shares_are_by_size() {
        let share = |block_bytes, percent, priority| PriorityShare {
            block_bytes: Some(block_bytes),
            percent,
            priority,
        };
        assert_eq!(
            of("8k/20/3/5:4k/10:16k/:4k/90/0/2"),
            Ok(vec![share(4096, 10, USUAL), share(4096, 90, 0x4002), share(8192, 20, 0x6005)])
        );
        assert_eq!(of(""), Ok(vec![]));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for (list, why) in [
            ("4k/101", "`101` in `4k/101` is not a number from 0 to 100"),
            ("4k/10/4/0", "`4` in `4k/10/4/0` is not a number from 0 to 3"),
            ("4k/10/1", "is neither SIZE/PERCENT nor"),
            ("4k/10/1/2/3", "is neither SIZE/PERCENT nor"),
            ("x/10", "has no number"),
            ("4k/60:8k/60:4k/60", "blocks of 4096 bytes add up to 120"),
        ] {
            let error = of(list).expect_err(list);
            assert!(error.contains(why), "{list}: {error}");
        }
    }
}
