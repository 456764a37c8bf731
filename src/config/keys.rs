//! Every key of the topology file, once: where it stands, what it takes, its default, what is
//! refused, what it means. The reader checks files by this table, fills in its defaults, and
//! docs/topology.md is printed from it.

/// A key. In paths `[]` stands for one of several sections, `*` for a name that the file gives.
#[derive(Debug)]
pub struct Key {
    pub path: &'static str,
    pub kind: Kind,
    pub default: LeftOut,
    /// What is refused beside a wrong kind.
    pub refused: &'static str,
    pub meaning: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// `[listen]`, or `{ … }` inline.
    Section,
    /// `[[server]]`
    Sections,
    /// `[schema.NAME]`
    Named,
    /// Any string.
    Text,
    /// A string of 1 to 64 characters.
    Name,
    /// A file's path, relative to the folder of the topology file.
    File,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An array of strings of 1 to 64 characters.
    Names,
    /// An array of strings.
    Texts,
    Flag,
    Count {
        min: i64,
        max: i64,
    },
    /// `"500ms"`, `"5s"`, `"10m"`, `"8h"`, `"1d"`; limits in milliseconds.
    Span {
        min: i64,
        max: i64,
    },
    /// Bytes: a number, or `"64K"`, `"64M"`, `"1G"` (powers of 1024).
    Size {
        min: i64,
        max: i64,
    },
    /// `"2024-01-01T00:00:00Z"`
    Instant,
    /// Either of two, told apart by their TOML type.
    Either(&'static Kind, &'static Kind),
}

#[derive(Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Refused when left out.
    Required,
    /// Left out, the feature is off.
    Absent,
    /// TOML text, read as if it stood in the file.
    Value(&'static str),
    /// Depends on other keys: described here, filled in where they are known.
    Depends(&'static str),
}

use LeftOut::{Absent, Depends, Required, Value};

const fn key(path: &'static str, kind: Kind, default: LeftOut, refused: &'static str, meaning: &'static str) -> Key {
    Key { path, kind, default, refused, meaning }
}

const SECOND: i64 = 1000;
const HOUR: i64 = 3600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// In the order of docs/topology.md; a section stands before its keys.
pub const KEYS: &[Key] = &[
    key("cluster", Kind::Section, Value("{}"), "", "All proxies and servers that work as one."),
    key(
        "cluster.name",
        Kind::Name,
        Value("\"bifold\""),
        "more than 32 characters; other characters than letters, digits, `_`, `-`",
        "Name of the cluster; part of the ids of distributed transactions, so two clusters that share a server need two names.",
    ),
    key(
        "cluster.transactions",
        Kind::Word(&["atomic", "single"]),
        Value("\"atomic\""),
        "",
        "`atomic`: a transaction may write on several servers and is kept or undone on all of them; this needs the database `bifold` on each ([transactions](transactions.md)). `single`: a second server is refused.",
    ),
    key(
        "cluster.lock_wait",
        Kind::Span { min: 1000, max: HOUR },
        Value("\"1s\""),
        "",
        "How long a statement waits for a lock once its transaction has come to several servers, in whole seconds: no server sees a deadlock over several. A session's shorter `innodb_lock_wait_timeout` holds.",
    ),
    key("listen", Kind::Section, Value("{}"), "", "Where Bifold listens."),
    key(
        "listen.mysql",
        Kind::Text,
        Value("\"127.0.0.1:3307\""),
        "anything but `host:port`",
        "Address for applications (MySQL protocol). Port 0 takes a free port.",
    ),
    key(
        "listen.http",
        Kind::Text,
        Absent,
        "anything but `host:port`",
        "Address for `/metrics` (Prometheus), `/healthz` and `/readyz`, without a password: keep it inside. Off when left out.",
    ),
    key("listen.tls", Kind::Section, Absent, "", "TLS for applications; off when left out."),
    key(
        "listen.tls.cert",
        Kind::File,
        Required,
        "a file without a certificate",
        "PEM file with the certificate chain.",
    ),
    key("listen.tls.key", Kind::File, Required, "a file without a key", "PEM file with the private key."),
    key(
        "listen.tls.mode",
        Kind::Word(&["optional", "required"]),
        Value("\"optional\""),
        "",
        "`required` turns away logins without TLS.",
    ),
    key("limits", Kind::Section, Value("{}"), "", "Bounds for clients."),
    key(
        "limits.max_clients",
        Kind::Count { min: 1, max: 1_000_000 },
        Value("10000"),
        "",
        "Clients connected at a time; one more is told error 1040.",
    ),
    key(
        "limits.idle",
        Kind::Span { min: SECOND, max: 365 * DAY },
        Value("\"8h\""),
        "",
        "A client that sends nothing for so long is disconnected.",
    ),
    key(
        "limits.login",
        Kind::Span { min: 100, max: HOUR },
        Value("\"10s\""),
        "",
        "A login that takes longer is broken off.",
    ),
    key(
        "limits.max_packet",
        Kind::Size { min: 1 << 16, max: 1 << 30 },
        Value("\"64M\""),
        "",
        "The longest statement or row taken. Not more than the servers' `max_allowed_packet`.",
    ),
    key(
        "gather",
        Kind::Section,
        Value("{}"),
        "",
        "Bounds for statements that can't be split: what rows of several places are brought together for one of them.",
    ),
    key(
        "gather.rows",
        Kind::Count { min: 1, max: 1_000_000_000 },
        Value("1000000"),
        "",
        "Rows collected for one statement at most; one that would collect more ends with error 1104.",
    ),
    key(
        "gather.bytes",
        Kind::Size { min: 1 << 16, max: 1 << 40 },
        Value("\"256M\""),
        "",
        "Bytes of values collected for one statement at most. They lie in temporary tables of the server where the statement runs.",
    ),
    key(
        "gather.timeout",
        Kind::Span { min: 10, max: DAY },
        Value("\"60s\""),
        "",
        "Collecting that takes longer ends the statement with an error.",
    ),
    key(
        "user",
        Kind::Sections,
        Required,
        "no user at all; two of one name",
        "An account that applications log in with.",
    ),
    key("user[].name", Kind::Name, Required, "more than 32 characters", "Name of the account."),
    key(
        "user[].password",
        Kind::Text,
        Depends("`password` or `password_file`"),
        "both of them; neither",
        "Password; write `\"${NAME}\"` to take it from the environment. An empty one gives a warning.",
    ),
    key(
        "user[].password_file",
        Kind::File,
        Depends("`password` or `password_file`"),
        "a file that can't be read",
        "File that holds the password; one line end at its end is dropped.",
    ),
    key(
        "user[].schemas",
        Kind::Names,
        Required,
        "an empty list; a schema that the file does not have; one twice",
        "Schemas that the account may use.",
    ),
    key("backend", Kind::Section, Required, "", "How Bifold logs in to the servers, and its limits per server."),
    key("backend.user", Kind::Name, Required, "", "Account of Bifold on all servers."),
    key(
        "backend.password",
        Kind::Text,
        Depends("`password` or `password_file`"),
        "both of them; neither",
        "Its password, as for users.",
    ),
    key(
        "backend.password_file",
        Kind::File,
        Depends("`password` or `password_file`"),
        "a file that can't be read",
        "File that holds its password.",
    ),
    key(
        "backend.connections",
        Kind::Count { min: 1, max: 10_000 },
        Value("32"),
        "",
        "Connections to one server at most. A transaction holds one for as long as it lasts.",
    ),
    key(
        "backend.wait",
        Kind::Span { min: 1, max: HOUR },
        Value("\"10s\""),
        "",
        "How long a statement waits for a free connection before it is refused.",
    ),
    key(
        "backend.idle",
        Kind::Span { min: SECOND, max: DAY },
        Value("\"5m\""),
        "",
        "A connection unused for so long is closed. Keep it below the servers' `wait_timeout`.",
    ),
    key(
        "backend.connect",
        Kind::Span { min: 10, max: HOUR },
        Value("\"5s\""),
        "",
        "A connection not logged in after so long counts as failed.",
    ),
    key(
        "backend.statements",
        Kind::Count { min: 1, max: 100_000 },
        Value("8000"),
        "",
        "Prepared statements kept open on one server, on all connections together. Times the proxies, it must stay below the servers' `max_prepared_stmt_count`.",
    ),
    key("backend.tls", Kind::Section, Value("{}"), "", "TLS towards the servers."),
    key(
        "backend.tls.mode",
        Kind::Word(&["off", "preferred", "required", "verify"]),
        Value("\"off\""),
        "",
        "`preferred`: where the server offers it; `required`: never without; `verify`: and the certificate is checked against `ca` and the server's host name.",
    ),
    key(
        "backend.tls.ca",
        Kind::File,
        Absent,
        "left out with `verify`; given without it; a file without a certificate",
        "PEM file of the authority that signed the servers' certificates.",
    ),
    key(
        "workers",
        Kind::Section,
        Value("{}"),
        "",
        "Worker numbers of generated ids. A proxy gets its own number from `--worker`, `BIFOLD_WORKER` or its host name, never from this file, which all proxies share.",
    ),
    key(
        "workers.range",
        Kind::Name,
        Depends("all that the narrowest worker field of the file holds"),
        "anything but `\"FIRST-LAST\"`; a number that the narrowest worker field can't hold",
        "Numbers that this cluster may use, both ends included, where other services issue ids of their own.",
    ),
    key(
        "meta",
        Kind::Section,
        Absent,
        "",
        "What several proxies share: worker numbers, the version of the layout, expansions. Left out, each proxy is alone.",
    ),
    key(
        "meta.server",
        Kind::Name,
        Required,
        "a name that no server has",
        "The server whose database `bifold` holds it, in the table `meta`, which `serve` makes.",
    ),
    key(
        "server",
        Kind::Sections,
        Required,
        "no server at all; more than 1024; two of one name or one address",
        "A MySQL or MariaDB server.",
    ),
    key(
        "server[].name",
        Kind::Name,
        Required,
        "other characters than letters, digits, `_`, `-`, `.`",
        "Its name in this file.",
    ),
    key(
        "server[].address",
        Kind::Text,
        Required,
        "anything but `host:port`; port 0",
        "`host:port`; an IPv6 address in brackets.",
    ),
    key("schema", Kind::Named, Required, "no schema at all", "A database as applications see it."),
    key(
        "schema.*",
        Kind::Section,
        Absent,
        "an empty name, one longer than 64 characters, `mysql`, `information_schema`, `performance_schema`, `sys`, `bifold`",
        "",
    ),
    key(
        "schema.*.shards",
        Kind::Texts,
        Required,
        "an empty list; more than 1024; a server that the file does not have; a system database; a database that is a shard already",
        "Physical databases as `\"server/database\"`. A shard's number is its position here: never reorder them.",
    ),
    key(
        "schema.*.undeclared",
        Kind::Word(&["unsharded", "refuse"]),
        Value("\"unsharded\""),
        "",
        "What CREATE TABLE makes of a table that has no rule here.",
    ),
    key("schema.*.table", Kind::Named, Value("{}"), "", "The rule of a table."),
    key(
        "schema.*.table.*",
        Kind::Section,
        Absent,
        "a name longer than 64 characters; one that is a subtable of another table",
        "",
    ),
    key(
        "schema.*.table.*.kind",
        Kind::Word(&["sharded", "reference", "unsharded"]),
        Value("\"sharded\""),
        "",
        "`reference`: whole on every shard; `unsharded`: whole on shard 0. The keys below are for `sharded` only.",
    ),
    key(
        "schema.*.table.*.key",
        Kind::Name,
        Depends("required for a sharded table"),
        "left out for a sharded table; given for another",
        "Sharding key: the column whose value decides the place.",
    ),
    key(
        "schema.*.table.*.hash",
        Kind::Word(&["crc32", "identity"]),
        Value("\"crc32\""),
        "",
        "`crc32`: shard `h mod N`, subtable `(h >> 16) mod T` of the key's CRC-32. `identity`: the integer itself, `k mod N` and `k mod T`. Never changed once there are rows.",
    ),
    key(
        "schema.*.table.*.tables",
        Kind::Either(&Kind::Count { min: 1, max: 4096 }, &Kind::Section),
        Value("1024"),
        "names longer than 64 characters; names that another table's subtables have",
        "T, the subtables in each shard, or a section that names them too. Never changed once there are rows.",
    ),
    key("schema.*.table.*.tables.count", Kind::Count { min: 1, max: 4096 }, Required, "", "T."),
    key(
        "schema.*.table.*.tables.name",
        Kind::Name,
        Depends("`\"TABLE_{n:04}\"`"),
        "a pattern without `{n}`, or with two",
        "Names of the subtables: `{n}` is the number, `{n:04}` the number with four digits.",
    ),
    key(
        "schema.*.table.*.tables.first",
        Kind::Count { min: 0, max: 999_999_999 },
        Value("0"),
        "",
        "The first number in the names. Subtable 0 is the one with this number.",
    ),
    key(
        "schema.*.table.*.hot_limit",
        Kind::Count { min: 1, max: 10_000 },
        Value("4"),
        "",
        "Statements that change or lock rows of one key value and may hold connections at the same time; more of them wait in the proxy, in order, as long as `backend.wait`.",
    ),
    key(
        "schema.*.table.*.unique_per_place",
        Kind::Either(&Kind::Flag, &Kind::Names),
        Value("[]"),
        "",
        "Unique keys without the sharding key, which can be kept within one subtable only: names (`\"PRIMARY\"`, …) that may be so, or `true` for all.",
    ),
    key(
        "schema.*.table.*.id",
        Kind::Either(&Kind::Name, &Kind::Section),
        Absent,
        "given for a table that is not sharded",
        "Column that Bifold fills with generated ids; `\"id\"` is short for `{ column = \"id\" }`.",
    ),
    key(
        "schema.*.table.*.id.column",
        Kind::Name,
        Required,
        "the sharding key, with `carries_key`",
        "The BIGINT column.",
    ),
    key(
        "schema.*.table.*.id.carries_key",
        Kind::Either(&Kind::Flag, &Kind::Count { min: 1, max: 1 << 20 }),
        Value("false"),
        "a number that is not N·2^k; more than fits the place field",
        "Ids hold their row's place, so that a lookup by id alone reaches one place. `true` takes the largest M = N·2^k that fits; a number fixes M. The shards can be doubled until there are M.",
    ),
    key(
        "schema.*.table.*.id.epoch",
        Kind::Instant,
        Value("\"2024-01-01T00:00:00Z\""),
        "the future; other zones than UTC; a time field that has run out",
        "The instant at which the time field is 0. Never changed once there are ids.",
    ),
    key(
        "schema.*.table.*.id.bits",
        Kind::Section,
        Value("{}"),
        "widths that do not add up to 63",
        "Widths of the fields, from the highest down. Never changed once there are ids.",
    ),
    key(
        "schema.*.table.*.id.bits.time",
        Kind::Count { min: 1, max: 62 },
        Depends("41"),
        "",
        "Milliseconds since the epoch.",
    ),
    key(
        "schema.*.table.*.id.bits.worker",
        Kind::Count { min: 0, max: 20 },
        Depends("10; with `carries_key` 4"),
        "",
        "The proxy's worker number.",
    ),
    key(
        "schema.*.table.*.id.bits.tag",
        Kind::Count { min: 0, max: 24 },
        Depends("0"),
        "",
        "A fixed number, as a code of the table.",
    ),
    key(
        "schema.*.table.*.id.bits.place",
        Kind::Count { min: 0, max: 26 },
        Depends("0; with `carries_key` 16"),
        "0 with `carries_key`; more without it",
        "The place: M times T values.",
    ),
    key(
        "schema.*.table.*.id.bits.sequence",
        Kind::Count { min: 0, max: 22 },
        Depends("12; with `carries_key` 2"),
        "",
        "Ids within one millisecond; with `carries_key`, within one place and millisecond.",
    ),
    key(
        "schema.*.table.*.id.tag",
        Kind::Count { min: 0, max: (1 << 24) - 1 },
        Value("0"),
        "a number that the tag field can't hold",
        "Value of the tag field.",
    ),
    key(
        "schema.*.table.*.id.generated_batch",
        Kind::Word(&["allow", "refuse"]),
        Value("\"allow\""),
        "given without `carries_key`",
        "With `carries_key`, the ids of one INSERT are not consecutive, and drivers that count on from the first are wrong: `refuse` makes such an INSERT an error.",
    ),
];

/// The key at this path of the table.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

impl Key {
    /// The path's last segment.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().expect("split gives one part at least")
    }

    pub fn parent(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(parent, _)| parent)
    }
}

/// The keys that stand in this section.
pub fn children(path: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.parent() == path && key.name() != "*")
}

impl Kind {
    /// As a message and the docs name it.
    pub fn describe(&self) -> String {
        match self {
            Kind::Section | Kind::Named => "a section".to_owned(),
            Kind::Sections => "sections in double brackets".to_owned(),
            Kind::Text | Kind::Name => "a string".to_owned(),
            Kind::File => "a file's path".to_owned(),
            Kind::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or "),
            Kind::Names | Kind::Texts => "a list of strings".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Count { min, max } => format!("a number from {min} to {max}"),
            Kind::Span { min, max } => format!("a duration from {} to {}", span_text(*min), span_text(*max)),
            Kind::Size { min, max } => format!("a size from {} to {}", size_text(*min), size_text(*max)),
            Kind::Instant => "a UTC instant such as \"2024-01-01T00:00:00Z\"".to_owned(),
            Kind::Either(one, other) => format!("{}, or {}", one.describe(), other.describe()),
        }
    }
}

fn span_text(ms: i64) -> String {
    [(DAY, "d"), (HOUR, "h"), (60 * SECOND, "m"), (SECOND, "s")]
        .into_iter()
        .find(|(unit, _)| ms % unit == 0)
        .map_or_else(|| format!("{ms}ms"), |(unit, letter)| format!("{}{letter}", ms / unit))
}

fn size_text(bytes: i64) -> String {
    [(30, "G"), (20, "M"), (10, "K")]
        .into_iter()
        .find(|(bits, _)| bytes % (1 << bits) == 0)
        .map_or_else(|| bytes.to_string(), |(bits, letter)| format!("{}{letter}", bytes >> bits))
}
