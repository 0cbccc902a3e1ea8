//! Is there a response that breaks who reads it?

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rig_fuzz::replies::decode(input));
