//! COM_STMT_EXECUTE: the bound parameters as values, and the same packet for another statement
//! id. Types are sent once and remembered; long data came before, by COM_STMT_SEND_LONG_DATA.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_send_long_data.html>

use crate::error::{Error, Result, code};
use crate::protocol::Command;
use crate::protocol::binary::{self, ValueType};
use crate::protocol::column::ColumnType;
use crate::protocol::payload::{Reader, malformed};
use crate::value::Value;

/// A statement's parameters as far as they outlive one execution.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// As the last execution that sent them gave them; empty before the first.
    pub types: Vec<ValueType>,
    /// What COM_STMT_SEND_LONG_DATA brought for a parameter. To be cleared after each execution
    /// and by COM_STMT_RESET.
    pub long: Vec<(u16, Vec<u8>)>,
}

impl Bindings {
    fn long(&self, param: usize) -> Option<&[u8]> {
        self.long.iter().find(|(number, _)| usize::from(*number) == param).map(|(_, bytes)| bytes.as_slice())
    }

    /// Puts a piece of long data behind what the parameter has.
    pub fn append_long(&mut self, data: LongData<'_>) {
        match self.long.iter_mut().find(|(number, _)| *number == data.param) {
            Some((_, bytes)) => bytes.extend_from_slice(data.bytes),
            None => self.long.push((data.param, data.bytes.to_vec())),
        }
    }

    pub fn long_bytes(&self) -> usize {
        self.long.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// COM_STMT_SEND_LONG_DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongData<'a> {
    pub statement: u32,
    pub param: u16,
    pub bytes: &'a [u8],
}

impl<'a> LongData<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = command(payload, Command::StmtSendLongData)?;
        Ok(LongData { statement: reader.u32()?, param: reader.u16()?, bytes: reader.rest() })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(Command::StmtSendLongData.byte());
        out.extend_from_slice(&self.statement.to_le_bytes());
        out.extend_from_slice(&self.param.to_le_bytes());
        out.extend_from_slice(self.bytes);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    pub statement: u32,
    /// 0: all rows at once; 1: a read-only cursor; others as the manual has them.
    pub cursor: u8,
    nulls: &'a [u8],
    values: &'a [u8],
}

impl<'a> Execute<'a> {
    /// The statement's id, to find out how many parameters it has.
    pub fn statement(payload: &[u8]) -> Result<u32> {
        command(payload, Command::StmtExecute)?.u32()
    }

    /// `params`: how many the statement has. Types that the packet brings are noted in
    /// `bindings`; one that brings none, where none were brought before, is refused.
    pub fn parse(payload: &'a [u8], params: u16, bindings: &mut Bindings) -> Result<Self> {
        let mut reader = command(payload, Command::StmtExecute)?;
        let statement = reader.u32()?;
        let cursor = reader.u8()?;
        // The protocol knows an iteration count and no other value than 1 for it.
        if reader.u32()? != 1 {
            return Err(malformed());
        }
        let params = usize::from(params);
        if params == 0 {
            return Ok(Execute { statement, cursor, nulls: &[], values: &[] });
        }
        let nulls = reader.take(params.div_ceil(8))?;
        if reader.u8()? == 1 {
            let types = reader.take(2 * params)?;
            bindings.types.clear();
            for pair in types.chunks_exact(2) {
                let kind = ColumnType::from_byte(pair[0]).ok_or_else(wrong_arguments)?;
                bindings.types.push(ValueType { kind, unsigned: pair[1] & 0x80 != 0 });
            }
        } else if bindings.types.len() != params {
            return Err(wrong_arguments());
        }
        Ok(Execute { statement, cursor, nulls, values: reader.rest() })
    }

    /// Appends the parameters' values to `out`; character strings are in `charset`.
    pub fn values<'v>(&self, bindings: &'v Bindings, charset: &'v str, out: &mut Vec<Value<'v>>) -> Result<()>
    where
        'a: 'v,
    {
        let mut reader = Reader::new(self.values);
        for (param, &kind) in bindings.types.iter().enumerate() {
            let value = if let Some(bytes) = bindings.long(param) {
                binary::string(kind.kind, bytes, charset)
            } else if self.is_null(param) {
                Value::Null
            } else {
                binary::read(&mut reader, kind, charset)?
            };
            out.push(value);
        }
        match reader.is_empty() || bindings.types.is_empty() {
            true => Ok(()),
            false => Err(malformed()),
        }
    }

    /// The same execution of `statement`, with all types; long data must have been sent to it.
    pub fn write(&self, statement: u32, bindings: &Bindings, out: &mut Vec<u8>) {
        out.push(Command::StmtExecute.byte());
        out.extend_from_slice(&statement.to_le_bytes());
        out.push(self.cursor);
        out.extend_from_slice(&1u32.to_le_bytes());
        if self.nulls.is_empty() {
            return;
        }
        out.extend_from_slice(self.nulls);
        out.push(1);
        for kind in &bindings.types {
            out.extend_from_slice(&[kind.kind.byte(), if kind.unsigned { 0x80 } else { 0 }]);
        }
        out.extend_from_slice(self.values);
    }

    fn is_null(&self, param: usize) -> bool {
        self.nulls[param / 8] & (1 << (param % 8)) != 0
    }
}

/// Writes an execution with values of the proxy's own: ids that it fills in, for instance.
pub fn write_values(statement: u32, cursor: u8, values: &[Value<'_>], out: &mut Vec<u8>) {
    out.push(Command::StmtExecute.byte());
    out.extend_from_slice(&statement.to_le_bytes());
    out.push(cursor);
    out.extend_from_slice(&1u32.to_le_bytes());
    if values.is_empty() {
        return;
    }
    let nulls = out.len();
    out.resize(nulls + values.len().div_ceil(8), 0);
    for (param, value) in values.iter().enumerate() {
        if *value == Value::Null {
            out[nulls + param / 8] |= 1 << (param % 8);
        }
    }
    out.push(1);
    for value in values {
        let kind = binary::type_of(value);
        out.extend_from_slice(&[kind.kind.byte(), if kind.unsigned { 0x80 } else { 0 }]);
    }
    for value in values {
        binary::put(out, value);
    }
}

fn command(payload: &[u8], command: Command) -> Result<Reader<'_>> {
    let mut reader = Reader::new(payload);
    match reader.u8()? == command.byte() {
        true => Ok(reader),
        false => Err(malformed()),
    }
}

fn wrong_arguments() -> Error {
    Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_execute")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<Value<'static>> {
        vec![
            Value::Int(-7),
            Value::Null,
            Value::UInt(u64::MAX),
            Value::Text { bytes: b"text", charset: "utf8mb4" },
            Value::Binary(b"\0\xFF"),
            Value::Decimal("12.50"),
            Value::Double(0.1),
            Value::Float(0.5),
            Value::Date { year: 2024, month: 2, day: 29 },
            Value::Time { negative: true, hours: 838, minute: 59, second: 59, micro: 1 },
        ]
    }

    fn packet() -> Vec<u8> {
        let mut packet = Vec::new();
        write_values(9, 0, &values(), &mut packet);
        packet
    }

    fn read<'v>(execute: &Execute<'v>, bindings: &'v Bindings) -> Result<Vec<Value<'v>>> {
        let mut out = Vec::new();
        execute.values(bindings, "utf8mb4", &mut out)?;
        Ok(out)
    }

    #[test]
    fn values_come_back_and_types_are_remembered() {
        let packet = packet();
        let mut bindings = Bindings::default();
        let execute = Execute::parse(&packet, 10, &mut bindings).expect("an execution");
        assert_eq!((execute.statement, execute.cursor), (9, 0));
        assert_eq!(read(&execute, &bindings).expect("values"), values());

        // The same without the types: new_params_bound is 0 and the types are left out.
        let bound = 1 + 4 + 1 + 4 + 2;
        let mut untyped = packet.clone();
        untyped.splice(bound..bound + 1 + 20, [0]);
        let again = Execute::parse(&untyped, 10, &mut bindings).expect("types of the first");
        assert_eq!(read(&again, &bindings).expect("values"), values());
        assert_eq!(Execute::parse(&untyped, 10, &mut Bindings::default()).expect_err("no types").code(), 1210);

        let mut for_another = Vec::new();
        again.write(77, &bindings, &mut for_another);
        let mut expected = packet.clone();
        expected[1..5].copy_from_slice(&77u32.to_le_bytes());
        assert_eq!(for_another, expected);
    }

    #[test]
    fn long_data_stands_in_for_the_value_even_where_it_is_null() {
        let mut packet = Vec::new();
        let sent = [Value::Null, Value::Int(1), Value::Null];
        write_values(1, 0, &sent, &mut packet);
        let mut bindings = Bindings::default();
        let mut data = Vec::new();
        LongData { statement: 1, param: 2, bytes: b"ab" }.write(&mut data);
        bindings.append_long(LongData::parse(&data).expect("long data"));
        bindings.append_long(LongData { statement: 1, param: 2, bytes: b"cd" });
        assert_eq!(bindings.long_bytes(), 4);
        let execute = Execute::parse(&packet, 3, &mut bindings).expect("an execution");
        bindings.types[2].kind = ColumnType::Blob;
        let read_values = read(&execute, &bindings).expect("values");
        assert_eq!(read_values, [Value::Null, Value::Int(1), Value::Binary(b"abcd")]);
        bindings.long.clear();
        assert_eq!(read(&execute, &bindings).expect("values"), sent);
    }

    #[test]
    fn a_packet_cut_short_or_too_long_is_refused() {
        let packet = packet();
        for cut in 0..packet.len() {
            let mut bindings = Bindings::default();
            let parsed = Execute::parse(&packet[..cut], 10, &mut bindings);
            assert!(parsed.and_then(|execute| read(&execute, &bindings).map(|_| ())).is_err(), "{cut}");
        }
        let mut long = packet.clone();
        long.push(0);
        let mut bindings = Bindings::default();
        let execute = Execute::parse(&long, 10, &mut bindings).expect("an execution");
        assert!(read(&execute, &bindings).is_err());
        let mut twice = packet;
        twice[6] = 2;
        assert!(Execute::parse(&twice, 10, &mut Bindings::default()).is_err(), "two iterations");
        assert!(Execute::parse(b"\x17\x01\0\0\0\0\x01\0\0\0", 0, &mut Bindings::default()).is_ok());
    }
}
