//! The head of the reply to COM_STMT_PREPARE; definitions of parameters and columns follow it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>

use crate::error::Result;
use crate::protocol::payload::{Reader, malformed};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub id: u32,
    pub columns: u16,
    pub params: u16,
    pub warnings: u16,
}

impl Prepared {
    pub fn parse(payload: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0 {
            return Err(malformed());
        }
        let (id, columns, params) = (reader.u32()?, reader.u16()?, reader.u16()?);
        let filler = reader.take(1);
        let warnings = filler.and_then(|_| reader.u16()).unwrap_or(0);
        Ok(Prepared { id, columns, params, warnings })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0);
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.columns.to_le_bytes());
        out.extend_from_slice(&self.params.to_le_bytes());
        out.push(0);
        out.extend_from_slice(&self.warnings.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::reply;

    #[test]
    fn real_heads_are_read_and_written_back() {
        for name in ["maria eof prepare", "mysql ok prepare"] {
            let payload = &reply(name).payloads()[0];
            let prepared = Prepared::parse(payload).expect(name);
            assert_eq!((prepared.columns, prepared.params, prepared.warnings), (3, 1, 0));
            let mut out = Vec::new();
            prepared.write(&mut out);
            assert_eq!(out, *payload);
            for cut in 0..9 {
                assert!(Prepared::parse(&payload[..cut]).is_err());
            }
        }
    }
}
