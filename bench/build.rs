//! Compiles the route, as the build script of a user's crate does.

fn main() {
    rig_build::compile("routes");
}
