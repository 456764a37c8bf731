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
        Account = "ACCOUNT", Action = "ACTION", Adddate = "ADDDATE", Admin = "ADMIN", After = "AFTER",
        Against = "AGAINST", Aggregate = "AGGREGATE", Algorithm = "ALGORITHM", Always = "ALWAYS", Any = "ANY",
        Ascii = "ASCII", At = "AT", Authors = "AUTHORS", Auto = "AUTO", AutoextendSize = "AUTOEXTEND_SIZE",
        AutoIncrement = "AUTO_INCREMENT", Avg = "AVG", AvgRowLength = "AVG_ROW_LENGTH", Backup = "BACKUP",
        Begin = "BEGIN", Bernoulli = "BERNOULLI", Binlog = "BINLOG", Bit = "BIT", BitAnd = "BIT_AND",
        BitCount = "BIT_COUNT", BitOr = "BIT_OR", BitXor = "BIT_XOR", Block = "BLOCK", Body = "BODY", Bool = "BOOL",
        Boolean = "BOOLEAN", Btree = "BTREE", Byte = "BYTE", Cache = "CACHE", Cascaded = "CASCADED", Cast = "CAST",
        Chain = "CHAIN", Changed = "CHANGED", Channel = "CHANNEL", Charset = "CHARSET", Checkpoint = "CHECKPOINT",
        Checksum = "CHECKSUM", Cipher = "CIPHER", Class = "CLASS", Client = "CLIENT",
        ClientStatistics = "CLIENT_STATISTICS", Clob = "CLOB", Clone = "CLONE", Close = "CLOSE",
        Coalesce = "COALESCE", Code = "CODE", Collation = "COLLATION", Columns = "COLUMNS",
        ColumnFormat = "COLUMN_FORMAT", Comment = "COMMENT", Commit = "COMMIT", Committed = "COMMITTED",
        Compact = "COMPACT", Completion = "COMPLETION", Component = "COMPONENT", Compressed = "COMPRESSED",
        Compression = "COMPRESSION", Concurrent = "CONCURRENT", Connection = "CONNECTION",
        ConnectionId = "CONNECTION_ID", Consistent = "CONSISTENT", Contains = "CONTAINS", Context = "CONTEXT",
        Contributors = "CONTRIBUTORS", Count = "COUNT", Cpu = "CPU", Curdate = "CURDATE", Current = "CURRENT",
        Curtime = "CURTIME", Cycle = "CYCLE", Data = "DATA", Datafile = "DATAFILE", Date = "DATE",
        Datetime = "DATETIME", DateAdd = "DATE_ADD", DateSub = "DATE_SUB", Day = "DAY", Deallocate = "DEALLOCATE",
        DefaultAuth = "DEFAULT_AUTH", Definer = "DEFINER", Definition = "DEFINITION",
        DelayKeyWrite = "DELAY_KEY_WRITE", Diagnostics = "DIAGNOSTICS", Directory = "DIRECTORY", Disable = "DISABLE",
        Discard = "DISCARD", Disk = "DISK", Do = "DO", Dumpfile = "DUMPFILE", Duplicate = "DUPLICATE",
        Dynamic = "DYNAMIC", Enable = "ENABLE", Encrypted = "ENCRYPTED", Encryption = "ENCRYPTION",
        EncryptionKeyId = "ENCRYPTION_KEY_ID", End = "END", Ends = "ENDS", Enforced = "ENFORCED", Engine = "ENGINE",
        Engines = "ENGINES", EngineAttribute = "ENGINE_ATTRIBUTE", Enum = "ENUM", Error = "ERROR", Errors = "ERRORS",
        Escape = "ESCAPE", Event = "EVENT", Events = "EVENTS", Every = "EVERY", Examined = "EXAMINED",
        Exchange = "EXCHANGE", Exclude = "EXCLUDE", Execute = "EXECUTE", Expansion = "EXPANSION", Expire = "EXPIRE",
        Export = "EXPORT", Extended = "EXTENDED", ExtentSize = "EXTENT_SIZE", Extract = "EXTRACT", Fast = "FAST",
        Faults = "FAULTS", Fields = "FIELDS", File = "FILE", First = "FIRST", Fixed = "FIXED", Flush = "FLUSH",
        Following = "FOLLOWING", Format = "FORMAT", Found = "FOUND", FoundRows = "FOUND_ROWS", Full = "FULL",
        General = "GENERAL", Geomcollection = "GEOMCOLLECTION", Geometry = "GEOMETRY",
        Geometrycollection = "GEOMETRYCOLLECTION", GetFormat = "GET_FORMAT", Global = "GLOBAL", Grants = "GRANTS",
        GroupConcat = "GROUP_CONCAT", GroupReplication = "GROUP_REPLICATION", Handler = "HANDLER", Hard = "HARD",
        Hash = "HASH", Help = "HELP", Histogram = "HISTOGRAM", History = "HISTORY", Host = "HOST", Hosts = "HOSTS",
        Hour = "HOUR", Id = "ID", Identified = "IDENTIFIED", IetfQuotes = "IETF_QUOTES", Ignored = "IGNORED",
        Immediate = "IMMEDIATE", Import = "IMPORT", Increment = "INCREMENT", Indexes = "INDEXES",
        IndexStatistics = "INDEX_STATISTICS", Inet4 = "INET4", Inet6 = "INET6", InitialSize = "INITIAL_SIZE",
        Innodb = "INNODB", Inplace = "INPLACE", Input = "INPUT", InsertMethod = "INSERT_METHOD", Install = "INSTALL",
        Instance = "INSTANCE", Instant = "INSTANT", Invisible = "INVISIBLE", Invoker = "INVOKER", Io = "IO",
        Ipc = "IPC", Isolation = "ISOLATION", Issuer = "ISSUER", Json = "JSON", JsonArrayagg = "JSON_ARRAYAGG",
        JsonObjectagg = "JSON_OBJECTAGG", JsonValue = "JSON_VALUE", KeyBlockSize = "KEY_BLOCK_SIZE",
        Language = "LANGUAGE", Last = "LAST", Lastval = "LASTVAL", LastInsertId = "LAST_INSERT_ID", Leaves = "LEAVES",
        Less = "LESS", Level = "LEVEL", Linestring = "LINESTRING", List = "LIST", Local = "LOCAL", Locked = "LOCKED",
        Locks = "LOCKS", Log = "LOG", Logfile = "LOGFILE", Logs = "LOGS", Manual = "MANUAL", Master = "MASTER",
        Max = "MAX", MaxRows = "MAX_ROWS", Medium = "MEDIUM", Member = "MEMBER", Memory = "MEMORY", Merge = "MERGE",
        Microsecond = "MICROSECOND", Mid = "MID", Migrate = "MIGRATE", Min = "MIN", Minute = "MINUTE",
        Minvalue = "MINVALUE", MinRows = "MIN_ROWS", Mode = "MODE", Modify = "MODIFY", Monitor = "MONITOR",
        Month = "MONTH", Multilinestring = "MULTILINESTRING", Multipoint = "MULTIPOINT",
        Multipolygon = "MULTIPOLYGON", Mutex = "MUTEX", Name = "NAME", Names = "NAMES", National = "NATIONAL",
        Nchar = "NCHAR", Nested = "NESTED", Never = "NEVER", New = "NEW", Next = "NEXT", Nextval = "NEXTVAL",
        No = "NO", Nocache = "NOCACHE", Nocycle = "NOCYCLE", Nomaxvalue = "NOMAXVALUE", Nominvalue = "NOMINVALUE",
        NoneWord = "NONE", Now = "NOW", Nowait = "NOWAIT", NoWait = "NO_WAIT", Nulls = "NULLS", Number = "NUMBER",
        Nvarchar = "NVARCHAR", Off = "OFF", Oj = "OJ", Old = "OLD", One = "ONE", Online = "ONLINE", Only = "ONLY",
        Open = "OPEN", Optional = "OPTIONAL", Options = "OPTIONS", Ordinality = "ORDINALITY", Others = "OTHERS",
        Overlaps = "OVERLAPS", Owner = "OWNER", Package = "PACKAGE", PackKeys = "PACK_KEYS", Page = "PAGE",
        PageCompressed = "PAGE_COMPRESSED", PageCompressionLevel = "PAGE_COMPRESSION_LEVEL", Parallel = "PARALLEL",
        Parser = "PARSER", Partial = "PARTIAL", Partitioning = "PARTITIONING", Partitions = "PARTITIONS",
        Password = "PASSWORD", PasswordLockTime = "PASSWORD_LOCK_TIME", Path = "PATH", Period = "PERIOD",
        Persist = "PERSIST", Persistent = "PERSISTENT", PersistOnly = "PERSIST_ONLY", Phase = "PHASE",
        Plugin = "PLUGIN", Plugins = "PLUGINS", Point = "POINT", Points = "POINTS", Polygon = "POLYGON",
        Position = "POSITION", Preceding = "PRECEDING", Prepare = "PREPARE", Preserve = "PRESERVE", Prev = "PREV",
        Previous = "PREVIOUS", PreviousValue = "PREVIOUS_VALUE", Privileges = "PRIVILEGES", Process = "PROCESS",
        Processlist = "PROCESSLIST", Profile = "PROFILE", Profiles = "PROFILES", Proxy = "PROXY", Quarter = "QUARTER",
        Query = "QUERY", Quick = "QUICK", RaidType = "RAID_TYPE", Random = "RANDOM", Raw = "RAW",
        ReadOnly = "READ_ONLY", Rebuild = "REBUILD", Recover = "RECOVER", Redundant = "REDUNDANT",
        Reference = "REFERENCE", Relay = "RELAY", Relaylog = "RELAYLOG", Reload = "RELOAD", Remove = "REMOVE",
        Reorganize = "REORGANIZE", Repair = "REPAIR", Repeatable = "REPEATABLE", Replica = "REPLICA",
        Replicas = "REPLICAS", Replicate = "REPLICATE", Replication = "REPLICATION", Reset = "RESET",
        Resource = "RESOURCE", Respect = "RESPECT", Restart = "RESTART", Restore = "RESTORE", Resume = "RESUME",
        Retain = "RETAIN", ReturnedSqlstate = "RETURNED_SQLSTATE", Reuse = "REUSE", Reverse = "REVERSE",
        Role = "ROLE", Roles = "ROLES", Rollback = "ROLLBACK", Rollup = "ROLLUP", Route = "ROUTE",
        Routine = "ROUTINE", Rownum = "ROWNUM", RowCount = "ROW_COUNT", RowFormat = "ROW_FORMAT", Rtree = "RTREE",
        Savepoint = "SAVEPOINT", Schedule = "SCHEDULE", Second = "SECOND", Secondary = "SECONDARY",
        SecondaryEngine = "SECONDARY_ENGINE", SecondaryEngineAttribute = "SECONDARY_ENGINE_ATTRIBUTE",
        Security = "SECURITY", Sequence = "SEQUENCE", Serial = "SERIAL", Serializable = "SERIALIZABLE",
        Server = "SERVER", Session = "SESSION", SessionUser = "SESSION_USER", Setval = "SETVAL", Share = "SHARE",
        Shared = "SHARED", Shutdown = "SHUTDOWN", Signed = "SIGNED", Simple = "SIMPLE", Skip = "SKIP",
        Slave = "SLAVE", Slaves = "SLAVES", Slow = "SLOW", Snapshot = "SNAPSHOT", Socket = "SOCKET", Soft = "SOFT",
        Some = "SOME", Soname = "SONAME", Sounds = "SOUNDS", Source = "SOURCE", SqlBufferResult = "SQL_BUFFER_RESULT",
        SqlCache = "SQL_CACHE", SqlNoCache = "SQL_NO_CACHE", SqlThread = "SQL_THREAD", Srid = "SRID", Start = "START",
        Starts = "STARTS", Statement = "STATEMENT", Status = "STATUS", Std = "STD", Stddev = "STDDEV",
        StddevPop = "STDDEV_POP", StddevSamp = "STDDEV_SAMP", Stop = "STOP", Storage = "STORAGE", String = "STRING",
        Subdate = "SUBDATE", Subject = "SUBJECT", Subpartition = "SUBPARTITION", Subpartitions = "SUBPARTITIONS",
        Substr = "SUBSTR", Substring = "SUBSTRING", Sum = "SUM", Super = "SUPER", Suspend = "SUSPEND",
        Swaps = "SWAPS", Switches = "SWITCHES", Sysdate = "SYSDATE", SystemTime = "SYSTEM_TIME",
        SystemUser = "SYSTEM_USER", Tables = "TABLES", Tablespace = "TABLESPACE", TableCatalog = "TABLE_CATALOG",
        TableChecksum = "TABLE_CHECKSUM", TableStatistics = "TABLE_STATISTICS", Temporary = "TEMPORARY",
        Temptable = "TEMPTABLE", Text = "TEXT", Than = "THAN", Ties = "TIES", Time = "TIME", Timestamp = "TIMESTAMP",
        Timestampadd = "TIMESTAMPADD", Timestampdiff = "TIMESTAMPDIFF", Traditional = "TRADITIONAL",
        Transaction = "TRANSACTION", Transactional = "TRANSACTIONAL", Transform = "TRANSFORM", Tree = "TREE",
        Triggers = "TRIGGERS", Trim = "TRIM", Truncate = "TRUNCATE", Type = "TYPE", Types = "TYPES",
        Unbounded = "UNBOUNDED", Uncommitted = "UNCOMMITTED", Undefined = "UNDEFINED", Undofile = "UNDOFILE",
        Unicode = "UNICODE", Uninstall = "UNINSTALL", Unknown = "UNKNOWN", Until = "UNTIL", Upgrade = "UPGRADE",
        User = "USER", UserResources = "USER_RESOURCES", UserStatistics = "USER_STATISTICS", UseFrm = "USE_FRM",
        Uuid = "UUID", Validation = "VALIDATION", Value = "VALUE", Varchar2 = "VARCHAR2", Variables = "VARIABLES",
        Variance = "VARIANCE", VarPop = "VAR_POP", VarSamp = "VAR_SAMP", Vcpu = "VCPU", Vector = "VECTOR",
        Version = "VERSION", Versioning = "VERSIONING", Via = "VIA", View = "VIEW", Visible = "VISIBLE",
        Wait = "WAIT", Warnings = "WARNINGS", Week = "WEEK", WeightString = "WEIGHT_STRING", Within = "WITHIN",
        Without = "WITHOUT", Work = "WORK", Wrapper = "WRAPPER", X509 = "X509", Xa = "XA", Xid = "XID", Xml = "XML",
        Year = "YEAR", Zone = "ZONE",
    }
}

const SLOTS: usize = 4096;

/// Where a word stands: open addressing over `hash`, 0 for an empty slot, else index into `ALL` + 1.
static TABLE: [u16; SLOTS] = build();

const fn build() -> [u16; SLOTS] {
    let mut table = [0u16; SLOTS];
    let mut i = 0;
    while i < ALL.len() {
        let mut slot = hash(ALL[i].1.as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u16 + 1; // fewer words than slots, so it fits
        i += 1;
    }
    table
}

const LONGEST: usize = longest();

const fn longest() -> usize {
    let (mut i, mut longest) = (0, 0);
    while i < ALL.len() {
        if ALL[i].1.len() > longest {
            longest = ALL[i].1.len();
        }
        i += 1;
    }
    longest
}

/// Of the length, the first four bytes and the last four, letters folded.
const fn hash(word: &[u8]) -> usize {
    let (head, tail) = if word.len() >= 4 {
        let n = word.len();
        (
            u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
            u32::from_le_bytes([word[n - 4], word[n - 3], word[n - 2], word[n - 1]]),
        )
    } else if word.len() >= 2 {
        (word[0] as u32 | (word[1] as u32) << 8, word[word.len() - 1] as u32)
    } else {
        (0, 0)
    };
    let mixed = ((head & 0xdfdf_dfdf) as u64) << 32 | (tail & 0xdfdf_dfdf) as u64;
    ((mixed ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS
}

impl Keyword {
    /// The word in any letter case, or `Keyword::None`.
    pub fn find(word: &[u8]) -> Keyword {
        if word.len() < 2 || word.len() > LONGEST {
            return Keyword::None;
        }
        let mut slot = hash(word);
        loop {
            match TABLE[slot] {
                0 => return Keyword::None,
                found => {
                    let (keyword, text) = ALL[found as usize - 1];
                    if text.as_bytes().eq_ignore_ascii_case(word) {
                        return keyword;
                    }
                }
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
        for other in ["", "x", "SELEC", "SELECTS", "uid", "sele\x03t"] {
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
