//! What needs real sockets, processes or servers.
//!
//! `http` and `crash` talk to a server in this process, over loopback. The other tests build scratch crates with
//! the cargo that runs them, offline; see `scratch` for where those live and why the second run is fast.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this binary is a test, and deals in real time, processes and environments"
)]

mod bed;
mod crash;
mod envelope;
mod export;
mod faults;
mod fieldcase;
mod http;
mod places;
mod rebuild;
mod scratch;
mod server;
mod strict;
mod types;
