//! What needs real sockets, processes or servers.
//!
//! `http`, `cases`, `retired`, `reuse`, `runtimes`, `streams`, `unsent`, `envelope` and `crash` talk to a server of this binary, over loopback, and `witness` to
//! servers that nobody here wrote. The other tests build scratch crates with the cargo that runs them, offline; see `scratch` for where those live and why the second run is fast.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this binary is a test, and deals in real time, processes and environments"
)]

mod answers;
mod bed;
mod cases;
mod crash;
mod envelope;
mod export;
mod faults;
mod fieldcase;
mod h2;
mod http;
mod paths;
mod places;
mod rebuild;
mod retired;
mod reuse;
mod runtimes;
mod scratch;
mod server;
mod streams;
mod strict;
mod stuck;
mod types;
mod unsent;
mod witness;
