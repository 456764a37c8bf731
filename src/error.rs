//! The one error of the project: whose fault it is, whether another try can help, what the
//! client is told (MySQL code, SQLSTATE, text) and what the log is told besides.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// Whose fault an error is; decides the log level and the metric, never the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The statement or the client's bytes.
    Client,
    /// A server answered so, or could not be reached.
    Shard,
    /// Bifold itself: a bound reached, an invariant broken.
    Proxy,
    /// The topology file, the grants, the servers' settings.
    Operator,
}

#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    blame: Blame,
    retry: bool,
    ends_session: bool,
    code: u16,
    state: [u8; 5],
    text: Vec<u8>,
    cause: Option<String>,
}

/// MySQL error numbers that Bifold itself gives, with their SQLSTATE.
pub mod code {
    pub const ACCESS_DENIED: (u16, &[u8; 5]) = (1045, b"28000");
    pub const DB_ACCESS_DENIED: (u16, &[u8; 5]) = (1044, b"42000");
    pub const NO_DB: (u16, &[u8; 5]) = (1046, b"3D000");
    pub const UNKNOWN_COM: (u16, &[u8; 5]) = (1047, b"08S01");
    pub const BAD_DB: (u16, &[u8; 5]) = (1049, b"42000");
    pub const CON_COUNT: (u16, &[u8; 5]) = (1040, b"08004");
    pub const HANDSHAKE: (u16, &[u8; 5]) = (1043, b"08S01");
    pub const PARSE: (u16, &[u8; 5]) = (1064, b"42000");
    pub const UNKNOWN: (u16, &[u8; 5]) = (1105, b"HY000");
    pub const BAD_NULL: (u16, &[u8; 5]) = (1048, b"23000");
    pub const WRONG_VALUE_COUNT: (u16, &[u8; 5]) = (1136, b"21S01");
    pub const TABLE_DENIED: (u16, &[u8; 5]) = (1142, b"42000");
    pub const NO_SUCH_TABLE: (u16, &[u8; 5]) = (1146, b"42S02");
    pub const PACKET_TOO_LARGE: (u16, &[u8; 5]) = (1153, b"08S01");
    pub const LOCK_WAIT: (u16, &[u8; 5]) = (1205, b"HY000");
    pub const DEADLOCK: (u16, &[u8; 5]) = (1213, b"40001");
    pub const WRONG_ARGUMENTS: (u16, &[u8; 5]) = (1210, b"HY000");
    pub const SPECIFIC_ACCESS_DENIED: (u16, &[u8; 5]) = (1227, b"42000");
    pub const NOT_SUPPORTED: (u16, &[u8; 5]) = (1235, b"42000");
    pub const UNKNOWN_THREAD: (u16, &[u8; 5]) = (1094, b"HY000");
    pub const NOT_OWNER: (u16, &[u8; 5]) = (1095, b"HY000");
    pub const QUERY_INTERRUPTED: (u16, &[u8; 5]) = (1317, b"70100");
    pub const UNKNOWN_STMT: (u16, &[u8; 5]) = (1243, b"HY000");
    pub const MALFORMED: (u16, &[u8; 5]) = (1835, b"HY000");
    pub const SERVER_LOST: (u16, &[u8; 5]) = (2013, b"HY000");
    pub const SERVER_GONE: (u16, &[u8; 5]) = (2006, b"HY000");
}

impl Error {
    pub fn new(blame: Blame, code: (u16, &[u8; 5]), text: impl Into<Vec<u8>>) -> Self {
        Error(Box::new(Inner {
            blame,
            retry: false,
            ends_session: false,
            code: code.0,
            state: *code.1,
            text: text.into(),
            cause: None,
        }))
    }

    /// A refusal: what is not supported, and what to do instead. Error 1235, SQLSTATE 42000.
    pub fn refused(sentence: impl Into<Vec<u8>>) -> Self {
        Error::new(Blame::Client, code::NOT_SUPPORTED, sentence)
    }

    /// An error of the statement, with the number that a server gives for it.
    pub fn client(code: (u16, &[u8; 5]), text: impl Into<Vec<u8>>) -> Self {
        Error::new(Blame::Client, code, text)
    }

    /// A mistake in the topology file, the grants or the servers' settings.
    pub fn operator(text: impl Into<Vec<u8>>) -> Self {
        Error::new(Blame::Operator, code::UNKNOWN, text)
    }

    /// Bifold's own trouble.
    pub fn proxy(text: impl Into<Vec<u8>>) -> Self {
        Error::new(Blame::Proxy, code::UNKNOWN, text)
    }

    /// A server that could not be reached or went away.
    pub fn shard(text: impl Into<Vec<u8>>, cause: impl fmt::Display) -> Self {
        Error::new(Blame::Shard, code::SERVER_LOST, text).because(cause)
    }

    /// The same error in other words.
    pub fn with_text(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.0.text = text.into();
        self
    }

    /// Another try of the same statement can help.
    pub fn retryable(mut self) -> Self {
        self.0.retry = true;
        self
    }

    /// The client is gone, or the reply is broken off where no error can be told: the session
    /// ends with it.
    pub fn ending_session(mut self) -> Self {
        self.0.ends_session = true;
        self
    }

    /// The cause, for the log only.
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    pub fn blame(&self) -> Blame {
        self.0.blame
    }
    pub fn is_retryable(&self) -> bool {
        self.0.retry
    }
    pub fn ends_session(&self) -> bool {
        self.0.ends_session
    }
    pub fn code(&self) -> u16 {
        self.0.code
    }
    pub fn state(&self) -> &[u8; 5] {
        &self.0.state
    }
    /// Safe for the client, in the client's character set where it quotes the statement.
    pub fn text(&self) -> &[u8] {
        &self.0.text
    }
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(self.text()))?;
        match self.cause() {
            Some(cause) => write!(f, " ({cause})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
