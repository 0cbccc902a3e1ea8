//! Over loopback sockets: a small server per test, one thread, one answer per connection.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// Serves `answer` on every connection, and hands on the head and body of every request.
fn serve(answer: impl Fn(&mut TcpStream) + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://{}/v1/chat?key=secret",
        listener.local_addr().unwrap()
    );
    let (seen, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = read_request(&mut stream);
            if seen.send(request).is_err() {
                break;
            }
            answer(&mut stream);
            let _ = stream.shutdown(Shutdown::Write);
        }
    });
    (url, requests)
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap().to_lowercase();
    let length = head.split_once("content-length: ").unwrap().1;
    let mut body = vec![0; length.split_once("\r\n").unwrap().0.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn request(url: &str) -> Request {
    Request::new(
        url.to_owned(),
        vec![("authorization", "Bearer secret".to_owned())],
        b"{}".to_vec(),
    )
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

async fn read(response: &mut Response) -> Result<Vec<String>, TransportError> {
    let mut pieces = Vec::new();
    while let Some(piece) = response.body.chunk().await? {
        pieces.push(String::from_utf8(piece).unwrap());
    }
    Ok(pieces)
}

fn send(url: &str) -> Result<(Response, Vec<String>), TransportError> {
    block_on(async {
        let mut response = HttpTransport::new()?.send(request(url)).await?;
        let pieces = read(&mut response).await?;
        Ok((response, pieces))
    })
}

/// Returns what a request fails with, which never holds the key or the address.
fn fails(url: &str) -> TransportError {
    let error = send(url).err().unwrap();
    let text = &error.message;
    assert!(
        !text.contains("secret") && !text.contains("127.0.0.1"),
        "{text}"
    );
    error
}

#[test]
fn a_request_goes_out_once_and_the_response_comes_back_whole() {
    let (url, requests) = serve(|stream| {
        stream
            .write_all(b"HTTP/1.1 503 Busy\r\nRetry-After: 3\r\ncontent-length: 4\r\n\r\nbusy")
            .unwrap();
    });
    let (response, pieces) = send(&url).unwrap();
    assert_eq!(response.status, 503);
    assert_eq!(response.headers.get("retry-after"), Some("3"));
    assert_eq!(pieces.concat(), "busy");
    let seen = requests.recv().unwrap();
    for part in [
        "post /v1/chat?key=secret http/1.1\r\n",
        "\r\nauthorization: bearer secret\r\n",
        concat!(
            "\r\nuser-agent: modelrig/",
            env!("CARGO_PKG_VERSION"),
            "\r\n"
        ),
        "\r\n\r\n{}",
    ] {
        assert!(seen.contains(part), "{seen}");
    }
    assert!(requests.recv_timeout(Duration::from_millis(200)).is_err());
}

#[test]
fn a_chunked_body_arrives_in_pieces() {
    // The second piece is written only once the first has been read.
    let (go_on, told) = channel();
    let (url, _requests) = serve(move |stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            .unwrap();
        told.recv().unwrap();
        stream.write_all(b"6\r\nsecond\r\n0\r\n\r\n").unwrap();
    });
    block_on(async {
        let transport = HttpTransport::new().unwrap();
        let mut response = transport.send(request(&url)).await.unwrap();
        assert_eq!(response.body.chunk().await.unwrap().unwrap(), b"first");
        go_on.send(()).unwrap();
        assert_eq!(read(&mut response).await.unwrap(), ["second"]);
    });
}

#[test]
fn a_gzipped_body_is_unpacked() {
    let (url, requests) = serve(|stream| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"{\"ok\":true}").unwrap();
        let body = packer.finish().unwrap();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        stream.write_all(&body).unwrap();
    });
    let (_, pieces) = send(&url).unwrap();
    assert_eq!(pieces.concat(), "{\"ok\":true}");
    assert!(
        requests
            .recv()
            .unwrap()
            .contains("\r\naccept-encoding: gzip\r\n")
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let (elsewhere, unwanted) = serve(|_| {});
    let (url, _requests) = serve(move |stream| {
        write!(
            stream,
            "HTTP/1.1 307 Moved\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n"
        )
        .unwrap();
    });
    assert_eq!(send(&url).unwrap().0.status, 307);
    assert!(unwanted.recv_timeout(Duration::from_millis(200)).is_err());
}

// E2: a request counts as sent unless it is certain that nothing of it was.
#[test]
fn a_transport_error_says_the_cause_and_whether_the_request_was_sent() {
    let refused = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/?key=secret", listener.local_addr().unwrap())
    };
    let (silent, silent_requests) = serve(|_| {});
    let (cut_body, _requests) = serve(|stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")
            .unwrap();
    });
    let (cut_chunks, _requests) = serve(|stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            .unwrap();
    });
    // Too long for a name, so that no resolver is asked.
    let no_host = format!("http://{}.secret/", "a".repeat(64));
    let sent = "the connection was closed early";
    for url in [&silent, &cut_body, &cut_chunks] {
        assert_eq!(fails(url), TransportError::new(sent), "{url}");
    }
    let unsent = [
        (refused.as_str(), "connection refused"),
        (&no_host, "the host name cannot be resolved"),
        ("secret", "the provider's base URL is not a URL"),
        (
            "ftp://secret/",
            "the request cannot be sent to this address",
        ),
    ];
    for (url, expected) in unsent {
        assert_eq!(fails(url), TransportError::unsent(expected), "{url}");
    }
    // Not even a connection that closes without an answer makes it ask again.
    assert!(silent_requests.recv().is_ok());
    assert!(
        silent_requests
            .recv_timeout(Duration::from_millis(200))
            .is_err()
    );
}

#[test]
fn a_server_that_speaks_no_tls_fails_with_a_tls_message() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/?key=secret", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 64]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let error = fails(&url);
    assert!(error.message.starts_with("TLS failed: "), "{error}");
    assert!(!error.was_sent);
}

#[test]
fn a_header_that_cannot_be_sent_is_named_without_its_value() {
    let error = block_on(async {
        let mut request = request("http://127.0.0.1:1/");
        request.headers[0].1 = "secret\nx".to_owned();
        HttpTransport::new()
            .unwrap()
            .send(request)
            .await
            .err()
            .unwrap()
    });
    let message = "the header `authorization` cannot be sent";
    assert_eq!(error, TransportError::unsent(message));
}

// E2: whoever has given up before there is a connection is sent nothing for.
#[test]
fn nothing_is_written_for_a_caller_who_has_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let request = request(&url);
    request.departure.hold();
    assert!(!request.departure.stop());
    let error = block_on(HttpTransport::new().unwrap().send(request)).err();
    assert!(!error.unwrap().was_sent);
    let (mut stream, _) = listener.accept().unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    assert_eq!(read, b"");
}
