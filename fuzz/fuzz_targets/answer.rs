//! Is there an answer on which the ways to judge it disagree?

#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_fuzz::answers::Judges;

thread_local! {
    static JUDGES: Vec<Judges> = Judges::all();
}

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        JUDGES.with(|all| all.iter().for_each(|judges| judges.agree(text)));
    }
});
