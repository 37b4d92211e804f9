//! Says that other programs kept the machine busy, before every figure that they may have affected.

use record::{Document, Warning};

use super::super::text::{HANGING, Page, Style};

/// `BUSY MACHINE in 34 of 120 replicates: cc1 and python3 used 1.8 of 2 processors.`
pub(super) fn render(page: &mut Page, document: &Document) {
    if let Some(text) = sentence(document) {
        page.paragraph(&text, HANGING, Style::Doubt);
    }
}

fn sentence(document: &Document) -> Option<String> {
    document.warnings.iter().find_map(|report| {
        let Warning::BusyMachine { replicates, of, ref who, .. } = report.warning else {
            return None;
        };
        Some(format!("BUSY MACHINE in {replicates} of {of} replicates: {who}."))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::Document;

    use crate::Options;
    use crate::sample::{Sample, around};
    use crate::terminal::{headline, render_answer, render_terminal};

    fn sample() -> Sample {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        Sample::new(&["ext4", "xfs"]).benchmark("create", &[&high, &low]).ended()
    }

    const OPTIONS: Options = Options { width: 80, colour: false };

    fn screen(document: &Document) -> String {
        render_answer(document, Path::new("run"), None, &OPTIONS)
    }

    #[test]
    fn no_difference_is_said_without_the_busy_machine() {
        let busy = sample().busy_before(3).document();
        assert_eq!(busy.comparisons[0].busy_blocks, 3);
        let text = screen(&busy);
        let said = "BUSY MACHINE in 6 of 24 replicates: cc1 used 1.8 of 2 processors.";
        assert_eq!(text.lines().nth(1), Some(said), "{text}");
        assert!(text.contains("1 of 1 comparisons differ (1 on a busy machine)"), "{text}");
        assert!(headline(&busy).starts_with("Measured on a busy machine: "), "{}", headline(&busy));
        let report = render_terminal(&busy, &OPTIONS);
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains("on a BUSY MACHINE in 6 of 24 replicates"), "{report}");
        assert!(report.contains("6 of 24 replicates were measured while"), "{report}");
        assert!(report.contains("1 of them on a busy machine"), "{report}");
        let quiet = sample().document();
        let all = [screen(&quiet), headline(&quiet), render_terminal(&quiet, &OPTIONS)].concat();
        assert!(!all.to_lowercase().contains("busy"), "{all}");
    }
}
