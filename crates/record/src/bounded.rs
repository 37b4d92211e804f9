//! How much memory parsing a text may take: what claims more is not parsed.
//!
//! An array that holds nothing else takes some 200 bytes while it is parsed, and `[],` in the text.

/// Elements of a manifest: three times as many as one of ten thousand cells has. They take 400 MiB.
pub(crate) const OF_MANIFEST: usize = 1 << 21;
/// Elements of a journal's line: five times as many as the plan for ten thousand cells has.
pub(crate) const OF_LINE: usize = 1 << 19;
/// Elements of all cells that a search adds, of which there are hundreds at most.
pub(crate) const OF_CELLS_ADDED: usize = 1 << 19;

/// The elements of a text of JSON, if there are at most so many; otherwise why it is not parsed.
pub(crate) fn elements(text: &[u8], most: usize) -> Result<usize, String> {
    // Those inside strings are counted as well: there are few.
    let elements = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if elements <= most {
        return Ok(elements);
    }
    Err(format!("it has {elements} elements, but can have at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_too_much_memory_is_not_parsed() {
        assert_eq!(elements(b"[[0],[0],0]", 5), Ok(5));
        let why = elements(b"[[0],[0],0]", 4).expect_err("one too many");
        assert_eq!(why, "it has 5 elements, but can have at most 4");
        assert_eq!(elements(&b"0".repeat(1 << 20), 0), Ok(0), "one long number");
    }
}
