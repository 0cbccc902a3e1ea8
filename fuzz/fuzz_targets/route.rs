//! Is there a directory of routes that the compiler does not survive?

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use rig_fuzz::Directory;

thread_local! {
    static DIRECTORY: RefCell<Directory> = RefCell::new(Directory::new().expect("a folder to work in"));
}

fuzz_target!(|input: &[u8]| {
    DIRECTORY.with_borrow_mut(|directory| {
        let length = directory.write(input);
        directory.check(length);
    });
});
