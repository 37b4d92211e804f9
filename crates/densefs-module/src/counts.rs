//! How many cache lines calls of the module touch, as they were counted last. A test holds the
//! module to it.

const LINES: &str = include_str!("../../densefs-kernel/counts/lines.txt");

/// The cache lines that a call touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCount {
    /// The layout of the module's code, by its name.
    pub layout: &'static str,
    /// The call, by its name in the suite `footprint`.
    pub call: &'static str,
    /// Lines of instructions.
    pub instruction_lines: f64,
    /// Lines of data.
    pub data_lines: f64,
}

/// The counts of all calls in all layouts, layout by layout.
///
/// # Panics
/// If the file of counts is malformed, which a test excludes.
pub fn line_counts() -> impl Iterator<Item = LineCount> {
    let rows = LINES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| {
        let mut columns = row.split_whitespace();
        let mut next = || columns.next().unwrap_or_default();
        let (layout, call, instructions, data) = (next(), next(), next(), next());
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{row}: {text}"));
        let (instruction_lines, data_lines) = (number(instructions), number(data));
        LineCount { layout, call, instruction_lines, data_lines }
    })
}

#[cfg(test)]
mod tests {
    use super::line_counts;

    #[test]
    fn every_layout_has_every_call() {
        let of = |layout| line_counts().filter(move |one| one.layout == layout);
        assert!(of("plain").count() > 10);
        for layout in ["aligned", "hinted", "ordered"] {
            assert!(of(layout).map(|one| one.call).eq(of("plain").map(|one| one.call)));
        }
        assert_eq!(line_counts().count(), 4 * of("plain").count());
    }
}
