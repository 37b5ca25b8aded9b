//! The two files of the encoder. Each is compared with its known digest before anything in it is read.
use crate::EncoderError;
use sha2::{Digest, Sha256};
use std::{fs::File, io::Read, path::Path};

/// Name of the file with the network's weights.
pub const WEIGHTS_FILE: &str = "weights.npz";
/// Name of the file with the vocabulary.
pub const VOCABULARY_FILE: &str = "sp.model";

/// A file that this program accepts: its name, length in bytes and SHA-256.
struct KnownFile {
    name: &'static str,
    bytes: u64,
    digest: &'static str,
}

const WEIGHTS: KnownFile = KnownFile {
    name: WEIGHTS_FILE,
    bytes: 30_377_056,
    digest: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
};
const VOCABULARY: KnownFile = KnownFile {
    name: VOCABULARY_FILE,
    bytes: 2_527_207,
    digest: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
};

/// Reads the two files in a folder: the network's weights and the vocabulary.
pub fn read(folder: &Path) -> Result<(Vec<u8>, Vec<u8>), EncoderError> {
    let vocabulary = read_known(folder, &VOCABULARY)?;
    Ok((read_known(folder, &WEIGHTS)?, vocabulary))
}

fn read_known(folder: &Path, known_file: &KnownFile) -> Result<Vec<u8>, EncoderError> {
    let file = File::open(folder.join(known_file.name)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => EncoderError::Missing(known_file.name.to_owned()),
        _ => EncoderError::Io(error),
    })?;
    // Checked before reading, so that a pipe or an endless file cannot fill the memory.
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != known_file.bytes {
        return Err(EncoderError::wrong_content_error(known_file.name));
    }
    let mut bytes = Vec::new();
    file.take(known_file.bytes).read_to_end(&mut bytes)?;
    if hex::encode(Sha256::digest(&bytes)) != known_file.digest {
        return Err(EncoderError::wrong_content_error(known_file.name));
    }
    Ok(bytes)
}
