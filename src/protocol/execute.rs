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
