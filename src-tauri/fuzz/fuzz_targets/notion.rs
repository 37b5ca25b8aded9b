#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mementory_fuzz::run("notion", data));
