//! Unencrypted PKCS#8 private keys as PEM, with the small part of DER that the two algorithms need.
use crate::{CryptoError, signature_algorithm::Algorithm};
use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
/// No key of these algorithms is longer, in any form.
const MAX_FILE: usize = 16 << 10;

/// 1.3.101.112 (RFC 8410).
const OID_ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// 2.16.840.1.101.3.4.3.18 (RFC 9881).
const OID_ML_DSA_65: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12];

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// `[0]`, primitive: the seed of ML-DSA.
const SEED: u8 = 0x80;
/// `[1]`, primitive: the public key that version 2 may contain.
const PUBLIC: u8 = 0x81;

/// The content of a key file.
pub(crate) struct Parsed {
    pub algorithm: Algorithm,
    pub seed: Zeroizing<[u8; 32]>,
    pub expanded: Option<Zeroizing<Vec<u8>>>,
    pub public: Option<Vec<u8>>,
}

const fn bad(what: &'static str) -> CryptoError {
    CryptoError::KeyFile(what)
}

/// Reads the first `PRIVATE KEY` block.
pub(crate) fn decode(pem: &str) -> Result<Parsed, CryptoError> {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return Err(bad("it is encrypted, which is not supported"));
    }
    let rest = pem.split_once(BEGIN).ok_or(bad("there is no PRIVATE KEY block in it"))?.1;
    let body = rest.split_once(END).ok_or(bad("its PRIVATE KEY block has no end"))?.0;
    let text: Zeroizing<String> = Zeroizing::new(body.chars().filter(|c| !c.is_ascii_whitespace()).collect());
    if text.len() > MAX_FILE {
        return Err(bad("it is too long"));
    }
    let der = Zeroizing::new(STANDARD.decode(text.as_bytes()).map_err(|_| bad("its PRIVATE KEY block is not Base64"))?);
    let mut outer = Der(&der);
    let mut key = Der(outer.take(SEQUENCE)?);
    outer.end()?;
    if !matches!(key.take(INTEGER)?, [0 | 1]) {
        return Err(bad("its version is not known"));
    }
    let mut identifier = Der(key.take(SEQUENCE)?);
    let algorithm = match identifier.take(OID)? {
        OID_ED25519 => Algorithm::Ed25519,
        OID_ML_DSA_65 => Algorithm::MlDsa65,
        _ => return Err(bad("its algorithm is neither Ed25519 nor ML-DSA-65")),
    };
    identifier.end()?;
    let (seed, expanded) = private(algorithm, key.take(OCTETS)?)?;
    let mut public = None;
    while !key.0.is_empty() {
        // Attributes ([0]) do not affect the key.
        let (tag, content) = key.next()?;
        if tag == PUBLIC {
            public = Some(content.strip_prefix(&[0]).ok_or(bad("its public key is not whole bytes"))?.to_vec());
        }
    }
    Ok(Parsed { algorithm, seed, expanded, public })
}

type Private = (Zeroizing<[u8; 32]>, Option<Zeroizing<Vec<u8>>>);

fn private(algorithm: Algorithm, bytes: &[u8]) -> Result<Private, CryptoError> {
    let seed = |bytes: &[u8]| {
        let seed: [u8; 32] = bytes.try_into().map_err(|_| bad("its key has the wrong length"))?;
        Ok::<_, CryptoError>(Zeroizing::new(seed))
    };
    let mut inner = Der(bytes);
    let (tag, content) = inner.next()?;
    inner.end()?;
    match (algorithm, tag) {
        (Algorithm::Ed25519, OCTETS) | (Algorithm::MlDsa65, SEED) => Ok((seed(content)?, None)),
        (Algorithm::MlDsa65, SEQUENCE) => {
            let mut both = Der(content);
            let (first, expanded) = (both.take(OCTETS)?, both.take(OCTETS)?);
            both.end()?;
            Ok((seed(first)?, Some(Zeroizing::new(expanded.to_vec()))))
        }
        (Algorithm::MlDsa65, OCTETS) => Err(bad("it holds an expanded key without its seed")),
        _ => Err(bad("its key is in an unknown form")),
    }
}

/// Writes version 1 without a public key; ML-DSA-65 as seed.
pub(crate) fn encode(algorithm: Algorithm, seed: &[u8; 32]) -> Zeroizing<String> {
    let (oid, tag) = match algorithm {
        Algorithm::Ed25519 => (OID_ED25519, OCTETS),
        Algorithm::MlDsa65 => (OID_ML_DSA_65, SEED),
    };
    let key = Zeroizing::new(tlv(tag, seed));
    let identifier = tlv(SEQUENCE, &tlv(OID, oid));
    let body = Zeroizing::new([tlv(INTEGER, &[0]), identifier, tlv(OCTETS, &key)].concat());
    let der = Zeroizing::new(tlv(SEQUENCE, &body));
    let text = Zeroizing::new(STANDARD.encode(der.as_slice()));
    let mut out = Zeroizing::new(String::with_capacity(text.len() + 64));
    out.push_str(BEGIN);
    for (at, c) in text.chars().enumerate() {
        if at % 64 == 0 {
            out.push('\n');
        }
        out.push(c);
    }
    out.push('\n');
    out.push_str(END);
    out.push('\n');
    out
}

/// One element. All elements written here are shorter than 128 bytes.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 2);
    out.push(tag);
    out.push(u8::try_from(content.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(content);
    out
}

/// Reads elements one after the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn next(&mut self) -> Result<(u8, &'a [u8]), CryptoError> {
        const CUT: CryptoError = bad("it is cut off or not DER");
        let [tag, short, rest @ ..] = self.0 else { return Err(CUT) };
        let (len, rest) = match (short, rest) {
            (0..=0x7f, rest) => (usize::from(*short), rest),
            (0x81, [a, rest @ ..]) => (usize::from(*a), rest),
            (0x82, [a, b, rest @ ..]) => (usize::from(*a) << 8 | usize::from(*b), rest),
            _ => return Err(CUT),
        };
        let (content, after) = rest.split_at_checked(len).ok_or(CUT)?;
        self.0 = after;
        Ok((*tag, content))
    }

    fn take(&mut self, tag: u8) -> Result<&'a [u8], CryptoError> {
        match self.next()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(bad("it is not a PKCS#8 private key")),
        }
    }

    fn end(&self) -> Result<(), CryptoError> {
        if self.0.is_empty() { Ok(()) } else { Err(bad("something follows the key in it")) }
    }
}
