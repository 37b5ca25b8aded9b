//! Temp vaults, fixtures, canary scanner, and the test binaries of ../tests. Not shipped.
