//! The recovery code: 160 random bits as eight groups of four characters that are hard to misread.
use crate::{CryptoError, random_bytes};
use zeroize::Zeroizing;

/// Crockford's base 32: no I, L, O or U.
const RECOVERY_CODE_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LENGTH: usize = 32;
const GROUP_LENGTH: usize = 4;

/// A recovery code. `Display` shows it, because the user sees it once; `Debug` does not.
pub struct RecoveryCode(Zeroizing<[u8; CODE_LENGTH]>);

impl RecoveryCode {
    /// A new random code.
    pub fn generate() -> Result<Self, CryptoError> {
        let bits = Zeroizing::new(random_bytes::<CODE_LENGTH>()?);
        // With 32 symbols, the low five bits of a random byte choose a symbol without bias.
        Ok(Self(Zeroizing::new(bits.map(|b| RECOVERY_CODE_ALPHABET[usize::from(b & 31)]))))
    }

    /// Parses a typed code. Ignores case, spaces and dashes, and reads `O` as `0` and `I` and `L` as `1`. Returns
    /// `None` if what remains is not 32 characters of the alphabet.
    pub fn parse(text: &str) -> Option<Self> {
        let mut out = Zeroizing::new([0; CODE_LENGTH]);
        let mut len = 0;
        for c in text.chars() {
            let c = match c.to_ascii_uppercase() {
                '-' | '\u{2010}'..='\u{2015}' => continue,
                c if c.is_whitespace() => continue,
                'O' => '0',
                'I' | 'L' => '1',
                c => c,
            };
            let byte = u8::try_from(c).ok().filter(|b| RECOVERY_CODE_ALPHABET.contains(b))?;
            *out.get_mut(len)? = byte;
            len += 1;
        }
        (len == CODE_LENGTH).then_some(Self(out))
    }

    /// The characters without dashes, from which the key is derived.
    pub(crate) fn secret(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl std::fmt::Display for RecoveryCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if i > 0 && i % GROUP_LENGTH == 0 {
                f.write_str("-")?;
            }
            std::fmt::Write::write_char(f, char::from(*byte))?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecoveryCode")
    }
}
