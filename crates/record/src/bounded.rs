//! Limits on the memory that parsing a text may take: a text that would exceed them is not parsed.
//!
//! While being parsed, an empty array takes about 200 bytes, but only `[],` in the text.

/// Elements of a manifest: three times as many as one with ten thousand cells has. They take 400
/// MiB.
pub(crate) const OF_MANIFEST: usize = 1 << 21;
/// Elements of a journal line: five times as many as the plan for ten thousand cells has.
pub(crate) const OF_LINE: usize = 1 << 19;
/// Elements of all cells that a search adds; there are at most hundreds of these.
pub(crate) const OF_CELLS_ADDED: usize = 1 << 19;

/// The number of elements in a JSON text, or why it is not parsed if there are more than `most`.
pub(crate) fn elements(text: &[u8], most: usize) -> Result<usize, String> {
    // This includes those inside strings, which are few.
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
