#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| keepsake_fuzz::run("mem0", data));
