//! A column of a result: ColumnDefinition41, its types and flags, and the quick way to give it
//! logical names for physical ones.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>

use crate::error::Result;
use crate::protocol::payload::{Reader, malformed, put_lenenc_bytes};

/// <https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html>
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ColumnType {
    Decimal = 0,
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    NewDate = 14,
    VarChar = 15,
    Bit = 16,
    Timestamp2 = 17,
    DateTime2 = 18,
    Time2 = 19,
    TypedArray = 20,
    Vector = 242,
    Invalid = 243,
    Bool = 244,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    TinyBlob = 249,
    MediumBlob = 250,
    LongBlob = 251,
    Blob = 252,
    VarString = 253,
    String = 254,
    Geometry = 255,
}

impl ColumnType {
    pub fn from_byte(byte: u8) -> Option<Self> {
        use ColumnType::*;
        Some(match byte {
            0 => Decimal,
            1 => Tiny,
            2 => Short,
            3 => Long,
            4 => Float,
            5 => Double,
            6 => Null,
            7 => Timestamp,
            8 => LongLong,
            9 => Int24,
            10 => Date,
            11 => Time,
            12 => DateTime,
            13 => Year,
            14 => NewDate,
            15 => VarChar,
            16 => Bit,
            17 => Timestamp2,
            18 => DateTime2,
            19 => Time2,
            20 => TypedArray,
            242 => Vector,
            243 => Invalid,
            244 => Bool,
            245 => Json,
            246 => NewDecimal,
            247 => Enum,
            248 => Set,
            249 => TinyBlob,
            250 => MediumBlob,
            251 => LongBlob,
            252 => Blob,
            253 => VarString,
            254 => String,
            255 => Geometry,
            21..=241 => return None,
        })
    }

    pub const fn byte(self) -> u8 {
        self as u8
    }
}

/// <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__column__definition__flags.html>
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnFlags(u16);

impl ColumnFlags {
    pub const NONE: Self = Self(0);
    pub const NOT_NULL: Self = Self(1);
    pub const PRI_KEY: Self = Self(1 << 1);
    pub const UNIQUE_KEY: Self = Self(1 << 2);
    pub const MULTIPLE_KEY: Self = Self(1 << 3);
    pub const BLOB: Self = Self(1 << 4);
    pub const UNSIGNED: Self = Self(1 << 5);
    pub const ZEROFILL: Self = Self(1 << 6);
    pub const BINARY: Self = Self(1 << 7);
    pub const ENUM: Self = Self(1 << 8);
    pub const AUTO_INCREMENT: Self = Self(1 << 9);
    pub const TIMESTAMP: Self = Self(1 << 10);
    pub const SET: Self = Self(1 << 11);
    pub const NO_DEFAULT_VALUE: Self = Self(1 << 12);
    pub const ON_UPDATE_NOW: Self = Self(1 << 13);
    pub const PART_KEY: Self = Self(1 << 14);
    pub const NUM: Self = Self(1 << 15);

    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u16 {
        self.0
    }

    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    pub schema: &'a [u8],
    /// The alias, where the statement gives one.
    pub table: &'a [u8],
    pub org_table: &'a [u8],
    pub name: &'a [u8],
    pub org_name: &'a [u8],
    /// The collation's number; 63 for bytes and numbers.
    pub collation: u16,
    pub length: u32,
    pub kind: ColumnType,
    pub flags: ColumnFlags,
    pub decimals: u8,
}

impl<'a> Column<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let _catalog = reader.lenenc_bytes()?;
        let schema = reader.lenenc_bytes()?;
        let table = reader.lenenc_bytes()?;
        let org_table = reader.lenenc_bytes()?;
        let name = reader.lenenc_bytes()?;
        let org_name = reader.lenenc_bytes()?;
        let mut fixed = Reader::new(reader.lenenc_bytes()?);
        Ok(Column {
            schema,
            table,
            org_table,
            name,
            org_name,
            collation: fixed.u16()?,
            length: fixed.u32()?,
            kind: ColumnType::from_byte(fixed.u8()?).ok_or_else(malformed)?,
            flags: ColumnFlags::from_bits(fixed.u16()?),
            decimals: fixed.u8()?,
        })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        put_lenenc_bytes(out, b"def");
        for name in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            put_lenenc_bytes(out, name);
        }
        out.push(0x0C);
        out.extend_from_slice(&self.collation.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.kind.byte());
        out.extend_from_slice(&self.flags.bits().to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0, 0]);
    }
}

/// The names in a definition that may be physical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub schema: &'a [u8],
    pub table: &'a [u8],
    pub org_table: &'a [u8],
}

impl<'a> Names<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        Ok(split(payload)?.1)
    }
}

/// Appends the definition in `payload` to `out` with the names that `rename` gives for those
/// that stand there; all else is copied as it is.
pub fn rewrite_names<'a>(
    payload: &'a [u8],
    rename: impl FnOnce(Names<'a>) -> Names<'a>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (front, names, rest) = split(payload)?;
    let names = rename(names);
    out.extend_from_slice(front);
    for name in [names.schema, names.table, names.org_table] {
        put_lenenc_bytes(out, name);
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// The catalog, the names, and all that follows them.
fn split(payload: &[u8]) -> Result<(&[u8], Names<'_>, &[u8])> {
    let mut reader = Reader::new(payload);
    let _catalog = reader.lenenc_bytes()?;
    let front = &payload[..payload.len() - reader.len()];
    let names =
        Names { schema: reader.lenenc_bytes()?, table: reader.lenenc_bytes()?, org_table: reader.lenenc_bytes()? };
    Ok((front, names, reader.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::reply;

    #[test]
    fn real_definitions_are_read_and_written_back() {
        for name in ["maria eof select", "mysql ok select", "mysql eof execute"] {
            let payloads = reply(name).payloads();
            let columns: Vec<Column<'_>> =
                payloads[1..4].iter().map(|payload| Column::parse(payload).expect(name)).collect();
            let names: Vec<&[u8]> = columns.iter().map(|column| column.name).collect();
            assert_eq!(names, [&b"id"[..], b"name", b"d"]);
            assert_eq!((columns[0].kind, columns[2].kind), (ColumnType::LongLong, ColumnType::DateTime));
            assert!(columns[0].flags.has(ColumnFlags::UNSIGNED.with(ColumnFlags::AUTO_INCREMENT)));
            assert_eq!((columns[1].collation, columns[1].length, columns[2].decimals), (45, 80, 6));
            for (column, payload) in columns.iter().zip(&payloads[1..4]) {
                let mut out = Vec::new();
                column.write(&mut out);
                assert_eq!(out, *payload);
                for cut in 0..payload.len() - 2 {
                    assert!(Column::parse(&payload[..cut]).is_err());
                }
            }
        }
    }

    #[test]
    fn only_the_names_change() {
        let payload = &reply("mysql ok select").payloads()[1];
        let logical = Names { schema: b"mall", table: b"o", org_table: b"orders" };
        let mut out = Vec::new();
        let rename = |names: Names<'_>| {
            assert_eq!(names, Names { schema: b"d", table: b"t", org_table: b"t" });
            logical
        };
        rewrite_names(payload, rename, &mut out).expect("rewritten");
        assert_eq!(Names::parse(&out).expect("names"), logical);
        let expected = Column {
            schema: logical.schema,
            table: logical.table,
            org_table: logical.org_table,
            ..Column::parse(payload).expect("a column")
        };
        assert_eq!(Column::parse(&out).expect("a column"), expected);
        assert!(rewrite_names(&payload[..6], |names| names, &mut out).is_err());
    }

    #[test]
    fn each_type_is_found_by_its_byte() {
        for byte in 0..=255 {
            if let Some(kind) = ColumnType::from_byte(byte) {
                assert_eq!(kind.byte(), byte);
            }
        }
        assert_eq!((0..=255).filter_map(ColumnType::from_byte).count(), 35);
    }
}
