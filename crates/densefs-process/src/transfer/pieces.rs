//! The stretches of a file that are copied: its data, without whole pages of zeros.

/// Bytes that are copied at a time.
pub(super) const PIECE_BYTES: usize = 1 << 20;
/// The shortest run of zeros that is left out, as a hole.
const HOLE_BYTES: usize = 4096;

/// Calls `write` for everything except whole pages of zeros.
pub(super) fn write_pieces<E>(
    piece: &[u8],
    mut write: impl FnMut(usize, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut begin = None;
    for (number, page) in piece.chunks(HOLE_BYTES).enumerate() {
        let at = number * HOLE_BYTES;
        let is_hole = page.len() == HOLE_BYTES && page.iter().all(|&byte| byte == 0);
        match (begin, is_hole) {
            (None, false) => begin = Some(at),
            (Some(from), true) => {
                write(from, &piece[from..at])?;
                begin = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    begin.map_or(Ok(()), |from| write(from, &piece[from..]))
}
