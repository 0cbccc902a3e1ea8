//! How is a database reached, and reached again when the connection is cut?

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::time::Duration;

use postgres::config::TargetSessionAttrs;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Config, Error, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::transport::http;

/// How long a server may take to accept a connection, unless the URL says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long sent bytes may go without an acknowledgement, unless the URL says otherwise.
const SILENCE: Duration = Duration::from_secs(10);

/// What every connection is told. Nobody waits for ever for a lock, and a process that stalls in a transaction holds none
/// for ever. A commit is on disk, also where the server's default is that it need not be.
const SETTINGS: &str = "
    SET search_path = modelrig;
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '30s';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Reads are of what is committed, also where the server's default is another.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Where a database is, and how to get there.
#[derive(Clone)]
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
}

/// A connection, and the statements that it has prepared.
pub(super) struct Session {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Server {
    /// Reads a URL, of which nothing may be shown but what the [`location`](super::super::location) says.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        // Certificates and host names are always verified, so that these modes are this client's `require`.
        let url = ["verify-full", "verify-ca"]
            .iter()
            .fold(url.to_owned(), |url, mode| {
                url.replace(&format!("sslmode={mode}"), "sslmode=require")
            });
        let parsed: Result<Config, Error> = url.parse();
        // What the client says of a URL may quote it.
        let mut config = parsed.map_err(|_| "it is not the URL of a database".to_owned())?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("modelrig");
        }
        // Of several hosts the one that can be written to.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let tls = tls()?;
        Ok(Self { config, tls })
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<Session, Error> {
        let mut client = self.config.connect(self.tls.clone())?;
        client.batch_execute(SETTINGS)?;
        Ok(Session {
            client,
            statements: HashMap::new(),
        })
    }
}

fn tls() -> Result<MakeRustlsConnect, String> {
    let mut config = http::tls().map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

impl Session {
    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns whether the session is of use after an error, whose transaction ends here.
    pub(super) fn recovers(&mut self) -> bool {
        self.client.batch_execute("ROLLBACK").is_ok()
    }

    /// Does something in a transaction, which an error leaves open.
    pub(super) fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.client.batch_execute(BEGIN)?;
        let done = work(self)?;
        self.client.batch_execute("COMMIT")?;
        Ok(done)
    }

    pub(super) fn execute(
        &mut self,
        statement: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Error> {
        let statement = self.prepared(statement)?;
        self.client.execute(&statement, params)
    }

    pub(super) fn query(
        &mut self,
        statement: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(statement)?;
        self.client.query(&statement, params)
    }

    fn prepared(&mut self, text: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text)?;
        self.statements.insert(text, statement.clone());
        Ok(statement)
    }
}

/// Returns whether the same may succeed on a new connection, or at another moment.
pub(super) fn is_passing(error: &Error) -> bool {
    if let Some(code) = error.code() {
        // Connections; deadlocks and the like; too many connections; a stalled transaction; servers that shut down, crash
        // or start; a server that may only be read.
        let codes = ["08", "40", "53300", "25P03", "57P", "25006"];
        return codes.iter().any(|start| code.code().starts_with(start));
    }
    let is_of_io = |source: &(dyn std::error::Error + 'static)| source.is::<io::Error>();
    error.is_closed() || error.source().is_none_or(is_of_io)
}

/// Returns whether it failed because others held a lock for too long.
pub(super) fn is_locked(error: &Error) -> bool {
    error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

/// Returns what went wrong. A server's details may quote rows, so that only its message is told.
pub(super) fn reason(error: &Error) -> String {
    if let Some(told) = error.as_db_error() {
        // It names the user.
        if told.code().code().starts_with("28") {
            return "the server refuses the user or the password".to_owned();
        }
        return told.message().to_owned();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
