//! The volumes that were measured, in brief: how large they were, how full, and whether aged.

use file_system::FileSystem;
use record::{Document, TargetRecord};

use super::footprint;
use crate::units;

/// `volumes of 64 GiB, half full`; `None` if fsprism made none of the measured targets on a device.
pub(super) fn in_short(document: &Document) -> Option<String> {
    if !document.run.kind.is_timed_here() || footprint::is_counted(document) {
        return None;
    }
    let volumes: Vec<&TargetRecord> =
        document.targets.iter().filter(|target| is_volume(target)).collect();
    let least = volumes.iter().map(|target| target.size_bytes).min()?;
    let most = volumes.iter().map(|target| target.size_bytes).max()?;
    let size = match (units::bytes(least), units::bytes(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    let what = if volumes.len() == 1 { "a volume" } else { "volumes" };
    let filled = of_all(&volumes, |target| target.filled_percent, "differently filled", full);
    let aged = of_all(&volumes, |target| target.aged, "differently aged", |_| "aged".to_owned());
    let state: Vec<String> = filled.into_iter().chain(aged).collect();
    let state = if state.is_empty() { String::new() } else { format!(", {}", state.join(", ")) };
    Some(format!("{what} of {size}{state}"))
}

/// Whether fsprism made it on an image or a device.
fn is_volume(target: &TargetRecord) -> bool {
    let known = FileSystem::named(&target.file_system);
    target.scratch && known.is_none_or(|known| !known.lives_in_memory()) && target.size_bytes > 0
}

/// What applies to all of them, or `else_say` if they differ; `None` if it applies to none of them.
fn of_all<T: Copy + PartialEq>(
    volumes: &[&TargetRecord],
    of: impl Fn(&TargetRecord) -> Option<T>,
    else_say: &str,
    say: impl Fn(T) -> String,
) -> Option<String> {
    let first = volumes.first().and_then(|target| of(target));
    match volumes.iter().all(|target| of(target) == first) {
        true => first.map(say),
        false => Some(else_say.to_owned()),
    }
}

fn full(percent: u32) -> String {
    if percent == 50 { "half full".to_owned() } else { format!("{percent} % full") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::Ageing;

    use super::*;
    use crate::Options;
    use crate::sample::{Sample, around};
    use crate::terminal::{headline, render_answer};

    fn sample() -> Sample {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        let sample = Sample::new(&["tmpfs", "ext4", "xfs"]);
        let mut sample = sample.benchmark("create", &[&low, &high, &high]).ended();
        for target in &mut sample.run.manifest.targets {
            target.scratch = true;
            target.size_bytes = 64 << 30;
        }
        sample.run.manifest.targets[0].size_bytes = 2 << 30;
        sample
    }

    fn said(change: impl Fn(&mut [TargetRecord])) -> String {
        let mut sample = sample();
        change(&mut sample.run.manifest.targets);
        in_short(&sample.document()).unwrap_or_default()
    }

    #[test]
    fn volumes_are_told_by_size_and_state() {
        assert_eq!(said(|_| ()), "volumes of 64 GiB");
        let all = |targets: &mut [TargetRecord]| {
            for target in &mut targets[1..] {
                target.filled_percent = Some(50);
                target.aged = Some(Ageing::new(5, 80));
            }
        };
        assert_eq!(said(all), "volumes of 64 GiB, half full, aged");
        assert_eq!(
            said(|all| all[1].filled_percent = Some(30)),
            "volumes of 64 GiB, differently filled"
        );
        assert_eq!(said(|all| all[1].size_bytes = 2 << 30), "volumes of 2 GiB to 64 GiB");
        let one = |all: &mut [TargetRecord]| {
            all[1].scratch = false;
            all[2].filled_percent = Some(30);
        };
        assert_eq!(said(one), "a volume of 64 GiB, 30 % full");
        assert_eq!(said(|all| all.iter_mut().for_each(|target| target.scratch = false)), "");
    }

    #[test]
    fn screen_and_headline_say_them_once_and_within_the_width() {
        let mut sample = sample();
        for target in &mut sample.run.manifest.targets[1..] {
            target.filled_percent = Some(50);
        }
        let document = sample.document();
        let screen =
            render_answer(&document, Path::new("run"), None, &Options { width: 80, colour: false });
        assert_eq!(screen.matches("64 GiB").count(), 1, "{screen}");
        assert!(screen.contains("volumes of 64 GiB, half full"), "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        let headline = headline(&document);
        assert!(headline.ends_with(" (volumes of 64 GiB, half full)."), "{headline}");
    }
}
