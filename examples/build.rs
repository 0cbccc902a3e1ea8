//! Compiles the routes of this repository.

fn main() {
    rig_build::compile("../routes");
}
