//! What a call of a function means for a plan: whether its value depends on the clock, on chance
//! or on the session, and whether the servers know the name as their own.

/// What decides the value of a built-in function, besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing else.
    Fixed,
    /// The statement's instant.
    Clock,
    /// Something that differs from server to server or from row to row.
    Chance,
    /// The session; most are spliced.
    Session,
    /// Named locks, which live on the home shard's server.
    Lock,
    /// Not built in: a stored function, or a newer one than this list.
    Unknown,
}

/// Of a function's name, in any letter case.
pub(crate) fn nature(name: &[u8]) -> Nature {
    let Ok(upper) = std::str::from_utf8(name).map(str::to_ascii_uppercase) else { return Nature::Unknown };
    [
        (FIXED, Nature::Fixed),
        (CLOCK, Nature::Clock),
        (CHANCE, Nature::Chance),
        (SESSION, Nature::Session),
        (LOCK, Nature::Lock),
    ]
    .into_iter()
    .find(|(names, _)| names.binary_search(&upper.as_str()).is_ok())
    .map_or(Nature::Unknown, |(_, nature)| nature)
}

/// One instant for a whole statement. Sorted.
#[rustfmt::skip]
const CLOCK: &[&str] = &[
    "CURDATE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME", "LOCALTIME", "LOCALTIMESTAMP", "NOW",
    "UNIX_TIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
];

/// Another value at each call. Sorted.
#[rustfmt::skip]
const CHANCE: &[&str] = &[
    "LASTVAL", "NEXTVAL", "RAND", "RANDOM_BYTES", "SETVAL", "SLEEP", "SYSDATE", "SYS_GUID", "UUID", "UUID_SHORT",
    "UUID_V4", "UUID_V7",
];

/// Known to the session only. Sorted.
#[rustfmt::skip]
const SESSION: &[&str] = &[
    "CONNECTION_ID", "CURRENT_ROLE", "CURRENT_USER", "DATABASE", "FOUND_ROWS", "ICU_VERSION", "LAST_INSERT_ID",
    "PS_CURRENT_THREAD_ID", "PS_THREAD_ID", "ROLES_GRAPHML", "ROW_COUNT", "SCHEMA", "SESSION_USER", "SYSTEM_USER",
    "USER",
];

/// Named locks. Sorted.
#[rustfmt::skip]
const LOCK: &[&str] = &[
    "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "RELEASE_ALL_LOCKS", "RELEASE_LOCK",
];

/// The same value for the same arguments. Sorted.
#[rustfmt::skip]
const FIXED: &[&str] = &[
    "ABS", "ACOS", "ADDDATE", "ADDTIME", "ADD_MONTHS", "AES_DECRYPT", "AES_ENCRYPT", "ANY_VALUE", "ASCII", "ASIN",
    "ATAN", "ATAN2", "AVG", "BENCHMARK", "BIN", "BIN_TO_UUID", "BIT_AND", "BIT_COUNT", "BIT_LENGTH", "BIT_OR",
    "BIT_XOR", "CAST", "CEIL", "CEILING", "CHAR", "CHARACTER_LENGTH", "CHARSET", "CHAR_LENGTH", "CHR", "COALESCE",
    "COERCIBILITY", "COLLATION", "COLUMN_ADD", "COLUMN_CHECK", "COLUMN_CREATE", "COLUMN_DELETE", "COLUMN_EXISTS",
    "COLUMN_GET", "COLUMN_JSON", "COLUMN_LIST", "COMPRESS", "CONCAT", "CONCAT_OPERATOR_ORACLE", "CONCAT_WS", "CONV",
    "CONVERT", "CONVERT_TZ", "COS", "COT", "COUNT", "CRC32", "CRC32C", "CUME_DIST", "DATE", "DATEDIFF", "DATE_ADD",
    "DATE_FORMAT", "DATE_SUB", "DAY", "DAYNAME", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "DECODE", "DECODE_HISTOGRAM",
    "DEFAULT", "DEGREES", "DENSE_RANK", "DES_DECRYPT", "DES_ENCRYPT", "ELT", "ENCODE", "ENCRYPT", "EXISTS", "EXP",
    "EXPORT_SET", "EXTRACT", "EXTRACTVALUE", "FIELD", "FIND_IN_SET", "FIRST_VALUE", "FLOOR", "FORMAT", "FORMAT_BYTES",
    "FORMAT_PICO_TIME", "FROM_BASE64", "FROM_DAYS", "FROM_UNIXTIME", "GEOMETRYCOLLECTION", "GEOMFROMTEXT",
    "GET_FORMAT", "GREATEST", "GROUPING", "GROUP_CONCAT", "HEX", "HOUR", "IF", "IFNULL", "IN", "INET6_ATON",
    "INET6_NTOA", "INET_ATON", "INET_NTOA", "INSERT", "INSTR", "INTERVAL", "ISNULL", "IS_IPV4", "IS_IPV4_COMPAT",
    "IS_IPV4_MAPPED", "IS_IPV6", "IS_UUID", "JSON_ARRAY", "JSON_ARRAYAGG", "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT",
    "JSON_ARRAY_INTERSECT", "JSON_COMPACT", "JSON_CONTAINS", "JSON_CONTAINS_PATH", "JSON_DEPTH", "JSON_DETAILED",
    "JSON_EQUALS", "JSON_EXISTS", "JSON_EXTRACT", "JSON_INSERT", "JSON_KEYS", "JSON_LENGTH", "JSON_LOOSE",
    "JSON_MERGE", "JSON_MERGE_PATCH", "JSON_MERGE_PRESERVE", "JSON_NORMALIZE", "JSON_OBJECT", "JSON_OBJECTAGG",
    "JSON_OBJECT_FILTER_KEYS", "JSON_OBJECT_TO_ARRAY", "JSON_OVERLAPS", "JSON_PRETTY", "JSON_QUERY", "JSON_QUOTE",
    "JSON_REMOVE", "JSON_REPLACE", "JSON_SCHEMA_VALID", "JSON_SCHEMA_VALIDATION_REPORT", "JSON_SEARCH", "JSON_SET",
    "JSON_STORAGE_FREE", "JSON_STORAGE_SIZE", "JSON_TABLE", "JSON_TYPE", "JSON_UNQUOTE", "JSON_VALID", "JSON_VALUE",
    "LAG", "LAST_DAY", "LAST_VALUE", "LCASE", "LEAD", "LEAST", "LEFT", "LENGTH", "LENGTHB", "LINESTRING", "LN",
    "LOCATE", "LOG", "LOG10", "LOG2", "LOWER", "LPAD", "LTRIM", "MAKEDATE", "MAKETIME", "MAKE_SET", "MATCH", "MAX",
    "MBRCONTAINS", "MBRCOVEREDBY", "MBRCOVERS", "MBRDISJOINT", "MBREQUALS", "MBRINTERSECTS", "MBROVERLAPS",
    "MBRTOUCHES", "MBRWITHIN", "MD5", "MEDIAN", "MICROSECOND", "MID", "MIN", "MINUTE", "MOD", "MONTH", "MONTHNAME",
    "MULTILINESTRING", "MULTIPOINT", "MULTIPOLYGON", "NAME_CONST", "NATURAL_SORT_KEY", "NTH_VALUE", "NTILE", "NULLIF",
    "NVL", "NVL2", "OCT", "OCTET_LENGTH", "OLD_PASSWORD", "ORD", "PASSWORD", "PERCENTILE_CONT", "PERCENTILE_DISC",
    "PERCENT_RANK", "PERIOD_ADD", "PERIOD_DIFF", "PI", "POINT", "POLYGON", "POSITION", "POW", "POWER", "QUARTER",
    "QUOTE", "RADIANS", "RANK", "REGEXP_INSTR", "REGEXP_LIKE", "REGEXP_REPLACE", "REGEXP_SUBSTR", "REPEAT", "REPLACE",
    "REVERSE", "RIGHT", "ROUND", "ROW", "ROW_NUMBER", "RPAD", "RTRIM", "SECOND", "SEC_TO_TIME", "SFORMAT", "SHA",
    "SHA1", "SHA2", "SIGN", "SIN", "SOUNDEX", "SPACE", "SQRT", "STATEMENT_DIGEST", "STATEMENT_DIGEST_TEXT", "STD",
    "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "STRCMP", "STR_TO_DATE", "ST_AREA", "ST_ASBINARY", "ST_ASGEOJSON",
    "ST_ASTEXT", "ST_ASWKB", "ST_ASWKT", "ST_BOUNDARY", "ST_BUFFER", "ST_BUFFER_STRATEGY", "ST_CENTROID",
    "ST_COLLECT", "ST_CONTAINS", "ST_CONVEXHULL", "ST_CROSSES", "ST_DIFFERENCE", "ST_DIMENSION", "ST_DISJOINT",
    "ST_DISTANCE", "ST_DISTANCE_SPHERE", "ST_ENDPOINT", "ST_ENVELOPE", "ST_EQUALS", "ST_EXTERIORRING",
    "ST_FRECHETDISTANCE", "ST_GEOHASH", "ST_GEOMCOLLFROMTEXT", "ST_GEOMETRYCOLLECTIONFROMTEXT", "ST_GEOMETRYFROMTEXT",
    "ST_GEOMETRYFROMWKB", "ST_GEOMETRYN", "ST_GEOMETRYTYPE", "ST_GEOMFROMGEOJSON", "ST_GEOMFROMTEXT",
    "ST_GEOMFROMWKB", "ST_HAUSDORFFDISTANCE", "ST_INTERIORRINGN", "ST_INTERSECTION", "ST_INTERSECTS", "ST_ISCLOSED",
    "ST_ISEMPTY", "ST_ISRING", "ST_ISSIMPLE", "ST_ISVALID", "ST_LATFROMGEOHASH", "ST_LATITUDE", "ST_LENGTH",
    "ST_LINEFROMTEXT", "ST_LINEFROMWKB", "ST_LINEINTERPOLATEPOINT", "ST_LONGFROMGEOHASH", "ST_LONGITUDE",
    "ST_MAKEENVELOPE", "ST_NUMGEOMETRIES", "ST_NUMINTERIORRINGS", "ST_NUMPOINTS", "ST_OVERLAPS", "ST_POINTATDISTANCE",
    "ST_POINTFROMGEOHASH", "ST_POINTFROMTEXT", "ST_POINTFROMWKB", "ST_POINTN", "ST_POINTONSURFACE", "ST_POLYFROMTEXT",
    "ST_POLYFROMWKB", "ST_POLYGONFROMTEXT", "ST_RELATE", "ST_SIMPLIFY", "ST_SRID", "ST_STARTPOINT", "ST_SWAPXY",
    "ST_SYMDIFFERENCE", "ST_TOUCHES", "ST_TRANSFORM", "ST_UNION", "ST_VALIDATE", "ST_WITHIN", "ST_X", "ST_Y",
    "SUBDATE", "SUBSTR", "SUBSTRING", "SUBSTRING_INDEX", "SUBTIME", "SUM", "TAN", "TIME", "TIMEDIFF", "TIMESTAMP",
    "TIMESTAMPADD", "TIMESTAMPDIFF", "TIME_FORMAT", "TIME_TO_SEC", "TO_BASE64", "TO_CHAR", "TO_DAYS", "TO_SECONDS",
    "TRIM", "TRUNCATE", "UCASE", "UNCOMPRESS", "UNCOMPRESSED_LENGTH", "UNHEX", "UPDATEXML", "UPPER", "UUID_TO_BIN",
    "VALIDATE_PASSWORD_STRENGTH", "VALUE", "VALUES", "VARIANCE", "VAR_POP", "VAR_SAMP", "VECTOR_DIM", "VEC_FROMTEXT",
    "VEC_TOTEXT", "VERSION", "WEEK", "WEEKDAY", "WEEKOFYEAR", "WEIGHT_STRING", "YEAR", "YEARWEEK",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_apart() {
        let all = [CLOCK, CHANCE, SESSION, LOCK, FIXED];
        assert!(all.iter().all(|names| names.is_sorted()));
        let mut names = all.concat();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn letter_case_does_not_matter() {
        assert_eq!(nature(b"now"), Nature::Clock);
        assert_eq!(nature(b"Concat"), Nature::Fixed);
        assert_eq!(nature(b"my_own"), Nature::Unknown);
    }
}
