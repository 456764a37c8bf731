//! [`Client`]: one client's connection and all that the proxy keeps for it between statements.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::engine::{Engine, Sharing};
use super::statement::Flow;
use crate::admission::{HotKey, HotKeys, Pass, Passing};
use crate::config::User;
use crate::context::{Setting, State};
use crate::error::{Blame, Error, Result, code};
use crate::plan::{Plan, Planned};
use crate::protocol::eof::EofPacket;
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::{Capabilities, Status};
use crate::registry::{ClientId, Entry, Who};
use crate::shard::ReplyShape;
use crate::sql::{Charset, Dialect, Flavour, Mode};
use crate::topology::Schema;
use crate::transaction::Hold;
use crate::wire::Framed;

/// Keys that a transaction is known to be under way for; those of larger ones are not looked for.
const REMEMBERED: usize = 32;

#[derive(Debug)]
pub struct Client {
    pub wire: Framed,
    pub id: ClientId,
    pub user: Arc<User>,
    /// The address that it came from, as USER() shows it.
    pub host: String,
    pub capabilities: Capabilities,
    pub shape: ReplyShape,
    /// The default database.
    pub schema: Option<Arc<Schema>>,
    pub entry: Entry,
    pub hold: Hold,
    /// The keys that the transaction, or the statement, is under way for.
    passing: Vec<Passing>,
    pub memory: Memory,
    pub(super) settings: Settings,
    pub several: Several,
    /// Texts prepared by PREPARE, with the number of their parameters; by name in lower case.
    pub(super) prepared: HashMap<String, (Box<[u8]>, u16)>,
    /// While it holds connections that may write.
    pass: Option<Pass>,
}

/// A text of several statements.
#[derive(Debug, Default)]
pub struct Several {
    /// The client may send such ones.
    pub allowed: bool,
    /// The statement under way is not the last one.
    pub(super) more: bool,
    /// The byte of the text at which the statement begins that was held before the gate.
    pub(super) held_at: usize,
}

/// What the last statements left for session functions and SHOW WARNINGS.
#[derive(Debug, Default)]
pub struct Memory {
    pub last_insert_id: u64,
    /// −1 after a result set and after an error.
    pub row_count: i64,
    pub found_rows: u64,
    pub diagnostics: Vec<Diagnostic>,
    /// The last statement ended with an error.
    pub in_error: bool,
}

impl Memory {
    /// What a statement that ended with an error leaves.
    pub fn failed(&mut self, error: &Error) {
        self.row_count = -1;
        self.in_error = true;
        self.diagnostics = vec![Diagnostic { level: Level::Error, code: error.code(), text: error.text().to_vec() }];
    }
}

/// A row of SHOW WARNINGS, physical names made logical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub level: Level,
    pub code: u16,
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// The session's state and what follows from it.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) state: Arc<State>,
    dialect: Dialect,
    /// The client's character set, in lower case.
    charset: String,
    /// What literals are turned into, in lower case.
    connection_charset: String,
    /// The session has SET timestamp.
    has_instant: bool,
    autocommit: bool,
    no_zero_ids: bool,
    strict: bool,
}

impl Client {
    pub fn new(
        wire: Framed,
        id: ClientId,
        user: Arc<User>,
        host: SocketAddr,
        capabilities: Capabilities,
        state: Arc<State>,
        engine: &Engine,
    ) -> Self {
        let settings = Settings::of(state, engine);
        let address = host.ip().to_canonical();
        let seen = SocketAddr::new(address, host.port()).to_string();
        let entry = engine.registry.enter(id, Who { user: user.name.clone(), host: seen, schema: None });
        let mut hold = Hold::new(engine.coordinator.clone(), engine.tickets.clone(), entry.listed().clone());
        hold.follow_autocommit(settings.autocommit);
        Client {
            wire,
            id,
            user,
            host: address.to_string(),
            capabilities,
            shape: ReplyShape::of(capabilities),
            schema: None,
            entry,
            hold,
            passing: Vec::new(),
            memory: Memory::default(),
            settings,
            prepared: HashMap::new(),
            several: Several { allowed: capabilities.has(Capabilities::MULTI_STATEMENTS), ..Several::default() },
            pass: None,
        }
    }

    pub fn state(&self) -> &Arc<State> {
        &self.settings.state
    }

    /// How this session's texts are read.
    pub fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    /// The name of the client's character set.
    pub fn charset(&self) -> &str {
        &self.settings.charset
    }

    /// The name of the character set that servers turn literals into.
    pub fn connection_charset(&self) -> &str {
        &self.settings.connection_charset
    }

    /// The session says itself what NOW() is.
    pub fn has_instant(&self) -> bool {
        self.settings.has_instant
    }

    pub fn autocommit(&self) -> bool {
        self.settings.autocommit
    }

    /// NO_AUTO_VALUE_ON_ZERO: a 0 in the id column is a 0.
    pub fn keeps_zero_ids(&self) -> bool {
        self.settings.no_zero_ids
    }

    pub fn is_strict(&self) -> bool {
        self.settings.strict
    }

    pub fn set_state(&mut self, state: Arc<State>, engine: &Engine) {
        if !Arc::ptr_eq(&self.settings.state, &state) {
            self.settings = Settings::of(state, engine);
            self.hold.follow_autocommit(self.settings.autocommit);
        }
    }

    /// The status flags of a reply that the proxy makes itself.
    pub fn status(&self) -> Status {
        Status::NONE
            .set(Status::AUTOCOMMIT, self.settings.autocommit)
            .set(Status::IN_TRANS, self.hold.in_transaction())
            .set(Status::MORE_RESULTS, self.several.more)
            .set(Status::IN_TRANS_READONLY, self.hold.is_read_only())
            .set(Status::NO_BACKSLASH_ESCAPES, self.settings.dialect.mode.no_backslash_escapes)
    }

    /// What is set in a server's reply besides its own flags.
    pub(super) fn reply_flags(&self) -> Status {
        Status::NONE.set(Status::IN_TRANS, self.hold.in_transaction()).set(Status::MORE_RESULTS, self.several.more)
    }

    // Schemas

    /// The schema of this name, if the user may use it.
    pub fn allowed_schema(&self, name: &str, engine: &Engine) -> Result<Arc<Schema>> {
        allowed_schema(&self.user, name, engine)
    }

    /// USE and COM_INIT_DB.
    pub async fn use_schema(&mut self, name: &str, engine: &Engine) -> Result<()> {
        let schema = self.allowed_schema(name, engine)?;
        self.set_schema(Some(schema));
        self.reply_ok().await
    }

    /// The default schema from now on; the user may use it.
    pub fn set_schema(&mut self, schema: Option<Arc<Schema>>) {
        self.entry.listed().set_schema(schema.as_ref().map(|schema| schema.name.as_str()));
        self.schema = schema;
    }

    /// COM_RESET_CONNECTION: the session is as after its login, but for its schema. MySQL forgets
    /// the login's character set too; MariaDB keeps it.
    pub async fn reset(&mut self, login: &Arc<State>, engine: &Engine) -> Result<()> {
        self.hold.abandon().await;
        let state = match engine.profile.dialect.flavour {
            Flavour::MariaDb => login.clone(),
            Flavour::MySql => engine.states.of(engine
                .profile
                .charsets
                .iter()
                .map(|(name, value)| (Setting::System((*name).into()), format!("'{value}'")))),
        };
        self.set_state(state, engine);
        self.memory = Memory::default();
        self.prepared.clear();
        self.reply_ok().await
    }

    /// COM_CHANGE_USER: the session of another user begins, with these settings and no schema.
    pub fn become_user(&mut self, user: Arc<User>, state: Arc<State>, engine: &Engine) {
        self.user = user;
        self.schema = None;
        self.set_state(state, engine);
        self.memory = Memory::default();
        self.prepared.clear();
    }

    // After each command

    /// Tells the client of an error before any reply, and remembers it for SHOW WARNINGS.
    pub async fn fail(&mut self, error: Error) -> Result<()> {
        match error.blame() {
            Blame::Client => tracing::debug!(client = self.id.0, %error, "statement failed"),
            Blame::Shard | Blame::Proxy | Blame::Operator => {
                tracing::warn!(client = self.id.0, %error, "statement failed")
            }
        }
        self.reply_error(&error).await?;
        self.memory.failed(&error);
        Ok(())
    }

    /// Before a statement that says nothing itself: MariaDB keeps what the one before said, unless
    /// this one names tables.
    pub(super) fn forget_diagnostics(&mut self, names_tables: bool) {
        match self.dialect().flavour {
            Flavour::MariaDb if !names_tables => {}
            Flavour::MariaDb | Flavour::MySql => self.memory.diagnostics.clear(),
        }
    }

    /// Before rows of this key are changed or locked: waits for its turn, unless the session holds a
    /// connection already and would keep others waiting, be it for these very rows.
    pub(super) async fn take_turn(&mut self, keys: &Arc<HotKeys>, key: HotKey, wait: Duration) -> Result<()> {
        if self.passing.len() >= REMEMBERED || self.passing.iter().any(|passing| passing.key().id == key.id) {
            return Ok(());
        }
        let passing = match self.hold.any() {
            None => {
                let listed = self.entry.listed().clone();
                listed.unless_killed(pin!(keys.enter(key, wait))).await?
            }
            Some(_) => keys.join(key),
        };
        self.passing.push(passing);
        Ok(())
    }

    /// Gives back what nothing binds.
    pub async fn settle(&mut self) -> Result<()> {
        let settled = self.hold.settle(std::mem::take(&mut self.memory.in_error)).await;
        if !self.passing.is_empty() && !self.hold.in_transaction() {
            self.passing.clear();
        }
        if self.pass.is_some() && self.hold.is_free() {
            self.pass = None;
        }
        settled
    }

    // While the layout changes

    /// Before a statement is carried out: one that writes, or stands in a transaction, needs the
    /// gate's pass, which the session then has until it holds no connection.
    pub(super) async fn enter(&mut self, sharing: &Sharing, planned: &Planned) -> Result<Flow> {
        if let Some(pass) = &self.pass {
            if !pass.is_given_up() {
                return Ok(Flow::Done);
            }
            return Err(self.begin_again().await);
        }
        if matches!(planned.plan, Plan::Ddl(_)) && sharing.expanding.load(Ordering::Relaxed) {
            return Err(Error::refused(
                "Bifold: definitions can't be changed while the databases are being doubled: try again when `bifold expand status` says that it is done.",
            ));
        }
        let transacts = self.hold.in_transaction() || !self.settings.autocommit;
        let needs_pass = planned.plan.needs_pass(transacts);
        if needs_pass {
            self.pass = sharing.gate.enter();
            if self.pass.is_none() {
                return Ok(Flow::Held);
            }
        }
        let asks = needs_pass || planned.plan.asks_servers();
        // Looked at behind the gate, which opens after another engine has come: then it was planned
        // for places that rows have left.
        if asks && sharing.retired.load(Ordering::SeqCst) {
            if !self.hold.is_free() {
                return Err(self.begin_again().await);
            }
            self.pass = None;
            return Ok(Flow::Held);
        }
        let held = asks && !needs_pass && sharing.gate.holds_reads();
        Ok(if held { Flow::Held } else { Flow::Done })
    }

    /// What the session holds belongs to a layout that is no longer in force.
    async fn begin_again(&mut self) -> Error {
        self.hold.abandon().await;
        self.pass = None;
        let text =
            "Bifold: the transaction was rolled back, since the layout of the databases is changing. Begin it again.";
        Error::new(Blame::Proxy, code::DEADLOCK, text).retryable()
    }

    /// Between two statements, when no connection is held: places are looked for there from now on.
    pub fn move_to(&mut self, engine: &Engine) {
        self.hold.move_to(engine.coordinator.clone(), engine.tickets.clone());
        let schema = self.schema.take();
        self.schema = schema.and_then(|schema| engine.topology.schema(&schema.name).cloned());
    }

    // Replies of the proxy's own

    pub async fn reply_ok(&mut self) -> Result<()> {
        self.reply_ok_of(OkPacket::default()).await
    }

    /// `ok` with the session's status.
    pub async fn reply_ok_of(&mut self, ok: OkPacket<'_>) -> Result<()> {
        let ok = OkPacket { status: self.status(), ..ok };
        let capabilities = self.capabilities;
        self.wire.queue_with(|out| ok.write(capabilities, out));
        self.wire.flush().await
    }

    /// The end of nothing: COM_SET_OPTION.
    pub async fn reply_eof(&mut self) -> Result<()> {
        let (status, capabilities) = (self.status(), self.capabilities);
        self.wire.queue_with(|out| match capabilities.has(Capabilities::DEPRECATE_EOF) {
            true => OkPacket { status, ..OkPacket::default() }.write_end(capabilities, out),
            false => EofPacket { warnings: 0, status }.write(out),
        });
        self.wire.flush().await
    }

    /// A packet of text alone: COM_STATISTICS.
    pub async fn reply_text(&mut self, text: &[u8]) -> Result<()> {
        self.wire.queue_packet(text);
        self.wire.flush().await
    }

    pub async fn reply_error(&mut self, error: &Error) -> Result<()> {
        self.wire.queue_with(|out| ErrPacket::of(error).write(out));
        self.wire.flush().await
    }
}

/// The schema of this name, if that user may use it.
pub fn allowed_schema(user: &User, name: &str, engine: &Engine) -> Result<Arc<Schema>> {
    let allowed = user.schemas.iter().any(|schema| schema == name);
    engine.topology.schema(name).filter(|_| allowed).cloned().ok_or_else(|| {
        let text = format!("Access denied for user '{}'@'%' to database '{name}'", user.name);
        Error::client(code::DB_ACCESS_DENIED, text)
    })
}

impl Settings {
    fn of(state: Arc<State>, engine: &Engine) -> Self {
        let profile = &engine.profile;
        let charset = state.system_word("character_set_client").unwrap_or("utf8mb4").to_ascii_lowercase();
        let connection_charset = state.system_word("character_set_connection").unwrap_or(&charset).to_ascii_lowercase();
        let sql_mode = state.system_word("sql_mode").unwrap_or(&profile.sql_mode);
        let has = |name: &str| sql_mode.split(',').any(|mode| mode.eq_ignore_ascii_case(name));
        let autocommit =
            state.system_word("autocommit").map_or(profile.autocommit, |value| matches!(value, "1" | "ON"));
        Settings {
            dialect: Dialect {
                mode: Mode::from_sql_mode(sql_mode),
                charset: Charset::from_name(&charset).unwrap_or_default(),
                ..profile.dialect
            },
            no_zero_ids: has("NO_AUTO_VALUE_ON_ZERO"),
            strict: has("STRICT_TRANS_TABLES") || has("STRICT_ALL_TABLES"),
            charset,
            connection_charset,
            has_instant: state.system("timestamp").is_some(),
            autocommit,
            state,
        }
    }
}
