//! A sentence encoder: converts texts to vectors. Texts with nearly the same meaning get vectors with nearly the same
//! direction, within each of 16 languages and across languages. It runs on the CPU and works offline.
//!
//! | file | what it does |
//! | --- | --- |
//! | `weights` | reads the two files and refuses any but the known ones |
//! | `arrays` | reads the NumPy arrays of the archive |
//! | `protobuf` | reads the few fields of the vocabulary file that are needed |
//! | `normalize`, `vocabulary` | convert a text to pieces of words |
//! | `network` | converts pieces to a vector |
//! | `vector`, `collection` | compare and store vectors |
//! | `caching` | keeps the vectors of texts for a caller that compares the same texts many times |
mod arrays;
mod caching;
mod collection;
mod encoder;
mod error;
mod network;
mod normalize;
mod protobuf;
mod vector;
mod vocabulary;
mod weights;

pub use caching::CachingEncoder;
pub use collection::Collection;
pub use encoder::{Encoder, MAX_CHARS, MAX_PIECES};
pub use error::EncoderError;
pub use vector::{DIMENSIONS, Vector, dot};
pub use weights::{VOCABULARY_FILE, WEIGHTS_FILE};

/// Name of the encoder and its weights. Vectors from encoders with different names cannot be compared.
pub const MODEL: &str = "use-multilingual-3-6bit";
