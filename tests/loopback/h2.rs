//! Who answers over HTTP/2? A server that retires its first connection, and leaves it open.
//!
//! It writes its frames by hand (RFC 9113, §4.1 and §6), since a server that keeps the protocol would close what it
//! has retired.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a client says before its first frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status: 200`, as the static table of HPACK numbers it (RFC 7541, appendix A).
const STATUS_200: [u8; 1] = [0x88];

/// The longest frame that a client has to take.
const LONGEST_FRAME: usize = 16_384;

/// When the first connection is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retired {
    /// As soon as its first request is answered.
    AfterAnswer,
    /// Once its second request is there, which nobody processes.
    UnderRequest,
}

/// What happens to a server, by the connection's number, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A whole request is there, on this stream.
    Request { connection: usize, stream: u32 },
    /// The client is told that no request after the first is processed.
    Retired,
}

/// A server that stops with the process.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) events: Receiver<Event>,
}

impl Server {
    /// Starts a server that answers every request with this body, but for those on a connection that is retired.
    pub(crate) fn start(tls: Arc<ServerConfig>, retired: Retired, body: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, events) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let tls = ServerConnection::new(Arc::clone(&tls)).unwrap();
                let mut connection = Connection {
                    number,
                    stream: StreamOwned::new(tls, stream.unwrap()),
                    events: sender.clone(),
                    retires: (number == 0).then_some(retired),
                    has_answered: false,
                };
                // An error is the client's going away.
                thread::spawn(move || connection.serve(body));
            }
        });
        Self { port, events }
    }
}

struct Connection {
    number: usize,
    stream: StreamOwned<ServerConnection, TcpStream>,
    events: Sender<Event>,
    retires: Option<Retired>,
    has_answered: bool,
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Connection {
    fn serve(&mut self, body: &str) -> io::Result<()> {
        let mut preface = [0; PREFACE.len()];
        self.stream.read_exact(&mut preface)?;
        assert_eq!(preface, PREFACE);
        self.write(SETTINGS, 0, 0, &[])?;
        loop {
            let frame = self.read()?;
            match frame.kind {
                SETTINGS if frame.flags & ACK == 0 => self.write(SETTINGS, ACK, 0, &[])?,
                PING if frame.flags & ACK == 0 => self.write(PING, ACK, 0, &frame.payload)?,
                HEADERS | DATA if frame.flags & END_STREAM != 0 => {
                    let _ = self.events.send(Event::Request {
                        connection: self.number,
                        stream: frame.stream,
                    });
                    self.request(frame.stream, body)?;
                }
                _ => {}
            }
        }
    }

    fn request(&mut self, stream: u32, body: &str) -> io::Result<()> {
        if self.has_answered && self.retires == Some(Retired::UnderRequest) {
            return self.retire();
        }
        if self.has_answered && self.retires.is_some() {
            return Ok(());
        }
        self.has_answered = true;
        assert!(body.len() <= LONGEST_FRAME);
        self.write(HEADERS, END_HEADERS, stream, &STATUS_200)?;
        self.write(DATA, END_STREAM, stream, body.as_bytes())?;
        match self.retires {
            Some(Retired::AfterAnswer) => self.retire(),
            _ => Ok(()),
        }
    }

    /// Says that the first stream was the last one processed, without an error.
    fn retire(&mut self) -> io::Result<()> {
        // Told first, so that it comes before whatever the client does about it.
        let _ = self.events.send(Event::Retired);
        self.write(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])
    }

    fn read(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head)?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload)?;
        Ok(Frame {
            kind,
            flags,
            stream: u32::from_be_bytes(stream),
            payload,
        })
    }

    fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
        self.stream.write_all(&[a, b, c, kind, flags])?;
        self.stream.write_all(&stream.to_be_bytes())?;
        self.stream.write_all(payload)?;
        self.stream.flush()
    }
}
