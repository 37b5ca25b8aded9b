//! Argon2id: derives a key from a passphrase. The cost is measured when a slot is created, has a minimum, and is
//! checked against limits when a header is read.
use crate::{CryptoError, Secret};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use rayon::iter::{IntoParallelRefMutIterator, ParallelExtend, ParallelIterator, repeat_n};
use std::time::{Duration, Instant};
use zeroize::Zeroize;

const KIB_PER_MIB: u32 = 1024;
/// The minimum cost: 64 MiB, three passes, four lanes.
const MIN_PARAMS: KdfParams = KdfParams { memory_kib: 64 * KIB_PER_MIB, passes: 3, lanes: 4 };
/// Maximum memory in MiB that calibration chooses, so that a vault also opens on a smaller machine.
const MAX_CALIBRATED_MIB: u32 = 1024;
const ALLOWED_MEMORY_KIB: std::ops::RangeInclusive<u32> = 64 * KIB_PER_MIB..=2048 * KIB_PER_MIB;
const ALLOWED_PASSES: std::ops::RangeInclusive<u32> = 3..=16;
const ALLOWED_LANES: std::ops::RangeInclusive<u32> = 1..=8;
/// The time that an unlock should take: the middle of 0.5 to 1 s.
const TARGET_TIME: Duration = Duration::from_millis(750);

/// Selects the cost of key derivation for a new slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KdfChoice {
    /// A cost of up to 0.75 s, measured on this machine, but at least the lowest allowed cost.
    Calibrate,
    /// The lowest allowed cost.
    Floor,
}

/// Argon2id parameters (version 0x13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KdfParams {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Number of lanes, which can be computed in parallel.
    pub lanes: u32,
}

impl KdfParams {
    /// The lowest allowed cost.
    pub const fn floor() -> Self {
        MIN_PARAMS
    }

    /// The parameters for a choice. Calibration measures how long the minimum cost takes, and raises the cost to at
    /// most [`TARGET_TIME`].
    pub(crate) fn choose(choice: KdfChoice) -> Result<Self, CryptoError> {
        match choice {
            KdfChoice::Floor => Ok(MIN_PARAMS),
            KdfChoice::Calibrate => {
                let start = Instant::now();
                MIN_PARAMS.derive(b"calibration", &[0; 16])?;
                Ok(Self::scaled_params(start.elapsed()))
            }
        }
    }

    /// Parameters that take at most [`TARGET_TIME`], but at least the minimum, if the minimum takes `floor`. Raises the
    /// memory first, then the passes; the time is proportional to their product.
    pub(crate) fn scaled_params(floor: Duration) -> Self {
        let ratio = u32::try_from(TARGET_TIME.as_micros() / floor.as_micros().max(1)).unwrap_or(u32::MAX);
        let times = ratio.clamp(1, MAX_CALIBRATED_MIB * KIB_PER_MIB / MIN_PARAMS.memory_kib);
        let passes = (MIN_PARAMS.passes.saturating_mul(ratio) / times).clamp(MIN_PARAMS.passes, *ALLOWED_PASSES.end());
        Self { memory_kib: MIN_PARAMS.memory_kib * times, passes, lanes: MIN_PARAMS.lanes }
    }

    /// Fails if the cost is so low that it protects too little, or so high that a manipulated header could exhaust the
    /// machine.
    pub(crate) fn check(&self) -> Result<(), CryptoError> {
        let is_allowed = ALLOWED_MEMORY_KIB.contains(&self.memory_kib)
            && ALLOWED_PASSES.contains(&self.passes)
            && ALLOWED_LANES.contains(&self.lanes);
        if is_allowed { Ok(()) } else { Err(CryptoError::KdfParameters) }
    }

    /// The 32-byte key for a secret and a salt. Fails if [`check`](Self::check) fails.
    pub(crate) fn derive(&self, secret: &[u8], salt: &[u8; 16]) -> Result<Secret, CryptoError> {
        self.check()?;
        self.derive_unchecked(secret, salt)
    }

    /// The 32-byte key for a secret and a salt. The caller must limit the cost. Argon2id's working memory is wiped,
    /// because the key can be computed from its last blocks.
    pub(crate) fn derive_unchecked(&self, secret: &[u8], salt: &[u8]) -> Result<Secret, CryptoError> {
        let params =
            Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).map_err(|_| CryptoError::KdfParameters)?;
        let count = params.block_count();
        let mut memory = Vec::new();
        memory.try_reserve_exact(count).map_err(|_| CryptoError::Io(std::io::ErrorKind::OutOfMemory.into()))?;
        // All cores write the memory for the first time, because the system provides each page only then. On one core,
        // this takes half as long as the passes, which use all cores too.
        memory.par_extend(repeat_n(Block::new(), count));
        let mut key = Secret::new([0; 32]);
        let derived = Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into_with_memory(
            secret,
            salt,
            key.bytes_mut(),
            &mut memory,
        );
        memory.par_iter_mut().for_each(Zeroize::zeroize);
        // The wiped memory is freed on another thread, because returning this much to the system takes milliseconds.
        rayon::spawn(move || drop(memory));
        derived.map_err(|_| CryptoError::KdfParameters)?;
        Ok(key)
    }
}
