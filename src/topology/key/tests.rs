//! The forms that need no server to be known; `tests/keys.rs` asks real ones about the rest.

use super::*;
use crate::topology::place::{ShardNo, SubtableNo};

fn column<'a>(data_type: &'a str, column_type: &'a str, length: u64, collation: &'a str) -> Definition<'a> {
    let charset = collation.split_once('_').map(|(charset, _)| charset);
    let collation = charset.map(|_| collation);
    Definition { data_type, column_type, length: Some(length), charset, collation }
}

fn key(data_type: &str, column_type: &str, length: u64, collation: &str) -> KeyType {
    KeyType::from_column(&column(data_type, column_type, length, collation)).unwrap()
}

fn int() -> KeyType {
    key("int", "int(11)", 0, "")
}

fn canonical<'v>(key: &KeyType, value: &Value<'v>, purpose: Purpose) -> Canonical<'v> {
    key.canonical(value, &Reading { purpose, connection: "utf8mb4", weights: &Weights::default() })
}

fn text(text: &str) -> Value<'_> {
    Value::Text { bytes: text.as_bytes(), charset: "utf8mb4" }
}

#[test]
fn every_spelling_of_an_integer_is_one_key() {
    let hex = Value::Hex { bytes: &[0, 42], quoted: false };
    let numbers =
        [Value::Int(42), Value::UInt(42), Value::Decimal("42.00"), Value::Double(42.0), Value::Float(42.0), hex];
    let texts = ["42", " 42", "42 ", "42.0", "+42", "042", "42."].map(text);
    for value in numbers.iter().chain(&texts) {
        for purpose in [Purpose::Compare, Purpose::Store] {
            assert_eq!(canonical(&int(), value, purpose), Canonical::Exact(Key::Integer(42)), "{value:?}");
        }
    }
    assert_eq!(canonical(&int(), &Value::Null, Purpose::Store), Canonical::Null);
}

#[test]
fn what_is_not_provably_one_integer_is_not_exact() {
    let numbers = [Value::Decimal("42.5"), Value::Double(42.5), Value::Int(1 << 31), Value::Double(f64::NAN)];
    let others = [Value::Hex { bytes: b"42", quoted: true }, Value::Date { year: 2024, month: 1, day: 2 }];
    let texts = ["42abc", "", " ", "4 2", "0x2a", "1e1", "-0", "42.5", "2147483648", "--1", "+"].map(text);
    for value in numbers.iter().chain(&others).chain(&texts) {
        assert_eq!(canonical(&int(), value, Purpose::Compare), Canonical::NotExact, "{value:?}");
    }
}

#[test]
fn beyond_two_to_53_a_double_is_many_integers() {
    let bigint = key("bigint", "bigint(20) unsigned", 0, "");
    let exact = |value: &Value<'_>| matches!(canonical(&bigint, value, Purpose::Compare), Canonical::Exact(_));
    assert!(exact(&Value::UInt(u64::MAX)));
    assert!(exact(&text("18446744073709551615")));
    assert!(exact(&Value::Double(9_007_199_254_740_991.0)));
    assert!(!exact(&Value::Double(9_007_199_254_740_992.0)));
    assert!(!exact(&text("9007199254740993.0")));
    assert!(!exact(&Value::Float(16_777_216.0)));
    assert!(!exact(&text("18446744073709551616")));
    assert!(!exact(&Value::Int(-1)));
}

#[test]
fn a_number_beside_a_string_column_goes_everywhere_but_is_stored_as_its_digits() {
    let name = key("varchar", "varchar(20)", 20, "utf8mb4_bin");
    let stored = Canonical::Exact(Key::Bytes(Cow::Owned(b"5".to_vec())));
    assert_eq!(canonical(&name, &Value::Int(5), Purpose::Compare), Canonical::NotExact);
    assert_eq!(canonical(&name, &Value::Int(5), Purpose::Store), stored);
}

#[test]
fn what_a_string_column_can_not_store_unchanged_is_refused() {
    let short = key("varchar", "varchar(3)", 3, "utf8mb4_bin");
    let latin = key("char", "char(3)", 3, "latin1_bin");
    let exact = |key, value: &str| matches!(canonical(key, &text(value), Purpose::Store), Canonical::Exact(_));
    assert!(exact(&short, "äöü") && !exact(&short, "äöüx") && !exact(&short, "abc "));
    assert!(!exact(&latin, "abc   ") && exact(&latin, "a  ") && exact(&latin, "€") && !exact(&latin, "日"));
    let invalid = Value::Text { bytes: b"\xff", charset: "utf8mb4" };
    assert_eq!(canonical(&short, &invalid, Purpose::Store), Canonical::NotExact);
}

#[test]
fn a_string_passes_through_the_connection() {
    let name = key("varchar", "varchar(3)", 3, "utf8mb4_bin");
    let none = Weights::default();
    let reading = |connection| Reading { purpose: Purpose::Compare, connection, weights: &none };
    assert_eq!(name.canonical(&text("日"), &reading("latin1")), Canonical::NotExact);
    let gbk = Value::Text { bytes: b"\xc8\xd5", charset: "gbk" };
    let Canonical::Ask(question) = name.canonical(&gbk, &reading("gbk")) else { panic!("gbk is not asked about") };
    assert!(question.query().contains("_gbk X'C8D5'"), "{}", question.query());
    let weights = Weights::default();
    weights.answer(question, Some(&[Some(b"7".to_vec())])).unwrap();
    let answered = Reading { weights: &weights, ..reading("gbk") };
    assert_eq!(name.canonical(&gbk, &answered), Canonical::Exact(Key::Hashed(7)));
}

#[test]
fn binary_keys_are_padded_as_they_are_stored() {
    let fixed = key("binary", "binary(4)", 4, "");
    let Canonical::Exact(Key::Bytes(bytes)) = canonical(&fixed, &text("ab"), Purpose::Store) else {
        panic!("not exact")
    };
    assert_eq!(&*bytes, b"ab\0\0");
    assert_eq!(canonical(&fixed, &text("abcde"), Purpose::Store), Canonical::NotExact);
}

#[test]
fn dates_are_days_of_the_calendar() {
    let same = [text("2024-02-29"), text("2024-2-29"), text("20240229"), Value::Int(20_240_229)];
    for value in same {
        let day = Canonical::Exact(Key::Bytes(Cow::Owned(b"2024-02-29".to_vec())));
        assert_eq!(canonical(&KeyType::Date, &value, Purpose::Compare), day, "{value:?}");
    }
    for value in [
        "2023-02-29",
        "24-02-29",
        "2024-00-01",
        "0000-00-00",
        "2024-02-29 10:00:00",
        "20240229 00:00:00",
        "2024/02/29",
        "x",
    ] {
        assert_eq!(canonical(&KeyType::Date, &text(value), Purpose::Store), Canonical::NotExact, "{value}");
    }
}

#[test]
fn types_off_the_list_are_refused_with_a_remedy() {
    let refusal = |data_type, collation| KeyType::from_column(&column(data_type, data_type, 4, collation)).unwrap_err();
    assert!(refusal("decimal", "").contains("BIGINT"));
    assert!(refusal("timestamp", "").contains("time zone"));
    assert!(refusal("varchar", "gbk_chinese_ci").contains("character set gbk"));
    assert!(refusal("varchar", "utf8mb4_uca1400_as_cs").contains("_bin"));
    assert!(refusal("text", "utf8mb4_bin").contains("VARCHAR"));
}

#[test]
fn tables_are_co_located_by_what_their_keys_have_in_common() {
    let varchar = |collation| key("varchar", "varchar(9)", 9, collation);
    assert!(int().meets(&key("bigint", "bigint unsigned", 0, "")));
    assert!(!int().meets(&KeyType::Date));
    assert!(!varchar("utf8mb4_bin").meets(&varchar("utf8mb4_general_ci")));
    assert!(varchar("utf8mb4_bin").meets(&key("char", "char(3)", 3, "utf8mb4_bin")));
    assert!(int().allows(Hash::Identity).is_ok() && KeyType::Date.allows(Hash::Identity).is_err());
}

#[test]
fn the_hash_is_that_of_the_digits() {
    for k in [0, 7, -7, i128::from(i64::MIN), i128::from(u64::MAX)] {
        assert_eq!(Key::Integer(k).hash(Hash::Crc32), KeyHash::Crc32(crc32fast::hash(k.to_string().as_bytes())));
    }
    // SELECT CRC32(42) % 4, (CRC32(42) >> 16) % 1024
    let place = Key::Integer(42).hash(Hash::Crc32).place(4, 1024);
    assert_eq!((place.shard, place.subtable), (ShardNo(0), SubtableNo(548)));
}

#[test]
fn the_page_about_keys_says_how_each_is_hashed() {
    let page = include_str!("../../../docs/keys.md");
    let integers = [int(), key("int", "int(8) unsigned zerofill", 0, "")];
    let bytes = [KeyType::Date, key("binary", "binary(4)", 4, "")];
    let collations = [
        "utf8mb4_bin",
        "utf8mb4_0900_bin",
        "utf8mb4_general_ci",
        "utf8mb4_unicode_ci",
        "utf8mb4_spanish_ci",
        "utf8mb4_unicode_520_ci",
        "latin1_swedish_ci",
        "ascii_general_ci",
        "utf8mb4_0900_ai_ci",
    ];
    let strings = collations.iter().flat_map(|collation| ["char", "varchar"].map(|kind| key(kind, kind, 9, collation)));
    for key in integers.into_iter().chain(bytes).chain(strings) {
        let hash = format!("`{}`", key.sql_hash("k"));
        assert!(page.contains(&hash), "{hash} of {key:?}");
    }
}
