//! Unencrypted PKCS#8 private keys in PEM. Reads and writes only the part of DER that Ed25519 and ML-DSA-65 need.
use crate::{CryptoError, signature_algorithm::Algorithm};
use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";
/// Maximum length of the Base64 text in bytes. Ed25519 and ML-DSA-65 keys are shorter in every encoding.
const MAX_BASE64_BYTES: usize = 16 << 10;

/// Object identifier 1.3.101.112 (RFC 8410).
const OID_ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// Object identifier 2.16.840.1.101.3.4.3.18 (RFC 9881).
const OID_ML_DSA_65: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12];

const TAG_INTEGER: u8 = 0x02;
const TAG_OCTET_STRING: u8 = 0x04;
const TAG_OID: u8 = 0x06;
const TAG_SEQUENCE: u8 = 0x30;
/// Tag `[0]`, primitive: the seed of ML-DSA.
const TAG_SEED: u8 = 0x80;
/// Tag `[1]`, primitive: the public key, which PKCS#8 version 2 may contain.
const TAG_PUBLIC_KEY: u8 = 0x81;

/// The content of a key file.
pub(crate) struct KeyFile {
    pub algorithm: Algorithm,
    pub seed: Zeroizing<[u8; 32]>,
    pub expanded: Option<Zeroizing<Vec<u8>>>,
    pub public: Option<Vec<u8>>,
}

const fn key_file_error(reason: &'static str) -> CryptoError {
    CryptoError::KeyFile(reason)
}

/// Reads the first `PRIVATE KEY` block of a text. A text with an encrypted private key is refused.
pub(crate) fn decode_pem(pem: &str) -> Result<KeyFile, CryptoError> {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return Err(key_file_error("it is encrypted, which is not supported"));
    }
    let rest = pem.split_once(PEM_BEGIN).ok_or(key_file_error("there is no PRIVATE KEY block in it"))?.1;
    let body = rest.split_once(PEM_END).ok_or(key_file_error("its PRIVATE KEY block has no end"))?.0;
    let text: Zeroizing<String> = Zeroizing::new(body.chars().filter(|c| !c.is_ascii_whitespace()).collect());
    if text.len() > MAX_BASE64_BYTES {
        return Err(key_file_error("it is too long"));
    }
    let der = Zeroizing::new(
        STANDARD.decode(text.as_bytes()).map_err(|_| key_file_error("its PRIVATE KEY block is not Base64"))?,
    );
    let mut document = DerReader(&der);
    let mut key = DerReader(document.read_tagged(TAG_SEQUENCE)?);
    document.expect_end()?;
    if !matches!(key.read_tagged(TAG_INTEGER)?, [0 | 1]) {
        return Err(key_file_error("its version is not known"));
    }
    let mut identifier = DerReader(key.read_tagged(TAG_SEQUENCE)?);
    let algorithm = match identifier.read_tagged(TAG_OID)? {
        OID_ED25519 => Algorithm::Ed25519,
        OID_ML_DSA_65 => Algorithm::MlDsa65,
        _ => return Err(key_file_error("its algorithm is neither Ed25519 nor ML-DSA-65")),
    };
    identifier.expect_end()?;
    let (seed, expanded) = read_private_parts(algorithm, key.read_tagged(TAG_OCTET_STRING)?)?;
    let mut public = None;
    while !key.0.is_empty() {
        // Attributes (`[0]`) do not affect the key and are skipped.
        let (tag, content) = key.read_element()?;
        if tag == TAG_PUBLIC_KEY {
            public =
                Some(content.strip_prefix(&[0]).ok_or(key_file_error("its public key is not whole bytes"))?.to_vec());
        }
    }
    Ok(KeyFile { algorithm, seed, expanded, public })
}

/// The seed of a private key, and the expanded key if the file contains it.
type SeedAndExpanded = (Zeroizing<[u8; 32]>, Option<Zeroizing<Vec<u8>>>);

fn read_private_parts(algorithm: Algorithm, bytes: &[u8]) -> Result<SeedAndExpanded, CryptoError> {
    let seed = |bytes: &[u8]| {
        let seed: [u8; 32] = bytes.try_into().map_err(|_| key_file_error("its key has the wrong length"))?;
        Ok::<_, CryptoError>(Zeroizing::new(seed))
    };
    let mut inner = DerReader(bytes);
    let (tag, content) = inner.read_element()?;
    inner.expect_end()?;
    match (algorithm, tag) {
        (Algorithm::Ed25519, TAG_OCTET_STRING) | (Algorithm::MlDsa65, TAG_SEED) => Ok((seed(content)?, None)),
        (Algorithm::MlDsa65, TAG_SEQUENCE) => {
            let mut seed_and_expanded = DerReader(content);
            let (first, expanded) =
                (seed_and_expanded.read_tagged(TAG_OCTET_STRING)?, seed_and_expanded.read_tagged(TAG_OCTET_STRING)?);
            seed_and_expanded.expect_end()?;
            Ok((seed(first)?, Some(Zeroizing::new(expanded.to_vec()))))
        }
        (Algorithm::MlDsa65, TAG_OCTET_STRING) => Err(key_file_error("it holds an expanded key without its seed")),
        _ => Err(key_file_error("its key is in an unknown form")),
    }
}

/// The PEM text of a key: PKCS#8 version 1 with the seed and without a public key.
pub(crate) fn encode_pem(algorithm: Algorithm, seed: &[u8; 32]) -> Zeroizing<String> {
    let (oid, tag) = match algorithm {
        Algorithm::Ed25519 => (OID_ED25519, TAG_OCTET_STRING),
        Algorithm::MlDsa65 => (OID_ML_DSA_65, TAG_SEED),
    };
    let key = Zeroizing::new(encode_element(tag, seed));
    let identifier = encode_element(TAG_SEQUENCE, &encode_element(TAG_OID, oid));
    let body = Zeroizing::new(
        [encode_element(TAG_INTEGER, &[0]), identifier, encode_element(TAG_OCTET_STRING, &key)].concat(),
    );
    let der = Zeroizing::new(encode_element(TAG_SEQUENCE, &body));
    let text = Zeroizing::new(STANDARD.encode(der.as_slice()));
    let mut out = Zeroizing::new(String::with_capacity(text.len() + 64));
    out.push_str(PEM_BEGIN);
    for (position, c) in text.chars().enumerate() {
        if position % 64 == 0 {
            out.push('\n');
        }
        out.push(c);
    }
    out.push('\n');
    out.push_str(PEM_END);
    out.push('\n');
    out
}

/// Encodes one element (tag, length, value). All elements written here are shorter than 128 bytes.
fn encode_element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 2);
    out.push(tag);
    out.push(u8::try_from(content.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(content);
    out
}

/// Reads DER elements one after the other.
struct DerReader<'a>(&'a [u8]);

impl<'a> DerReader<'a> {
    fn read_element(&mut self) -> Result<(u8, &'a [u8]), CryptoError> {
        const TRUNCATED_ERROR: CryptoError = key_file_error("it is cut off or not DER");
        let [tag, short, rest @ ..] = self.0 else { return Err(TRUNCATED_ERROR) };
        let (len, rest) = match (short, rest) {
            (0..=0x7f, rest) => (usize::from(*short), rest),
            (0x81, [a, rest @ ..]) => (usize::from(*a), rest),
            (0x82, [a, b, rest @ ..]) => (usize::from(*a) << 8 | usize::from(*b), rest),
            _ => return Err(TRUNCATED_ERROR),
        };
        let (content, after) = rest.split_at_checked(len).ok_or(TRUNCATED_ERROR)?;
        self.0 = after;
        Ok((*tag, content))
    }

    fn read_tagged(&mut self, tag: u8) -> Result<&'a [u8], CryptoError> {
        match self.read_element()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(key_file_error("it is not a PKCS#8 private key")),
        }
    }

    fn expect_end(&self) -> Result<(), CryptoError> {
        if self.0.is_empty() { Ok(()) } else { Err(key_file_error("something follows the key in it")) }
    }
}
