//! Random bytes and numbers from the operating system.
use crate::CryptoError;

/// `N` bytes from the system.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], CryptoError> {
    let mut out = [0; N];
    getrandom::fill(&mut out).map_err(|_| CryptoError::Random)?;
    Ok(out)
}

/// 16 random bytes, enough that ids do not collide in practice.
pub fn random_id() -> Result<[u8; 16], CryptoError> {
    random_bytes()
}

/// A random number below `bound`, without bias: numbers at or above the largest multiple of `bound` are drawn again.
pub(crate) fn random_below(bound: u32) -> Result<u32, CryptoError> {
    let limit = u32::MAX - u32::MAX % bound.max(1);
    loop {
        let n = u32::from_le_bytes(random_bytes()?);
        if n < limit {
            return Ok(n % bound.max(1));
        }
    }
}
