//! What a program answers.

use std::io::{self, Read};

use workload::SourceTree;

/// Bytes that are read from a program at once: what a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

/// What a program wrote to its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// How often the word that is searched for is in it, if somebody looked.
    pub(super) words: Option<u64>,
}

/// How closely an answer is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Bytes and lines are counted.
    Count,
    /// Words are counted too, which takes time.
    Words,
}

/// Reads an answer to its end.
pub(super) fn read(mut from: impl Read, look: Look) -> io::Result<Answer> {
    let word = SourceTree::WORD.as_bytes();
    let mut buffer = vec![0; word.len() + PIPE_BYTES];
    let mut answer = Answer::default();
    let mut words = 0;
    // A word may begin in one piece and end in the next.
    let mut kept = 0;
    loop {
        let length = match from.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(length) => length,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
        };
        let piece = &buffer[kept..kept + length];
        answer.bytes += length as u64;
        answer.lines += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if look == Look::Words {
            let whole = &buffer[..kept + length];
            words += whole.windows(word.len()).filter(|&found| found == word).count() as u64;
            let rest = whole.len().min(word.len() - 1);
            let from = whole.len() - rest;
            buffer.copy_within(from..from + rest, 0);
            kept = rest;
        }
    }
    answer.words = (look == Look::Words).then_some(words);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out three bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(3);
            into[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn words_are_counted_wherever_pieces_end() {
        let text = format!("a\n{0}\nb{0}\n", SourceTree::WORD);
        let answer = |look| read(Slow(text.as_bytes()), look).expect("it is in memory");
        let counted = Answer { bytes: text.len() as u64, lines: 3, words: None };
        assert_eq!(answer(Look::Count), counted);
        assert_eq!(answer(Look::Words), Answer { words: Some(2), ..counted });
    }
}
