//! Intervals drawn with characters: one line each, on a common scale.

use textual::Layout;

/// One line of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) estimate: f64,
    pub(crate) high: f64,
}

/// Width of the scale in columns.
const COLUMNS: usize = 58;

/// Draws the bars, with a line of colons at 0.
pub(crate) fn render(bars: &[Bar]) -> String {
    let least = bars.iter().map(|bar| bar.low).fold(f64::INFINITY, f64::min).min(0.0);
    let most = bars.iter().map(|bar| bar.high).fold(f64::NEG_INFINITY, f64::max).max(0.0);
    let name_width = textual::widest(bars.iter().map(|bar| &bar.name));
    let layout = Layout { left: 2, widths: vec![name_width, COLUMNS] };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of columns"
    )]
    let column = |value: f64| -> usize {
        let share = if most > least { (value - least) / (most - least) } else { 0.0 };
        (share * (COLUMNS - 1) as f64).round() as usize
    };
    let mut text = String::new();
    for bar in bars {
        let mut cells = vec![' '; COLUMNS];
        cells[column(0.0)] = ':';
        cells[column(bar.low)..=column(bar.high)].fill('-');
        cells[column(bar.low)] = '|';
        cells[column(bar.high)] = '|';
        cells[column(bar.estimate)] = 'o';
        let line: String = cells.into_iter().collect();
        text += &layout.line([&bar.name, &line]);
        text.push('\n');
    }
    let scale = format!("{least:.0}");
    let end = format!("{most:.0}");
    let gap = COLUMNS.saturating_sub(scale.len() + end.len());
    text += &layout.line(["", &format!("{scale}{:gap$}{end}", "")]);
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_lie_on_one_scale() {
        let bar =
            |name: &str, low, estimate, high| Bar { name: name.to_owned(), low, estimate, high };
        let text = render(&[bar("a", -57.0, -28.0, 0.0), bar("bb", -10.0, -5.0, -1.0)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].chars().nth(6), Some('|'));
        assert_eq!(lines[0].chars().nth(6 + 29), Some('o'));
        assert_eq!(lines[0].chars().last(), Some('|'));
        assert_eq!(lines[1].chars().nth(6 + 57), Some(':'), "0 is marked where no bar is");
        assert!(lines[2].ends_with('0') && lines[2].contains("-57"));
    }
}
