//! Key slots, envelopes, signing and keyed hashing. The only crate that touches primitives.
