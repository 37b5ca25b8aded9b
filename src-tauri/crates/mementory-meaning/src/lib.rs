//! A sentence encoder: texts go in, vectors come out, and texts that mean nearly the same have vectors that point in
//! nearly the same direction, in 16 languages and across them. Runs on the CPU, without network.
//!
//! | file | what it does |
//! | --- | --- |
//! | `weights` | reads the two files and refuses any but the known ones |
//! | `arrays` | the NumPy arrays of the archive |
//! | `protobuf` | the few fields of the vocabulary file that are needed |
//! | `normalize`, `vocabulary` | text to pieces of words |
//! | `network` | pieces to a vector |
//! | `vector`, `collection` | comparing and storing vectors |
mod arrays;
mod collection;
mod encoder;
mod error;
mod network;
mod normalize;
mod protobuf;
mod vector;
mod vocabulary;
mod weights;

pub use collection::Collection;
pub use encoder::{Encoder, MAX_CHARS, MAX_PIECES};
pub use error::EncoderError;
pub use vector::{DIMENSIONS, Vector, dot};
pub use weights::{VOCABULARY_FILE, WEIGHTS_FILE};

/// Name of the encoder with its weights. Vectors of encoders with different names cannot be compared.
pub const MODEL: &str = "use-multilingual-3-6bit";
