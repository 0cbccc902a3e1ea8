//! Servers that speak HTTP/2 and do what few servers do when one would like to test it.
//!
//! They write their frames by hand (RFC 9113, §4.1 and §6), since a server that keeps the protocol would close what it
//! has retired, and decides by itself which streams it refuses.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

mod trusted;

pub(crate) use trusted::{child_tls, in_child};

/// What a client says before its first frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

/// How many streams of a connection may be open at once: `SETTINGS_MAX_CONCURRENT_STREAMS` (§6.5.2), and its value.
const TWO_STREAMS: [u8; 6] = [0, 3, 0, 0, 0, 2];

/// `:status: 200`, as the static table of HPACK numbers it (RFC 7541, appendix A).
const STATUS_200: [u8; 1] = [0x88];

/// The longest frame that a client has to take.
const LONGEST_FRAME: usize = 16_384;

/// How often a connection looks at what happens on the others.
const LOOK: Duration = Duration::from_millis(5);

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Retires its first connection as soon as the first request is answered, and leaves it open.
    RetiresAfterAnswer,
    /// Retires its first connection once its second request is there, which nobody processes.
    RetiresUnderRequest,
    /// Lets two streams of a connection be open, refuses others, and answers the first request at once. It answers the
    /// others only after this many have arrived, over all connections.
    Together(usize),
    /// Refuses as many requests as this, and answers the others.
    Refuses(usize),
}

/// What happens to a server, by the connection's number, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A whole request is there, on this stream.
    Request { connection: usize, stream: u32 },
    /// A request is refused before anybody looks at it.
    Refused { connection: usize, stream: u32 },
    /// The client is told that no request after the first is processed.
    Retired,
}

/// A server that stops with the process.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) events: Receiver<Event>,
}

impl Server {
    /// Starts a server that answers with this body.
    pub(crate) fn start(tls: Arc<ServerConfig>, script: Script, body: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, events) = channel();
        let count = Arc::<AtomicUsize>::default();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(LOOK)).unwrap();
                let tls = ServerConnection::new(Arc::clone(&tls)).unwrap();
                let mut connection = Connection {
                    number,
                    stream: StreamOwned::new(tls, stream),
                    read: Vec::new(),
                    events: sender.clone(),
                    script,
                    count: Arc::clone(&count),
                    open: Vec::new(),
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
    /// What has been read and is no whole frame yet.
    read: Vec<u8>,
    events: Sender<Event>,
    script: Script,
    /// How many requests the server has had, or refused.
    count: Arc<AtomicUsize>,
    /// Requests that wait for their answer.
    open: Vec<u32>,
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
        while self.read.len() < PREFACE.len() {
            self.fill()?;
        }
        assert!(self.read.drain(..PREFACE.len()).eq(PREFACE.iter().copied()));
        let settings: &[u8] = match self.script {
            Script::Together(_) => &TWO_STREAMS,
            _ => &[],
        };
        self.write(SETTINGS, 0, 0, settings)?;
        loop {
            self.answer_together(body)?;
            let Some(frame) = self.next()? else { continue };
            match frame.kind {
                SETTINGS if frame.flags & ACK == 0 => self.write(SETTINGS, ACK, 0, &[])?,
                PING if frame.flags & ACK == 0 => self.write(PING, ACK, 0, &frame.payload)?,
                HEADERS | DATA if frame.flags & END_STREAM != 0 => {
                    self.request(frame.stream, body)?;
                }
                _ => {}
            }
        }
    }

    fn request(&mut self, stream: u32, body: &str) -> io::Result<()> {
        let connection = self.number;
        match self.script {
            Script::Together(_) if self.open.len() == 2 => return self.refuse(stream),
            Script::Refuses(most) if self.count.fetch_add(1, Ordering::SeqCst) < most => {
                return self.refuse(stream);
            }
            _ => {}
        }
        let _ = self.events.send(Event::Request { connection, stream });
        let is_retired = connection == 0 && self.has_answered;
        match self.script {
            Script::RetiresUnderRequest if is_retired => self.retire(),
            Script::RetiresAfterAnswer if is_retired => Ok(()),
            Script::Together(_) if self.count.fetch_add(1, Ordering::SeqCst) > 0 => {
                self.open.push(stream);
                Ok(())
            }
            script => {
                self.answer(stream, body)?;
                match script {
                    Script::RetiresAfterAnswer if connection == 0 => self.retire(),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Answers what waits, if all have arrived for whom it waits.
    fn answer_together(&mut self, body: &str) -> io::Result<()> {
        let Script::Together(together) = self.script else {
            return Ok(());
        };
        if self.count.load(Ordering::SeqCst) <= together {
            return Ok(());
        }
        for stream in std::mem::take(&mut self.open) {
            self.answer(stream, body)?;
        }
        Ok(())
    }

    fn answer(&mut self, stream: u32, body: &str) -> io::Result<()> {
        assert!(body.len() <= LONGEST_FRAME);
        self.has_answered = true;
        self.write(HEADERS, END_HEADERS, stream, &STATUS_200)?;
        self.write(DATA, END_STREAM, stream, body.as_bytes())
    }

    fn refuse(&mut self, stream: u32) -> io::Result<()> {
        let connection = self.number;
        let _ = self.events.send(Event::Refused { connection, stream });
        self.write(RST_STREAM, 0, stream, &REFUSED_STREAM)
    }

    /// Says that the first stream was the last one processed, without an error.
    fn retire(&mut self) -> io::Result<()> {
        // Told first, so that it comes before whatever the client does about it.
        let _ = self.events.send(Event::Retired);
        self.write(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])
    }

    /// Returns the next frame; `None` if none has arrived for a while.
    fn next(&mut self) -> io::Result<Option<Frame>> {
        let Some((&[a, b, c, kind, flags, s0, s1, s2, s3], rest)) = self.read.split_first_chunk()
        else {
            return self.fill().map(|()| None);
        };
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let Some(payload) = rest.get(..length) else {
            return self.fill().map(|()| None);
        };
        let frame = Frame {
            kind,
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]),
            payload: payload.to_vec(),
        };
        self.read.drain(..9 + length);
        Ok(Some(frame))
    }

    /// Reads what has arrived, or nothing if that takes a while.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4_096];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.read.extend_from_slice(&bytes[..length]);
                Ok(())
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
        self.stream.write_all(&[a, b, c, kind, flags])?;
        self.stream.write_all(&stream.to_be_bytes())?;
        self.stream.write_all(payload)?;
        self.stream.flush()
    }
}
