//! Divides a text into pieces of the vocabulary, choosing the most probable division.
use crate::{
    normalize::Normalizer,
    protobuf::{Fields, field},
};

/// Number of the piece for characters that are not in the vocabulary.
const UNKNOWN_PIECE: u32 = 0;
/// Numbers of the pieces that mark the beginning and the end of every text.
const BEGIN_PIECE: u32 = 1;
const END_PIECE: u32 = 2;
/// The score of an unknown character is the score of the rarest piece minus this number.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The pieces of the vocabulary, sorted by their bytes. A trie would be faster to search, but would take 40 MB.
pub struct Vocabulary {
    normalizer: Normalizer,
    /// The concatenated bytes of all pieces.
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// For each first byte, the index in `pieces` of the first piece that begins with it.
    start_by_first_byte: Vec<usize>,
    unknown_score: f32,
}

#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    length: u32,
    number: u32,
    score: f32,
}

impl Vocabulary {
    /// Reads the vocabulary file. Each field 1 is a piece with its text and score. Field 2 of field 3 is the table for
    /// normalising.
    pub fn new(file: &[u8]) -> Option<Self> {
        let mut pieces: Vec<(&[u8], f32)> = Vec::new();
        for (_, message) in Fields(file).filter(|(number, _)| *number == 1) {
            let score = field(message, 2).and_then(|b| b.try_into().ok()).map_or(0.0, f32::from_le_bytes);
            pieces.push((field(message, 1)?, score));
        }
        let normalizer = Normalizer::new(field(field(file, 3)?, 2)?)?;
        let lowest_score = pieces.iter().map(|(_, score)| *score).reduce(f32::min)?;
        let mut numbers: Vec<usize> = (0..pieces.len()).collect();
        numbers.sort_by_key(|number| pieces[*number].0);
        let mut bytes = Vec::new();
        let mut sorted_pieces = Vec::with_capacity(pieces.len());
        for number in numbers {
            let (text, score) = pieces[number];
            let (start, length) = (u32::try_from(bytes.len()).ok()?, u32::try_from(text.len()).ok()?);
            sorted_pieces.push(Piece { start, length, number: u32::try_from(number).ok()?, score });
            bytes.extend(text);
        }
        let mut vocabulary = Self {
            normalizer,
            bytes,
            pieces: sorted_pieces,
            start_by_first_byte: Vec::new(),
            unknown_score: lowest_score - UNKNOWN_PENALTY,
        };
        vocabulary.start_by_first_byte = (0..=256)
            .map(|byte| {
                vocabulary.pieces.partition_point(|p| vocabulary.text(p).first().is_none_or(|b| u16::from(*b) < byte))
            })
            .collect();
        Some(vocabulary)
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The numbers of a text's pieces, with those for its beginning and end.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let normalized = self.normalizer.normalize(text);
        let mut numbers = vec![BEGIN_PIECE];
        match normalized.is_empty() {
            true => numbers.push(UNKNOWN_PIECE),
            false => self.best_path(&normalized, &mut numbers),
        }
        numbers.push(END_PIECE);
        numbers
    }

    fn text(&self, piece: &Piece) -> &[u8] {
        &self.bytes[piece.start as usize..][..piece.length as usize]
    }

    /// Viterbi's algorithm. For every position in the text, it keeps the best score of any division of the text before
    /// that position, and the last piece of that division. If scores are equal, the division with the longer last piece
    /// is kept, as in SentencePiece.
    fn best_path(&self, text: &str, numbers: &mut Vec<u32>) {
        let end = text.len();
        let mut best_paths = vec![(f32::NEG_INFINITY, 0usize, UNKNOWN_PIECE); end + 1];
        best_paths[0].0 = 0.0;
        for (start, c) in text.char_indices() {
            let base = best_paths[start].0;
            let mut offer_path = |stop: usize, score: f32, number: u32| {
                if score > best_paths[stop].0 {
                    best_paths[stop] = (score, start, number);
                }
            };
            let after_char = start + c.len_utf8();
            let mut has_one_char_piece = false;
            self.prefixes(&text.as_bytes()[start..], |piece| {
                let stop = start + piece.length as usize;
                has_one_char_piece |= stop == after_char;
                offer_path(stop, base + piece.score, piece.number);
            });
            if !has_one_char_piece {
                offer_path(after_char, base + self.unknown_score, UNKNOWN_PIECE);
            }
        }
        let first = numbers.len();
        let mut stop = end;
        while stop > 0 {
            let (_, start, number) = best_paths[stop];
            numbers.push(number);
            stop = start;
        }
        numbers[first..].reverse();
    }

    /// Calls `on_piece` with every piece that is a prefix of `text`, shortest first. Each byte of `text` narrows the
    /// range of pieces with that prefix.
    fn prefixes(&self, text: &[u8], mut on_piece: impl FnMut(&Piece)) {
        let Some(first) = text.first().map(|b| usize::from(*b)) else { return };
        let mut range = &self.pieces[self.start_by_first_byte[first]..self.start_by_first_byte[first + 1]];
        let mut depth = 1;
        loop {
            // The pieces are sorted by their bytes, so a piece that ends here is the first in the range.
            match range.first() {
                None => return,
                Some(piece) if piece.length as usize == depth => {
                    on_piece(piece);
                    range = &range[1..];
                }
                Some(_) => {}
            }
            let Some(next) = text.get(depth) else { return };
            let byte = |p: &Piece| self.bytes[p.start as usize + depth];
            let from = range.partition_point(|p| byte(p) < *next);
            let length = range[from..].partition_point(|p| byte(p) == *next);
            range = &range[from..from + length];
            depth += 1;
        }
    }
}
