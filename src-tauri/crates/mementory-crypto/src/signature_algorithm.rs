//! The signature algorithms of portable files, and why a signature is refused.

/// Signature algorithms for which this program can create signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `ed25519`
    Ed25519,
    /// `ml-dsa-65`
    MlDsa65,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Ed25519, Self::MlDsa65];

    /// Name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::MlDsa65 => "ml-dsa-65",
        }
    }

    /// The algorithm with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.as_str() == name)
    }

    /// Length of a raw public key in bytes.
    pub fn public_len(self) -> usize {
        match self {
            Self::Ed25519 => 32,
            Self::MlDsa65 => 1952,
        }
    }

    /// Length of a signature in bytes.
    pub fn signature_len(self) -> usize {
        match self {
            Self::Ed25519 => 64,
            Self::MlDsa65 => 3309,
        }
    }
}

/// Why a signature is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// An unknown algorithm, a malformed key or signature, or a signature over other data.
    Invalid,
    /// An RSA key with this many bits, below 2048: its signatures can be forged.
    RsaTooWeak(u32),
    /// An RSA key with this many bits, above 8192.
    RsaTooLarge(u32),
}
