//! What needs real sockets, processes or servers.
