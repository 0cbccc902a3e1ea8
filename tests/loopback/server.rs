//! Who answers on loopback? A server of raw HTTP responses, one thread per connection.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A server that stops with the process.
pub(crate) struct Server {
    address: SocketAddr,
    events: Receiver<Event>,
}

/// What a server does with a request.
pub(crate) enum Reply {
    /// Sends a whole response, and waits for the next request.
    Whole(String),
    /// Sends a whole response after this long, and waits for the next request.
    Late(Duration, String),
    /// Sends these bytes and closes the connection.
    Cut(String),
    /// Sends these bytes, each piece for itself, and closes the connection.
    Bytes(Vec<Vec<u8>>),
    /// Reads the request, and resets the connection.
    Reset,
    /// Sends these bytes, and nothing more for as long as the client stays.
    Stall(String),
    /// Sends a head without an end of its body, and a blank now and then for as long as the client stays.
    Drip,
    /// Sends what it is handed, when it is handed it, and then waits for the next request.
    Pieces(Receiver<String>),
}

/// What happens to a server.
#[derive(Debug)]
pub(crate) enum Event {
    /// A request has arrived; it is not answered yet.
    Request(Seen),
    /// The client has closed a connection.
    Closed(usize),
}

/// A request as it stood on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The connection's number, from 0.
    pub(crate) connection: usize,
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

type Answer = dyn FnMut(&Seen) -> Reply + Send;

impl Server {
    /// Starts a server that answers from a script, in the order of the requests.
    pub(crate) fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut replies: VecDeque<_> = replies.into_iter().collect();
        Self::start(move |_| {
            replies
                .pop_front()
                .unwrap_or_else(|| response(400, "", "no reply is left"))
        })
    }

    /// Starts a server that asks `answer` about every request.
    pub(crate) fn start(answer: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, events) = channel();
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(answer));
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (sender, answer) = (sender.clone(), Arc::clone(&answer));
                thread::spawn(move || {
                    // An error is the client's going away in the middle of something.
                    let _ = serve(connection, &mut stream.unwrap(), &sender, &answer);
                    let _ = sender.send(Event::Closed(connection));
                });
            }
        });
        Self { address, events }
    }

    /// Returns the server's address.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address of a provider's folder.
    pub(crate) fn base_url(&self, provider: &str) -> String {
        format!("{}/{provider}", self.address())
    }

    /// Waits for the next event.
    pub(crate) fn next(&self) -> Event {
        self.events.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    /// Returns the requests that have arrived since the last question.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        let events = self.events.try_iter();
        let requests = events.filter_map(|event| match event {
            Event::Request(seen) => Some(seen),
            Event::Closed(_) => None,
        });
        requests.collect()
    }
}

/// A host that takes no connection. It stops with this value.
pub(crate) struct Unreachable {
    pub(crate) address: String,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl Unreachable {
    /// Fills the queue of connections that nobody accepts: once it is full, no further one is made.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let patience = Duration::from_millis(200);
        let mut waiting = Vec::new();
        while let Ok(one) = TcpStream::connect_timeout(&address, patience) {
            waiting.push(one);
            assert!(waiting.len() < 10_000, "the queue has no end");
        }
        Self {
            address: format!("http://{address}"),
            _listener: listener,
            _waiting: waiting,
        }
    }
}

/// Returns a response with a status, further headers (each with its line end) and a body.
pub(crate) fn response(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Whole(format!(
        "HTTP/1.1 {status} S\r\n{headers}content-length: {length}\r\n\r\n{body}"
    ))
}

/// Answers the requests of a connection until one side closes it.
fn serve(
    connection: usize,
    stream: &mut TcpStream,
    events: &Sender<Event>,
    answer: &Mutex<Answer>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(seen) = read_request(connection, stream)? {
        let _ = events.send(Event::Request(seen.clone()));
        let reply = (answer.lock().unwrap())(&seen);
        match reply {
            Reply::Whole(text) => stream.write_all(text.as_bytes())?,
            Reply::Late(wait, text) => {
                thread::sleep(wait);
                stream.write_all(text.as_bytes())?;
            }
            Reply::Cut(text) => return stream.write_all(text.as_bytes()),
            Reply::Bytes(pieces) => {
                return pieces.iter().try_for_each(|piece| stream.write_all(piece));
            }
            // With no time to linger, closing is a reset.
            Reply::Reset => {
                return socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
            }
            Reply::Stall(text) => {
                stream.write_all(text.as_bytes())?;
                let mut byte = [0];
                while stream.read(&mut byte)? > 0 {}
                return Ok(());
            }
            Reply::Drip => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
                loop {
                    stream.write_all(b"1\r\n \r\n")?;
                    thread::sleep(Duration::from_millis(5));
                }
            }
            Reply::Pieces(pieces) => {
                for piece in pieces {
                    stream.write_all(piece.as_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a request; `None` where the client has closed the connection instead.
fn read_request(connection: usize, stream: &mut TcpStream) -> io::Result<Option<Seen>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split_once("content-length: ").unwrap().1;
    let mut body = vec![0; length.split_once("\r\n").unwrap().0.parse().unwrap()];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8(body).unwrap();
    Ok(Some(Seen {
        connection,
        head,
        body,
    }))
}
