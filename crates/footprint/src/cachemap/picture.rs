//! A cachemap as a picture, with a square of pixels per byte, as in the paper (densefs, Figure 1).

use png::{BitDepth, ColorType, Encoder, EncodingError};

use super::viridis;
use super::{Cachemap, MappedLine};

/// The colour of bytes that were never touched.
const NEVER: [u8; 3] = [255; 3];
/// The colour of the thin line between lines whose addresses are not consecutive.
const GAP: [u8; 3] = [226, 226, 226];
/// The background colour around the columns.
const GROUND: [u8; 3] = [246; 3];
/// Bytes per line, which is the number of cells per row.
const CELLS: usize = 64;
/// The largest side of a byte, in pixels.
const SIDE_MAX: u32 = 16;
/// Half of the largest number of lines in a column.
const ROWS_OF_ONE_COLUMN: usize = 128;

/// The size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The side of a byte, in pixels, from 1 to 16.
    pub byte_pixels: u32,
}

impl Default for Scale {
    fn default() -> Self {
        Self { byte_pixels: 4 }
    }
}

/// Draws a map as PNG: lines in columns, top to bottom and left to right in address order. Colours
/// are viridis by the logarithm of the count, from 1 to the map's largest; white means never. A
/// faint line separates lines whose addresses are not consecutive.
///
/// # Errors
/// There is not enough memory for the picture, or the map is too large for one.
pub fn png(map: &Cachemap, title: &str, scale: Scale) -> Result<Vec<u8>, EncodingError> {
    let pixels = Pixels::draw(map, scale);
    let mut bytes = Vec::new();
    let [width, height] = [pixels.width, pixels.height].map(|n| u32::try_from(n).unwrap_or(0));
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let most = map.lines.iter().map(MappedLine::count_max).max().unwrap_or(0);
    let colours =
        format!("viridis by the logarithm of the count, from 1 to {most}; white means never");
    // Plain text chunks are limited to Latin-1, but a title can contain any characters.
    encoder.add_itxt_chunk("Title".to_owned(), title.to_owned())?;
    encoder.add_text_chunk("Description".to_owned(), colours)?;
    encoder.write_header()?.write_image_data(&pixels.rgb)?;
    Ok(bytes)
}

struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

/// A rectangle of pixels.
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Pixels {
    fn draw(map: &Cachemap, scale: Scale) -> Self {
        let side = scale.byte_pixels.clamp(1, SIDE_MAX) as usize;
        let columns: Vec<&[MappedLine]> =
            map.lines.chunks(rows_per_column(map.lines.len())).collect();
        let pitch = (CELLS + 4) * side;
        let heights = columns.iter().map(|lines| lines.len() * side + gaps(lines));
        let height = heights.max().unwrap_or(0) + 2 * side;
        let width = (columns.len().max(1) * pitch) + 2 * side - 2 * side.min(pitch);
        let mut pixels = Self { width: width.max(1), height: height.max(1), rgb: Vec::new() };
        pixels.rgb = GROUND.repeat(pixels.width * pixels.height);
        let most = map.lines.iter().map(MappedLine::count_max).max().unwrap_or(1);
        for (column, lines) in columns.into_iter().enumerate() {
            pixels.draw_column(lines, side + column * pitch, side, most);
        }
        pixels
    }

    fn draw_column(&mut self, lines: &[MappedLine], x: usize, side: usize, most: u64) {
        let mut y = side;
        let mut next = None;
        for line in lines {
            if next.is_some_and(|next| next != line.address) {
                self.fill(&Area { x, y, width: CELLS * side, height: 1 }, GAP);
                y += 1;
            }
            next = Some(line.address.wrapping_add(CELLS as u64));
            for (byte, &count) in line.counts.iter().enumerate() {
                let area = Area { x: x + byte * side, y, width: side, height: side };
                self.fill(&area, colour(count, most));
            }
            y += side;
        }
    }

    fn fill(&mut self, area: &Area, colour: [u8; 3]) {
        for y in area.y..area.y + area.height {
            let from = (y * self.width + area.x) * 3;
            let row = &mut self.rgb[from..from + area.width * 3];
            row.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }
}

/// Divides the lines evenly among as few columns as possible.
fn rows_per_column(lines: usize) -> usize {
    let columns = lines.div_ceil(ROWS_OF_ONE_COLUMN * 2).max(1);
    lines.div_ceil(columns).max(1)
}

/// Number of places in a column where addresses are not consecutive.
fn gaps(lines: &[MappedLine]) -> usize {
    let follows = |pair: &&[MappedLine]| pair[0].address.wrapping_add(64) != pair[1].address;
    lines.windows(2).filter(follows).count()
}

fn colour(count: u64, most: u64) -> [u8; 3] {
    match (count, most) {
        (0, _) => NEVER,
        (_, 0..=1) => viridis::colour(0.0),
        _ => viridis::colour((count as f64).ln() / (most as f64).ln()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CachemapOf;
    use super::*;

    fn line(address: u64, touched: &[(usize, u64)]) -> MappedLine {
        let mut counts = Box::new([0; 64]);
        touched.iter().for_each(|&(byte, count)| counts[byte] = count);
        MappedLine { address, counts, name: String::new(), touches: Vec::new() }
    }

    fn decoded(bytes: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        (info.width as usize, info.height as usize, rgb)
    }

    #[test]
    fn bytes_are_squares_and_gaps_are_seen() {
        let lines =
            vec![line(0, &[(0, 1), (63, 100)]), line(64, &[(1, 10)]), line(256, &[(0, 100)])];
        let map = Cachemap { of: CachemapOf::Data, lines };
        let bytes = png(&map, "a map — of data", Scale { byte_pixels: 2 }).unwrap();
        let (width, height, rgb) = decoded(&bytes);
        assert_eq!((width, height), (64 * 2 + 8, 3 * 2 + 1 + 4), "one gap, and the ground around");
        let at =
            |x: usize, y: usize| <[u8; 3]>::try_from(&rgb[(y * width + x) * 3..][..3]).unwrap();
        assert_eq!((at(0, 0), at(2, 2), at(3, 3)), (GROUND, [0x44, 1, 0x54], [0x44, 1, 0x54]));
        assert_eq!((at(4, 2), at(2 + 126, 2)), (NEVER, [0xfd, 0xe7, 0x25]));
        assert_eq!(at(4, 4), viridis::colour(0.5), "10 is half of 100 in logarithms");
        assert_eq!((at(2, 6), at(2, 7)), (GAP, [0xfd, 0xe7, 0x25]));
    }

    #[test]
    fn hundreds_of_lines_stand_in_columns_and_none_is_no_fault() {
        let lines = (0..700).map(|at| line(at * 64, &[(0, 1)])).collect();
        let map = Cachemap { of: CachemapOf::Instructions, lines };
        let (width, height, _) = decoded(&png(&map, "", Scale::default()).unwrap());
        assert_eq!((width, height), (3 * 272, 234 * 4 + 8));
        let none = Cachemap { of: CachemapOf::Data, lines: Vec::new() };
        assert!(decoded(&png(&none, "", Scale::default()).unwrap()).0 > 0);
    }
}
