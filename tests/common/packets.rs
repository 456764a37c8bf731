//! What the packets of the tests' client say: every field, so that two answers can be compared
//! whole.

use std::fmt::{self, Write};

pub struct Caps;

impl Caps {
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const LOCAL_FILES: u32 = 1 << 7;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    pub const SESSION_TRACK: u32 = 1 << 23;
    pub const DEPRECATE_EOF: u32 = 1 << 24;
    /// Long password, long flag, 4.1, transactions, secure connection, multi-results (both kinds),
    /// plugin auth, attributes, DEPRECATE_EOF.
    pub const MODERN: u32 =
        0x1 | 0x4 | 0x200 | 0x2000 | 0x8000 | 0x2_0000 | 0x4_0000 | 0x8_0000 | 0x10_0000 | 0x100_0000;
}

pub type Cell = Option<Vec<u8>>;

#[derive(Clone, PartialEq)]
pub enum Answer {
    Ok(OkPacket),
    Rows(ResultSet),
    Err(ServerError),
    /// The connection is gone, or what came is no reply.
    Lost(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct OkPacket {
    pub affected: u64,
    pub insert_id: u64,
    pub status: u16,
    pub warnings: u16,
    pub info: String,
}

#[derive(Clone, PartialEq)]
pub struct ResultSet {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    pub status: u16,
    pub warnings: u16,
}

#[derive(Clone, PartialEq, Eq)]
pub struct ServerError {
    pub code: u16,
    pub state: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub schema: String,
    pub table: String,
    pub org_table: String,
    pub name: String,
    pub org_name: String,
    pub charset: u16,
    pub length: u32,
    pub kind: u8,
    pub flags: u16,
    pub decimals: u8,
}

/// What COM_STMT_PREPARE answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub id: u32,
    pub columns: Vec<Column>,
    pub params: Vec<Column>,
    pub warnings: u16,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    Null,
    Tiny(i8),
    Short(i16),
    Long(i32),
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Decimal(String),
    Date(u16, u8, u8),
    DateTime(u16, u8, u8, u8, u8, u8, u32),
    Time(bool, u32, u8, u8, u8, u32),
    /// Sent ahead by COM_STMT_SEND_LONG_DATA.
    LongData(Vec<u8>),
}

impl Answer {
    pub fn status(&self) -> Option<u16> {
        match self {
            Answer::Ok(ok) => Some(ok.status),
            Answer::Rows(rows) => Some(rows.status),
            Answer::Err(_) | Answer::Lost(_) => None,
        }
    }

    pub fn warnings(&self) -> u16 {
        match self {
            Answer::Ok(ok) => ok.warnings,
            Answer::Rows(rows) => rows.warnings,
            Answer::Err(_) | Answer::Lost(_) => 0,
        }
    }

    /// The rows as text, NULL as `None`; panics on another answer.
    #[track_caller]
    pub fn text(&self) -> Vec<Vec<Option<String>>> {
        match self {
            Answer::Rows(set) => set
                .rows
                .iter()
                .map(|row| {
                    row.iter().map(|cell| cell.as_deref().map(|b| String::from_utf8_lossy(b).into_owned())).collect()
                })
                .collect(),
            other => panic!("no rows but {other:?}"),
        }
    }

    #[track_caller]
    pub fn ok(&self) -> &OkPacket {
        match self {
            Answer::Ok(ok) => ok,
            other => panic!("not OK but {other:?}"),
        }
    }

    #[track_caller]
    pub fn err(&self) -> &ServerError {
        match self {
            Answer::Err(error) => error,
            other => panic!("no error but {other:?}"),
        }
    }
}

impl OkPacket {
    pub fn parse(packet: &[u8], caps: u32) -> OkPacket {
        let mut walk = Walk(&packet[1..]);
        let affected = walk.lenenc().unwrap_or(0);
        let insert_id = walk.lenenc().unwrap_or(0);
        let status = walk.u16();
        let warnings = walk.u16();
        let info = if caps & Caps::SESSION_TRACK != 0 && !walk.0.is_empty() { walk.bytes() } else { walk.0 };
        OkPacket { affected, insert_id, status, warnings, info: text(info) }
    }
}

impl ServerError {
    pub fn parse(packet: &[u8]) -> ServerError {
        let mut walk = Walk(&packet[1..]);
        let code = walk.u16();
        let state = if walk.0.first() == Some(&b'#') { text(&walk.take(6)[1..]) } else { String::new() };
        ServerError { code, state, text: text(walk.0) }
    }
}

impl Column {
    pub fn parse(packet: &[u8]) -> Column {
        let mut walk = Walk(packet);
        walk.bytes();
        let [schema, table, org_table, name, org_name] = [0; 5].map(|_| text(walk.bytes()));
        walk.skip(1);
        let (charset, length, kind, flags, decimals) = (walk.u16(), walk.u32(), walk.u8(), walk.u16(), walk.u8());
        Column { schema, table, org_table, name, org_name, charset, length, kind, flags, decimals }
    }
}

impl Statement {
    pub fn execute_body(&self, params: &[Param]) -> Vec<u8> {
        let mut out = self.id.to_le_bytes().to_vec();
        out.push(0);
        out.extend(1u32.to_le_bytes());
        if params.is_empty() {
            return out;
        }
        let mut nulls = vec![0u8; params.len().div_ceil(8)];
        for (index, _) in params.iter().enumerate().filter(|(_, param)| **param == Param::Null) {
            nulls[index / 8] |= 1 << (index % 8);
        }
        out.extend(nulls);
        out.push(1);
        for param in params {
            out.extend(param.kind().to_le_bytes());
        }
        for param in params {
            param.write(&mut out);
        }
        out
    }
}

impl Param {
    fn kind(&self) -> u16 {
        match self {
            Param::Null => 6,
            Param::Tiny(_) => 1,
            Param::Short(_) => 2,
            Param::Long(_) => 3,
            Param::Int(_) => 8,
            Param::UInt(_) => 8 | 0x8000,
            Param::Float(_) => 4,
            Param::Double(_) => 5,
            Param::Text(_) => 253,
            Param::Decimal(_) => 246,
            Param::Bytes(_) | Param::LongData(_) => 252,
            Param::Date(..) => 10,
            Param::DateTime(..) => 12,
            Param::Time(..) => 11,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Param::Null | Param::LongData(_) => {}
            Param::Tiny(v) => out.extend(v.to_le_bytes()),
            Param::Short(v) => out.extend(v.to_le_bytes()),
            Param::Long(v) => out.extend(v.to_le_bytes()),
            Param::Int(v) => out.extend(v.to_le_bytes()),
            Param::UInt(v) => out.extend(v.to_le_bytes()),
            Param::Float(v) => out.extend(v.to_le_bytes()),
            Param::Double(v) => out.extend(v.to_le_bytes()),
            Param::Text(v) | Param::Decimal(v) => lenenc(out, v.as_bytes()),
            Param::Bytes(v) => lenenc(out, v),
            Param::Date(y, m, d) => {
                out.push(4);
                out.extend(y.to_le_bytes());
                out.extend([*m, *d]);
            }
            Param::DateTime(y, m, d, h, min, s, micro) => {
                out.push(11);
                out.extend(y.to_le_bytes());
                out.extend([*m, *d, *h, *min, *s]);
                out.extend(micro.to_le_bytes());
            }
            Param::Time(negative, days, h, min, s, micro) => {
                out.extend([12, u8::from(*negative)]);
                out.extend(days.to_le_bytes());
                out.extend([*h, *min, *s]);
                out.extend(micro.to_le_bytes());
            }
        }
    }

    /// As a literal, for the text protocol.
    pub fn literal(&self) -> String {
        match self {
            Param::Null => "NULL".to_owned(),
            Param::Tiny(v) => v.to_string(),
            Param::Short(v) => v.to_string(),
            Param::Long(v) => v.to_string(),
            Param::Int(v) => v.to_string(),
            Param::UInt(v) => v.to_string(),
            Param::Float(v) => format!("{v:e}"),
            Param::Double(v) => format!("{v:e}"),
            Param::Decimal(v) => v.clone(),
            Param::Text(v) => format!("'{}'", v.replace('\\', "\\\\").replace('\'', "''")),
            Param::Bytes(v) | Param::LongData(v) => {
                format!("X'{}'", v.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02X}")))
            }
            Param::Date(y, m, d) => format!("DATE'{y:04}-{m:02}-{d:02}'"),
            Param::DateTime(y, m, d, h, min, s, us) => {
                format!("TIMESTAMP'{y:04}-{m:02}-{d:02} {h:02}:{min:02}:{s:02}.{us:06}'")
            }
            Param::Time(negative, days, h, min, s, us) => {
                let sign = if *negative { "-" } else { "" };
                format!("TIME'{sign}{:02}:{min:02}:{s:02}.{us:06}'", days * 24 + u32::from(*h))
            }
        }
    }
}

pub fn text_row(packet: &[u8], columns: usize) -> Vec<Cell> {
    let mut walk = Walk(packet);
    (0..columns)
        .map(|_| {
            if walk.0.first() == Some(&0xFB) {
                walk.skip(1);
                return None;
            }
            Some(walk.bytes().to_vec())
        })
        .collect()
}

/// A binary row's cells as text, so that failures can be read.
pub fn binary_row(packet: &[u8], columns: &[Column]) -> Vec<Cell> {
    let mut walk = Walk(&packet[1..]);
    let nulls = walk.take((columns.len() + 9) / 8).to_vec();
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let bit = index + 2;
            (nulls[bit / 8] & (1 << (bit % 8)) == 0).then(|| binary_cell(&mut walk, column))
        })
        .collect()
}

fn binary_cell(walk: &mut Walk, column: &Column) -> Vec<u8> {
    let unsigned = column.flags & 32 != 0;
    let whole = |signed: i64, raw: u64| if unsigned { raw.to_string() } else { signed.to_string() };
    let shown = match column.kind {
        1 => walk.u8().pipe(|v| whole((v as i8).into(), v.into())),
        2 | 13 => walk.u16().pipe(|v| whole((v as i16).into(), v.into())),
        3 | 9 => walk.u32().pipe(|v| whole((v as i32).into(), v.into())),
        8 => walk.u64().pipe(|v| whole(v as i64, v)),
        4 => f32::from_bits(walk.u32()).to_string(),
        5 => f64::from_bits(walk.u64()).to_string(),
        7 | 10 | 11 | 12 => {
            let length = walk.u8().into();
            return walk.take(length).iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes();
        }
        6 => String::new(),
        _ => return walk.bytes().to_vec(),
    };
    shown.into_bytes()
}

trait Pipe: Sized {
    fn pipe<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}
impl<T> Pipe for T {}

/// Reads little-endian fields; a packet that is too short ends in zeros, which the comparison shows.
pub struct Walk<'a>(pub &'a [u8]);

impl<'a> Walk<'a> {
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
    pub fn skip(&mut self, length: usize) {
        self.take(length);
    }
    fn number(&mut self, length: usize) -> u64 {
        self.take(length).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
    pub fn u8(&mut self) -> u8 {
        self.number(1) as u8
    }
    pub fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }
    pub fn u32(&mut self) -> u32 {
        self.number(4) as u32
    }
    pub fn u64(&mut self) -> u64 {
        self.number(8)
    }
    pub fn lenenc(&mut self) -> Option<u64> {
        match self.take(1).first()? {
            0xFC => Some(self.number(2)),
            0xFD => Some(self.number(3)),
            0xFE => Some(self.number(8)),
            0xFB | 0xFF => None,
            small => Some((*small).into()),
        }
    }
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = self.lenenc().unwrap_or(0) as usize;
        self.take(length)
    }
    pub fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let taken = self.take(end);
        self.skip(1);
        taken
    }
}

/// A string with its length before it.
pub fn lenenc(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        length @ 0..=250 => out.push(length as u8),
        length @ 251..=0xFFFF => {
            out.push(0xFC);
            out.extend((length as u16).to_le_bytes());
        }
        length @ 0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend(&(length as u32).to_le_bytes()[..3]);
        }
        length => {
            out.push(0xFE);
            out.extend((length as u64).to_le_bytes());
        }
    }
    out.extend(bytes);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, self.state, self.text)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Ok(ok) => write!(f, "{ok:?}"),
            Answer::Err(error) => write!(f, "{error:?}"),
            Answer::Lost(why) => write!(f, "connection lost: {why}"),
            Answer::Rows(set) => write!(f, "{set:?}"),
        }
    }
}

impl fmt::Debug for ResultSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} rows, status {:#06x}, {} warnings", self.rows.len(), self.status, self.warnings)?;
        for column in &self.columns {
            writeln!(f, "  {column:?}")?;
        }
        for row in self.rows.iter().take(40) {
            let mut line = String::from(" ");
            for cell in row {
                match cell {
                    None => line.push_str(" NULL"),
                    Some(bytes) => write!(line, " {:?}", String::from_utf8_lossy(bytes))?,
                }
            }
            writeln!(f, "{line}")?;
        }
        if self.rows.len() > 40 {
            writeln!(f, "  …")?;
        }
        Ok(())
    }
}
