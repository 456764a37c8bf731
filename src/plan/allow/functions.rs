//! Functions by name: built into a server, reaching out of the proxy's care, or stored ones.
//!
//! A closed list: a name that is not on it is taken for a stored function and called as one
//! (qualified by its database), so a loadable function of the server's machine is out of reach.
//! The list is what MySQL 9.7 and MariaDB 10.11 themselves know without a stored function.

use crate::error::{Error, code};

/// What a function name means where it is called without a schema.
#[derive(Debug)]
pub enum Function {
    BuiltIn,
    /// Nobody may call it through the proxy.
    Refused(Error),
    /// A stored function of the current schema, on its home shard.
    Stored,
}

/// By name in any letter case.
pub fn function(name: &[u8]) -> Function {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if BUILT_IN.binary_search(&name.as_str()).is_ok() {
        return Function::BuiltIn;
    }
    match name.as_str() {
        "load_file" => Function::Refused(Error::client(
            code::SPECIFIC_ACCESS_DENIED,
            "Access denied; you need (at least one of) the FILE privilege(s) for this operation",
        )),
        "master_pos_wait"
        | "source_pos_wait"
        | "master_gtid_wait"
        | "wait_for_executed_gtid_set"
        | "wait_until_sql_thread_after_gtids"
        | "wsrep_sync_wait_upto_gtid"
        | "binlog_gtid_pos" => Function::Refused(Error::refused(format!(
            "Bifold: {}() names a position in one server's binary log; a schema of several servers has none. Ask that server.",
            name.to_ascii_uppercase()
        ))),
        _ => Function::Stored,
    }
}

#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "abs", "acos", "add_months", "adddate", "addtime", "aes_decrypt", "aes_encrypt", "any_value", "ascii", "asin",
    "atan", "atan2", "avg", "benchmark", "bin", "bin_to_uuid", "binary", "bit_and", "bit_count", "bit_length",
    "bit_or", "bit_xor", "cast", "ceil", "ceiling", "char", "char_length", "character_length", "charset", "chr",
    "coalesce", "coercibility", "collation", "column_add", "column_check", "column_create", "column_delete",
    "column_exists", "column_get", "column_json", "column_list", "compress", "concat", "concat_operator_oracle",
    "concat_ws", "connection_id", "contains", "conv", "convert", "convert_tz", "cos", "cot", "count", "crc32",
    "crc32c", "cume_dist", "curdate", "current_date", "current_role", "current_time", "current_timestamp",
    "current_user", "curtime", "database", "date", "date_add", "date_format", "date_sub", "datediff", "day",
    "dayname", "dayofmonth", "dayofweek", "dayofyear", "decode", "decode_oracle", "default", "degrees", "dense_rank",
    "des_decrypt", "des_encrypt", "elt", "encode", "encrypt", "etag", "exists", "exp", "export_set", "extract",
    "extractvalue", "field", "find_in_set", "first_value", "floor", "format", "format_bytes", "format_pico_time",
    "found_rows", "from_base64", "from_days", "from_unixtime", "from_vector", "geomcollection", "geometrycollection",
    "geometryfromtext", "geometryfromwkb", "geomfromtext", "get_format", "get_lock", "glength", "greatest",
    "group_concat", "grouping", "gtid_subset", "gtid_subtract", "hex", "hour", "icu_version", "if", "ifnull",
    "inet6_aton", "inet6_ntoa", "inet_aton", "inet_ntoa", "insert", "instr", "interval", "is_free_lock", "is_ipv4",
    "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "is_used_lock", "is_uuid", "isnull", "json_array",
    "json_array_append", "json_array_insert", "json_arrayagg", "json_compact", "json_contains", "json_contains_path",
    "json_depth", "json_detailed", "json_duality_object", "json_equals", "json_exists", "json_extract", "json_insert",
    "json_keys", "json_length", "json_loose", "json_merge", "json_merge_patch", "json_merge_preserve",
    "json_normalize", "json_object", "json_objectagg", "json_overlaps", "json_pretty", "json_query", "json_quote",
    "json_remove", "json_replace", "json_schema_valid", "json_schema_validation_report", "json_search", "json_set",
    "json_storage_free", "json_storage_size", "json_table", "json_type", "json_unquote", "json_valid", "json_value",
    "lag", "last_day", "last_insert_id", "last_value", "lcase", "lead", "least", "left", "length", "lengthb",
    "linestring", "ln", "localtime", "localtimestamp", "locate", "log", "log10", "log2", "lower", "lpad",
    "lpad_oracle", "ltrim", "ltrim_oracle", "make_set", "makedate", "maketime", "match", "max", "mbrcontains",
    "mbrcoveredby", "mbrcovers", "mbrdisjoint", "mbrequal", "mbrequals", "mbrintersects", "mbroverlaps", "mbrtouches",
    "mbrwithin", "md5", "median", "microsecond", "mid", "min", "minute", "mod", "month", "monthname",
    "multilinestring", "multipoint", "multipolygon", "name_const", "natural_sort_key", "now", "nth_value", "ntile",
    "nullif", "nvl", "nvl2", "oct", "octet_length", "old_password", "ord", "password", "percent_rank",
    "percentile_cont", "percentile_disc", "period_add", "period_diff", "pi", "point", "polygon", "position", "pow",
    "power", "ps_current_thread_id", "ps_thread_id", "psz", "quarter", "quote", "radians", "rand", "random_bytes",
    "rank", "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "release_all_locks", "release_lock",
    "repeat", "replace", "replace_oracle", "reverse", "right", "roles_graphml", "round", "row", "row_count",
    "row_number", "rownum", "rpad", "rpad_oracle", "rtrim", "rtrim_oracle", "schema", "sec_to_time", "second",
    "session_user", "sformat", "sha", "sha1", "sha2", "sign", "sin", "sleep", "soundex", "space", "sqrt", "srid",
    "st_area", "st_asbinary", "st_asgeojson", "st_astext", "st_aswkb", "st_aswkt", "st_boundary", "st_buffer",
    "st_buffer_strategy", "st_centroid", "st_collect", "st_contains", "st_convexhull", "st_crosses", "st_difference",
    "st_dimension", "st_disjoint", "st_distance", "st_distance_sphere", "st_endpoint", "st_envelope", "st_equals",
    "st_exteriorring", "st_frechetdistance", "st_geohash", "st_geomcollfromtext", "st_geomcollfromtxt",
    "st_geomcollfromwkb", "st_geometrycollectionfromtext", "st_geometrycollectionfromwkb", "st_geometryfromtext",
    "st_geometryfromwkb", "st_geometryn", "st_geometrytype", "st_geomfromgeojson", "st_geomfromtext",
    "st_geomfromwkb", "st_hausdorffdistance", "st_interiorringn", "st_intersection", "st_intersects", "st_isclosed",
    "st_isempty", "st_isring", "st_issimple", "st_isvalid", "st_latfromgeohash", "st_latitude", "st_length",
    "st_linefromtext", "st_linefromwkb", "st_lineinterpolatepoint", "st_lineinterpolatepoints",
    "st_linestringfromtext", "st_linestringfromwkb", "st_longfromgeohash", "st_longitude", "st_makeenvelope",
    "st_mlinefromtext", "st_mlinefromwkb", "st_mpointfromtext", "st_mpointfromwkb", "st_mpolyfromtext",
    "st_mpolyfromwkb", "st_multilinestringfromtext", "st_multilinestringfromwkb", "st_multipointfromtext",
    "st_multipointfromwkb", "st_multipolygonfromtext", "st_multipolygonfromwkb", "st_numgeometries",
    "st_numinteriorring", "st_numinteriorrings", "st_numpoints", "st_overlaps", "st_pointatdistance",
    "st_pointfromgeohash", "st_pointfromtext", "st_pointfromwkb", "st_pointn", "st_pointonsurface", "st_polyfromtext",
    "st_polyfromwkb", "st_polygonfromtext", "st_polygonfromwkb", "st_relate", "st_simplify", "st_srid",
    "st_startpoint", "st_swapxy", "st_symdifference", "st_touches", "st_transform", "st_union", "st_validate",
    "st_within", "st_x", "st_y", "statement_digest", "statement_digest_text", "std", "stddev", "stddev_pop",
    "stddev_samp", "str_to_date", "strcmp", "string_to_vector", "subdate", "substr", "substr_oracle", "substring",
    "substring_index", "subtime", "sum", "sys_guid", "sysdate", "system_user", "tan", "time", "time_format",
    "time_to_sec", "timediff", "timestamp", "timestampadd", "timestampdiff", "to_base64", "to_char", "to_days",
    "to_seconds", "to_vector", "trim", "trim_oracle", "truncate", "ucase", "uncompress", "uncompressed_length",
    "unhex", "unix_timestamp", "updatexml", "upper", "user", "utc_date", "utc_time", "utc_timestamp", "uuid",
    "uuid_short", "uuid_to_bin", "validate_password_strength", "value", "values", "var_pop", "var_samp", "variance",
    "vector_dim", "vector_to_string", "version", "version_with_update", "week", "weekday", "weekofyear",
    "weight_string", "wsrep_last_seen_gtid", "wsrep_last_written_gtid", "year", "yearweek",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(BUILT_IN.is_sorted());
        assert!(matches!(function(b"Concat_WS"), Function::BuiltIn));
        assert!(matches!(function(b"JSON_TABLE"), Function::BuiltIn));
    }

    #[test]
    fn what_is_not_on_it_is_a_stored_function_or_refused() {
        assert!(matches!(function(b"sys_exec"), Function::Stored));
        assert!(matches!(function(b"innodb_set_open_files_limit"), Function::Stored));
        assert!(matches!(function(b"Load_File"), Function::Refused(error) if error.code() == 1227));
        assert!(matches!(function(b"MASTER_POS_WAIT"), Function::Refused(error) if error.code() == 1235));
    }
}
