//! The public interface of the encoder.
use crate::{
    EncoderError, Vector,
    network::Network,
    vocabulary::Vocabulary,
    weights::{self, VOCABULARY_FILE},
};
use std::path::Path;

/// Number of characters of a text that are read. A vector of 512 numbers cannot represent more.
pub const MAX_CHARS: usize = 2_000;
/// At most this many pieces of a text are used. [`MAX_CHARS`] is not enough as a limit, because normalising can replace
/// one character by 18.
pub const MAX_PIECES: usize = 1_024;
/// Number of pieces per run of the network. More would not be faster, fewer would be slower.
const PIECES_AT_ONCE: usize = 384;

/// A sentence encoder with its weights in memory, about 80 MB. Many threads can use it at once.
pub struct Encoder {
    vocabulary: Vocabulary,
    network: Network,
}

impl Encoder {
    /// Loads the weights from the two files in `folder`.
    ///
    /// # Errors
    /// `Missing`; `Wrong` if a file differs from the known one in any byte; or an I/O error.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        let (numbers, vocabulary) = weights::read(folder)?;
        let vocabulary =
            Vocabulary::new(&vocabulary).ok_or_else(|| EncoderError::wrong_content_error(VOCABULARY_FILE))?;
        let network = Network::new(&numbers)?;
        if vocabulary.len() > network.piece_count() {
            return Err(EncoderError::wrong_content_error(VOCABULARY_FILE));
        }
        Ok(Self { vocabulary, network })
    }

    /// One vector for each text, in the same order. Apart from rounding, a text's vector does not depend on the other
    /// texts. Only the first [`MAX_CHARS`] characters and [`MAX_PIECES`] pieces of a text are read. An empty text gets
    /// a vector too, but it is meaningless.
    pub fn encode(&self, texts: &[&str]) -> Vec<Vector> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut group: Vec<Vec<u32>> = Vec::new();
        let mut pieces = 0;
        for text in texts {
            let numbers = self.pieces(text);
            if !group.is_empty() && pieces + numbers.len() > PIECES_AT_ONCE {
                self.network.encode(&group, &mut vectors);
                group.clear();
                pieces = 0;
            }
            pieces += numbers.len();
            group.push(numbers);
        }
        if !group.is_empty() {
            self.network.encode(&group, &mut vectors);
        }
        vectors
    }

    /// The token ids of a text, for comparing the vocabulary with other programs that use it.
    #[doc(hidden)]
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(index, _)| index);
        let mut numbers = self.vocabulary.encode(&text[..end]);
        numbers.truncate(MAX_PIECES);
        numbers
    }
}
