//! Is there a stream that says something else when it is cut elsewhere?

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rig_fuzz::replies::stream(input));
