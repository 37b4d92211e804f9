//! What follows each opcode in an instruction.

/// Bits for each opcode of a kind.
pub(super) type Table = [u8; 256];

/// The bits for the length of the immediate value, with prefixes left out.
pub(super) const IMMEDIATE: u8 = 0x0f;

/// A `ModRM` byte follows.
pub(super) const OPERANDS: u8 = 0x10;

/// The length depends on more, or the instruction leads elsewhere.
pub(super) const SPECIAL: u8 = 0x20;

/// The length is not what the other bits say, or not always.
pub(super) const VARIABLE: u8 = 0x40;

/// It is not known, or not an opcode: as if it were longer than any instruction.
const UNKNOWN: u8 = VARIABLE | IMMEDIATE;

/// The table of what a function says.
macro_rules! table {
    ($shape:ident) => {{
        let mut table = [0; 256];
        let mut code = 0;
        while code < 256 {
            #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
            let byte = code as u8;
            table[code] = $shape(byte);
            code += 1;
        }
        table
    }};
}
/// The opcodes of one byte.
pub(super) static ONE_BYTE: Table = table!(one_byte);

/// Those after 0F.
pub(super) static TWO_BYTES: Table = table!(two_bytes);

/// The same of vector instructions in their own encodings.
pub(super) static VECTOR: Table = table!(vector);

/// Those that all have a `ModRM` byte.
pub(super) static WITH_OPERANDS: Table = [OPERANDS; 256];

/// Those that all have a `ModRM` byte and another one.
pub(super) static WITH_BYTE: Table = [OPERANDS | 1; 256];

const fn one_byte(code: u8) -> u8 {
    match code {
        0x00..=0x3f => match code & 7 {
            0..=3 => OPERANDS,
            4 => 1,
            5 => SPECIAL | 4,
            _ => UNKNOWN,
        },
        0x50..=0x5f
        | 0x6c..=0x6f
        | 0x90..=0x99
        | 0x9b..=0x9f
        | 0xa4..=0xa7
        | 0xaa..=0xaf
        | 0xc9
        | 0xd7
        | 0xec..=0xef
        | 0xf5
        | 0xf8..=0xfd => 0,
        0xc3 | 0xcb..=0xcc | 0xcf | 0xf1 | 0xf4 => SPECIAL,
        0x63 | 0x84..=0x8e | 0xd0..=0xd3 | 0xd8..=0xdf | 0xfe => OPERANDS,
        0x8f | 0xff => SPECIAL | OPERANDS,
        0xf6..=0xf7 => VARIABLE | SPECIAL | OPERANDS,
        0x68 | 0xa9 | 0xb8..=0xbf | 0xe8..=0xe9 => SPECIAL | 4,
        0x69 | 0x81 | 0xc7 => SPECIAL | OPERANDS | 4,
        0x6a | 0xa8 | 0xb0..=0xb7 | 0xe4..=0xe7 => 1,
        0x70..=0x7f | 0xcd | 0xe0..=0xe3 | 0xeb => SPECIAL | 1,
        0x6b | 0x80 | 0x83 | 0xc0..=0xc1 => OPERANDS | 1,
        0xc6 => SPECIAL | OPERANDS | 1,
        0xa0..=0xa3 => VARIABLE | SPECIAL | 8,
        0xc2 | 0xca => SPECIAL | 2,
        0xc8 => 3,
        _ => UNKNOWN,
    }
}

const fn two_bytes(code: u8) -> u8 {
    match code {
        0x06
        | 0x08..=0x09
        | 0x0e
        | 0x30..=0x33
        | 0x36..=0x37
        | 0x77
        | 0xa0..=0xa2
        | 0xa8..=0xaa => 0,
        0xc8..=0xcf => 0,
        0x05 | 0x07 | 0x0b | 0x34..=0x35 => SPECIAL,
        0x0f | 0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6 => OPERANDS | 1,
        0x80..=0x8f => SPECIAL | 4,
        0x04 | 0x0a | 0x0c | 0x24..=0x27 | 0x38..=0x3f | 0x78..=0x79 => UNKNOWN,
        _ => OPERANDS,
    }
}

const fn vector(code: u8) -> u8 {
    match code {
        0x70..=0x73 | 0xc2 | 0xc4..=0xc6 => OPERANDS | 1,
        0x77 => 0,
        _ => OPERANDS,
    }
}

/// How long a `ModRM` byte is with what belongs to it, but for what a SIB byte adds.
pub(super) static OPERANDS_LENGTH: Table = table!(operands_length);

const fn operands_length(byte: u8) -> u8 {
    let (mode, base) = (byte >> 6, byte & 7);
    let displacement = match mode {
        0 if base == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    1 + (mode != 3 && base == 4) as u8 + displacement
}
