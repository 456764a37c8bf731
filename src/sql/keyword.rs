//! The words that the grammar knows: which word it is, found by one probe into a table made at
//! compile time, and whether the servers keep it from being a name. Which words are reserved was
//! asked of MySQL 9.7 and MariaDB 10.11 word by word (`SELECT 1 AS word`).

use super::Flavour;

macro_rules! keywords {
    (
        both { $($both:ident = $both_text:literal,)* }
        mysql { $($mysql:ident = $mysql_text:literal,)* }
        mariadb { $($mariadb:ident = $mariadb_text:literal,)* }
        free { $($free:ident = $free_text:literal,)* }
    ) => {
        /// A word of the grammar; the groups say where it is reserved.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Keyword {
            /// Not a word of the grammar.
            None,
            $($both,)* $($mysql,)* $($mariadb,)* $($free,)*
        }

        const ALL: &[(Keyword, &str)] = &[
            $((Keyword::$both, $both_text),)* $((Keyword::$mysql, $mysql_text),)*
            $((Keyword::$mariadb, $mariadb_text),)* $((Keyword::$free, $free_text),)*
        ];
        const BOTH: usize = [$($both_text,)*].len();
        const MYSQL: usize = [$($mysql_text,)*].len();
        const MARIADB: usize = [$($mariadb_text,)*].len();
    };
}

keywords! {
    both {
        Accessible = "ACCESSIBLE", Add = "ADD", All = "ALL", Alter = "ALTER", Analyze = "ANALYZE", And = "AND",
        As = "AS", Asc = "ASC", Asensitive = "ASENSITIVE", Before = "BEFORE", Between = "BETWEEN", Bigint = "BIGINT",
        Binary = "BINARY", Blob = "BLOB", Both = "BOTH", By = "BY", Call = "CALL", Cascade = "CASCADE", Case = "CASE",
        Change = "CHANGE", Char = "CHAR", Character = "CHARACTER", Check = "CHECK", Collate = "COLLATE",
        Column = "COLUMN", Condition = "CONDITION", Constraint = "CONSTRAINT", Continue = "CONTINUE",
        Convert = "CONVERT", Create = "CREATE", Cross = "CROSS", CurrentDate = "CURRENT_DATE",
        CurrentTime = "CURRENT_TIME", CurrentTimestamp = "CURRENT_TIMESTAMP", CurrentUser = "CURRENT_USER",
        Cursor = "CURSOR", Databases = "DATABASES", DayHour = "DAY_HOUR", DayMicrosecond = "DAY_MICROSECOND",
        DayMinute = "DAY_MINUTE", DaySecond = "DAY_SECOND", Dec = "DEC", Decimal = "DECIMAL", Declare = "DECLARE",
        Default = "DEFAULT", Delayed = "DELAYED", Delete = "DELETE", Desc = "DESC", Describe = "DESCRIBE",
        Deterministic = "DETERMINISTIC", Distinct = "DISTINCT", Distinctrow = "DISTINCTROW", Div = "DIV",
        Double = "DOUBLE", Drop = "DROP", Dual = "DUAL", Each = "EACH", Else = "ELSE", Elseif = "ELSEIF",
        Enclosed = "ENCLOSED", Escaped = "ESCAPED", Except = "EXCEPT", Exists = "EXISTS", Exit = "EXIT",
        Explain = "EXPLAIN", False = "FALSE", Fetch = "FETCH", Float = "FLOAT", Float4 = "FLOAT4", Float8 = "FLOAT8",
        For = "FOR", Force = "FORCE", Foreign = "FOREIGN", From = "FROM", Fulltext = "FULLTEXT", Grant = "GRANT",
        Group = "GROUP", Having = "HAVING", HighPriority = "HIGH_PRIORITY", HourMicrosecond = "HOUR_MICROSECOND",
        HourMinute = "HOUR_MINUTE", HourSecond = "HOUR_SECOND", If = "IF", Ignore = "IGNORE", In = "IN",
        Index = "INDEX", Infile = "INFILE", Inner = "INNER", Inout = "INOUT", Insensitive = "INSENSITIVE",
        Insert = "INSERT", Int = "INT", Int1 = "INT1", Int2 = "INT2", Int3 = "INT3", Int4 = "INT4", Int8 = "INT8",
        Integer = "INTEGER", Intersect = "INTERSECT", Interval = "INTERVAL", Into = "INTO", Is = "IS",
        Iterate = "ITERATE", Join = "JOIN", Key = "KEY", Keys = "KEYS", Kill = "KILL", Leading = "LEADING",
        Leave = "LEAVE", Left = "LEFT", Like = "LIKE", Limit = "LIMIT", Linear = "LINEAR", Lines = "LINES",
        Load = "LOAD", Localtime = "LOCALTIME", Localtimestamp = "LOCALTIMESTAMP", Lock = "LOCK", Long = "LONG",
        Longblob = "LONGBLOB", Longtext = "LONGTEXT", Loop = "LOOP", LowPriority = "LOW_PRIORITY", Match = "MATCH",
        Maxvalue = "MAXVALUE", Mediumblob = "MEDIUMBLOB", Mediumint = "MEDIUMINT", Mediumtext = "MEDIUMTEXT",
        Middleint = "MIDDLEINT", MinuteMicrosecond = "MINUTE_MICROSECOND", MinuteSecond = "MINUTE_SECOND",
        Mod = "MOD", Modifies = "MODIFIES", Natural = "NATURAL", Not = "NOT", NoWriteToBinlog = "NO_WRITE_TO_BINLOG",
        Null = "NULL", Numeric = "NUMERIC", On = "ON", Optimize = "OPTIMIZE", Optionally = "OPTIONALLY", Or = "OR",
        Order = "ORDER", Out = "OUT", Outer = "OUTER", Outfile = "OUTFILE", Over = "OVER", Partition = "PARTITION",
        Precision = "PRECISION", Primary = "PRIMARY", Procedure = "PROCEDURE", Purge = "PURGE", Range = "RANGE",
        Read = "READ", Reads = "READS", ReadWrite = "READ_WRITE", Real = "REAL", Recursive = "RECURSIVE",
        References = "REFERENCES", Regexp = "REGEXP", Release = "RELEASE", Rename = "RENAME", Repeat = "REPEAT",
        Replace = "REPLACE", Require = "REQUIRE", Resignal = "RESIGNAL", Restrict = "RESTRICT", Return = "RETURN",
        Revoke = "REVOKE", Right = "RIGHT", Rlike = "RLIKE", Rows = "ROWS", RowNumber = "ROW_NUMBER",
        Schemas = "SCHEMAS", SecondMicrosecond = "SECOND_MICROSECOND", Select = "SELECT", Sensitive = "SENSITIVE",
        Separator = "SEPARATOR", Set = "SET", Show = "SHOW", Signal = "SIGNAL", Smallint = "SMALLINT",
        Spatial = "SPATIAL", Specific = "SPECIFIC", Sql = "SQL", Sqlexception = "SQLEXCEPTION", Sqlstate = "SQLSTATE",
        Sqlwarning = "SQLWARNING", SqlBigResult = "SQL_BIG_RESULT", SqlCalcFoundRows = "SQL_CALC_FOUND_ROWS",
        SqlSmallResult = "SQL_SMALL_RESULT", Ssl = "SSL", Starting = "STARTING", StraightJoin = "STRAIGHT_JOIN",
        Table = "TABLE", Terminated = "TERMINATED", Then = "THEN", Tinyblob = "TINYBLOB", Tinyint = "TINYINT",
        Tinytext = "TINYTEXT", To = "TO", Trailing = "TRAILING", Trigger = "TRIGGER", True = "TRUE", Undo = "UNDO",
        Union = "UNION", Unique = "UNIQUE", Unlock = "UNLOCK", Unsigned = "UNSIGNED", Update = "UPDATE",
        Usage = "USAGE", Use = "USE", Using = "USING", UtcDate = "UTC_DATE", UtcTime = "UTC_TIME",
        UtcTimestamp = "UTC_TIMESTAMP", Values = "VALUES", Varbinary = "VARBINARY", Varchar = "VARCHAR",
        Varcharacter = "VARCHARACTER", Varying = "VARYING", When = "WHEN", Where = "WHERE", While = "WHILE",
        With = "WITH", Write = "WRITE", Xor = "XOR", YearMonth = "YEAR_MONTH", Zerofill = "ZEROFILL",
    }
    mysql {
        Cube = "CUBE", CumeDist = "CUME_DIST", Database = "DATABASE", DenseRank = "DENSE_RANK", Empty = "EMPTY",
        External = "EXTERNAL", FirstValue = "FIRST_VALUE", Function = "FUNCTION", Generated = "GENERATED",
        Get = "GET", Grouping = "GROUPING", Groups = "GROUPS", IoAfterGtids = "IO_AFTER_GTIDS",
        IoBeforeGtids = "IO_BEFORE_GTIDS", JsonTable = "JSON_TABLE", Lag = "LAG", LastValue = "LAST_VALUE",
        Lateral = "LATERAL", Lead = "LEAD", Library = "LIBRARY", NthValue = "NTH_VALUE", Ntile = "NTILE", Of = "OF",
        OptimizerCosts = "OPTIMIZER_COSTS", Option = "OPTION", PercentRank = "PERCENT_RANK", Qualify = "QUALIFY",
        Rank = "RANK", Row = "ROW", Schema = "SCHEMA", Stored = "STORED", System = "SYSTEM",
        Tablesample = "TABLESAMPLE", Virtual = "VIRTUAL", Window = "WINDOW",
    }
    mariadb {
        CurrentRole = "CURRENT_ROLE", DeleteDomainId = "DELETE_DOMAIN_ID", DoDomainIds = "DO_DOMAIN_IDS",
        IgnoreDomainIds = "IGNORE_DOMAIN_IDS", MasterDemoteToReplica = "MASTER_DEMOTE_TO_REPLICA",
        MasterDemoteToSlave = "MASTER_DEMOTE_TO_SLAVE", MasterSslVerifyServerCert = "MASTER_SSL_VERIFY_SERVER_CERT",
        Offset = "OFFSET", PageChecksum = "PAGE_CHECKSUM", ParseVcolExpr = "PARSE_VCOL_EXPR", Portion = "PORTION",
        RefSystemId = "REF_SYSTEM_ID", Returning = "RETURNING", StatsAutoRecalc = "STATS_AUTO_RECALC",
        StatsPersistent = "STATS_PERSISTENT", StatsSamplePages = "STATS_SAMPLE_PAGES",
    }
    free {
        Action = "ACTION", After = "AFTER", Against = "AGAINST", Aggregate = "AGGREGATE", Algorithm = "ALGORITHM",
        Always = "ALWAYS", Any = "ANY", Ascii = "ASCII", At = "AT", Authors = "AUTHORS",
        AutoextendSize = "AUTOEXTEND_SIZE", AutoIncrement = "AUTO_INCREMENT", AvgRowLength = "AVG_ROW_LENGTH",
        Backup = "BACKUP", Begin = "BEGIN", Binlog = "BINLOG", Body = "BODY", Btree = "BTREE", Byte = "BYTE",
        Cache = "CACHE", Cascaded = "CASCADED", Cast = "CAST", Chain = "CHAIN", Charset = "CHARSET",
        Checkpoint = "CHECKPOINT", Checksum = "CHECKSUM", ClientStatistics = "CLIENT_STATISTICS", Clone = "CLONE",
        Close = "CLOSE", Coalesce = "COALESCE", Code = "CODE", Collation = "COLLATION", Columns = "COLUMNS",
        ColumnFormat = "COLUMN_FORMAT", Comment = "COMMENT", Commit = "COMMIT", Committed = "COMMITTED",
        Compressed = "COMPRESSED", Compression = "COMPRESSION", Concurrent = "CONCURRENT", Connection = "CONNECTION",
        Consistent = "CONSISTENT", Contributors = "CONTRIBUTORS", Count = "COUNT", Current = "CURRENT",
        Cycle = "CYCLE", Data = "DATA", Date = "DATE", Datetime = "DATETIME", Day = "DAY", Deallocate = "DEALLOCATE",
        Definer = "DEFINER", DelayKeyWrite = "DELAY_KEY_WRITE", Directory = "DIRECTORY", Disable = "DISABLE",
        Discard = "DISCARD", Do = "DO", Dumpfile = "DUMPFILE", Duplicate = "DUPLICATE", Enable = "ENABLE",
        Encryption = "ENCRYPTION", End = "END", Enforced = "ENFORCED", Engine = "ENGINE", Engines = "ENGINES",
        EngineAttribute = "ENGINE_ATTRIBUTE", Errors = "ERRORS", Escape = "ESCAPE", Event = "EVENT",
        Events = "EVENTS", Examined = "EXAMINED", Exchange = "EXCHANGE", Exclude = "EXCLUDE", Execute = "EXECUTE",
        Export = "EXPORT", Extended = "EXTENDED", Extract = "EXTRACT", Fields = "FIELDS", First = "FIRST",
        Flush = "FLUSH", Following = "FOLLOWING", Format = "FORMAT", Full = "FULL", GetFormat = "GET_FORMAT",
        Global = "GLOBAL", Grants = "GRANTS", GroupReplication = "GROUP_REPLICATION", Handler = "HANDLER",
        Hard = "HARD", Hash = "HASH", Help = "HELP", Hour = "HOUR", Id = "ID", Identified = "IDENTIFIED",
        Ignored = "IGNORED", Immediate = "IMMEDIATE", Import = "IMPORT", Indexes = "INDEXES",
        IndexStatistics = "INDEX_STATISTICS", InsertMethod = "INSERT_METHOD", Install = "INSTALL",
        Instance = "INSTANCE", Invisible = "INVISIBLE", Isolation = "ISOLATION", Json = "JSON",
        JsonValue = "JSON_VALUE", KeyBlockSize = "KEY_BLOCK_SIZE", Last = "LAST", Lastval = "LASTVAL",
        Level = "LEVEL", Local = "LOCAL", Locked = "LOCKED", Logfile = "LOGFILE", Master = "MASTER",
        MaxRows = "MAX_ROWS", Member = "MEMBER", Microsecond = "MICROSECOND", Mid = "MID", Minute = "MINUTE",
        MinRows = "MIN_ROWS", Mode = "MODE", Modify = "MODIFY", Month = "MONTH", Names = "NAMES",
        National = "NATIONAL", Nchar = "NCHAR", Next = "NEXT", Nextval = "NEXTVAL", No = "NO", Nowait = "NOWAIT",
        Nulls = "NULLS", Oj = "OJ", Online = "ONLINE", Only = "ONLY", Open = "OPEN", Overlaps = "OVERLAPS",
        Package = "PACKAGE", PackKeys = "PACK_KEYS", ParseTree = "PARSE_TREE", Partitioning = "PARTITIONING",
        Partitions = "PARTITIONS", Password = "PASSWORD", Period = "PERIOD", Persist = "PERSIST",
        Persistent = "PERSISTENT", PersistOnly = "PERSIST_ONLY", Plugins = "PLUGINS", Position = "POSITION",
        Preceding = "PRECEDING", Prepare = "PREPARE", Previous = "PREVIOUS", Privileges = "PRIVILEGES",
        Processlist = "PROCESSLIST", Profile = "PROFILE", Profiles = "PROFILES", Quarter = "QUARTER", Query = "QUERY",
        Quick = "QUICK", Rebuild = "REBUILD", Recover = "RECOVER", Relaylog = "RELAYLOG", Remove = "REMOVE",
        Reorganize = "REORGANIZE", Repair = "REPAIR", Repeatable = "REPEATABLE", Replica = "REPLICA",
        Replicas = "REPLICAS", Reset = "RESET", Resource = "RESOURCE", Respect = "RESPECT", Restart = "RESTART",
        Role = "ROLE", Rollback = "ROLLBACK", Rollup = "ROLLUP", Route = "ROUTE", RowFormat = "ROW_FORMAT",
        Rtree = "RTREE", Savepoint = "SAVEPOINT", Second = "SECOND", Secondary = "SECONDARY",
        SecondaryEngine = "SECONDARY_ENGINE", SecondaryEngineAttribute = "SECONDARY_ENGINE_ATTRIBUTE",
        Security = "SECURITY", Sequence = "SEQUENCE", Serial = "SERIAL", Serializable = "SERIALIZABLE",
        Server = "SERVER", Session = "SESSION", Setval = "SETVAL", Share = "SHARE", Shutdown = "SHUTDOWN",
        Signed = "SIGNED", Skip = "SKIP", Slave = "SLAVE", Snapshot = "SNAPSHOT", Soft = "SOFT", Some = "SOME",
        Sounds = "SOUNDS", SqlBufferResult = "SQL_BUFFER_RESULT", SqlCache = "SQL_CACHE", SqlNoCache = "SQL_NO_CACHE",
        Srid = "SRID", Start = "START", Statement = "STATEMENT", Status = "STATUS", Stop = "STOP",
        Storage = "STORAGE", Substr = "SUBSTR", Substring = "SUBSTRING", SystemTime = "SYSTEM_TIME",
        Tables = "TABLES", Tablespace = "TABLESPACE", TableChecksum = "TABLE_CHECKSUM",
        TableStatistics = "TABLE_STATISTICS", Temporary = "TEMPORARY", Ties = "TIES", Time = "TIME",
        Timestamp = "TIMESTAMP", Timestampadd = "TIMESTAMPADD", Timestampdiff = "TIMESTAMPDIFF",
        Transaction = "TRANSACTION", Transactional = "TRANSACTIONAL", Triggers = "TRIGGERS", Trim = "TRIM",
        Truncate = "TRUNCATE", Type = "TYPE", Unbounded = "UNBOUNDED", Uncommitted = "UNCOMMITTED",
        Unicode = "UNICODE", Uninstall = "UNINSTALL", Unknown = "UNKNOWN", Upgrade = "UPGRADE", User = "USER",
        UserStatistics = "USER_STATISTICS", Validation = "VALIDATION", Value = "VALUE", Variables = "VARIABLES",
        Vector = "VECTOR", Versioning = "VERSIONING", View = "VIEW", Visible = "VISIBLE", Wait = "WAIT",
        Warnings = "WARNINGS", Week = "WEEK", WeightString = "WEIGHT_STRING", Within = "WITHIN", Without = "WITHOUT",
        Work = "WORK", Xa = "XA", Xml = "XML", Year = "YEAR",
    }
}

const SLOTS: usize = 4096;

/// Where a word stands: open addressing by `Folded::slot`, 0 for an empty slot, else index into
/// `WORDS` + 1.
static TABLE: [u16; SLOTS] = build();

const fn build() -> [u16; SLOTS] {
    let mut table = [0u16; SLOTS];
    let mut i = 0;
    while i < ALL.len() {
        let mut slot = WORDS[i].slot();
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u16 + 1; // fewer words than slots, so it fits
        i += 1;
    }
    table
}

static WORDS: [Folded; ALL.len()] = {
    let mut words = [Folded { head: 0, tail: 0, len: 0 }; ALL.len()];
    let mut i = 0;
    while i < ALL.len() {
        words[i] = Folded::of(ALL[i].1.as_bytes());
        i += 1;
    }
    words
};

/// A word in either letter case, as far as two registers hold it: all of it up to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Folded {
    head: u64,
    tail: u64,
    len: usize,
}

impl Folded {
    /// Among the bytes of names, only letters of two cases become equal.
    const fn of(word: &[u8]) -> Folded {
        const LETTERS: u64 = 0xdfdf_dfdf_dfdf_dfdf;
        let len = word.len();
        let (head, tail) = if let (Some(head), Some(tail)) = (word.first_chunk::<8>(), word.last_chunk::<8>()) {
            (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
        } else if let (Some(head), Some(tail)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
            (u32::from_le_bytes(*head) as u64, u32::from_le_bytes(*tail) as u64)
        } else if let (Some(head), Some(last)) = (word.first_chunk::<2>(), word.last()) {
            (u16::from_le_bytes(*head) as u64, *last as u64)
        } else {
            (0, 0)
        };
        Folded { head: head & LETTERS, tail: tail & LETTERS, len }
    }

    const fn slot(&self) -> usize {
        let mixed = self.head ^ self.tail.rotate_left(23) ^ self.len as u64;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS
    }
}

impl Keyword {
    /// The word in any letter case, or `Keyword::None`. `word` is made of the bytes of names.
    #[inline]
    pub fn find(word: &[u8]) -> Keyword {
        let folded = Folded::of(word);
        let mut slot = folded.slot();
        loop {
            let Some(found) = usize::from(TABLE[slot]).checked_sub(1) else { return Keyword::None };
            if WORDS[found] == folded {
                let (keyword, text) = ALL[found];
                return match word.len() <= 16 || text.as_bytes().eq_ignore_ascii_case(word) {
                    true => keyword,
                    false => Keyword::None,
                };
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// In capital letters; empty for `None`.
    pub fn text(self) -> &'static str {
        match (self as usize).checked_sub(1) {
            Some(at) => ALL[at].1,
            None => "",
        }
    }

    /// Whether the word can't be a name unless quoted.
    pub fn is_reserved(self, flavour: Flavour) -> bool {
        let Some(at) = (self as usize).checked_sub(1) else { return false };
        match flavour {
            Flavour::MySql => at < BOTH + MYSQL,
            Flavour::MariaDb => at < BOTH || (BOTH + MYSQL..BOTH + MYSQL + MARIADB).contains(&at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_any_case() {
        for &(keyword, text) in ALL {
            assert_eq!(Keyword::find(text.as_bytes()), keyword);
            assert_eq!(Keyword::find(text.to_ascii_lowercase().as_bytes()), keyword);
            assert_eq!(keyword.text(), text);
        }
        for other in ["", "x", "SELEC", "SELECTS", "uid", "high_priorities", "day_microsecondx", "sql_calc_f_und_rows"]
        {
            assert_eq!(Keyword::find(other.as_bytes()), Keyword::None, "{other}");
        }
    }

    #[test]
    fn reserved_words_differ_by_flavour() {
        assert!(Keyword::Select.is_reserved(Flavour::MySql) && Keyword::Select.is_reserved(Flavour::MariaDb));
        assert!(Keyword::Rank.is_reserved(Flavour::MySql) && !Keyword::Rank.is_reserved(Flavour::MariaDb));
        assert!(!Keyword::Returning.is_reserved(Flavour::MySql) && Keyword::Returning.is_reserved(Flavour::MariaDb));
        assert!(!Keyword::Status.is_reserved(Flavour::MySql) && !Keyword::None.is_reserved(Flavour::MySql));
    }
}
