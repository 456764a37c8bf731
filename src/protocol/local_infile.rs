//! LOAD DATA LOCAL: the server asks for a file's content; the client sends it in packets, the
//! last one empty.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_local_infile_request.html>

use crate::error::Result;
use crate::protocol::payload::malformed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalInfileRequest<'a> {
    pub file: &'a [u8],
}

impl<'a> LocalInfileRequest<'a> {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0xFB);
        out.extend_from_slice(self.file);
    }

    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        match payload.split_first() {
            Some((0xFB, file)) => Ok(LocalInfileRequest { file }),
            Some(_) | None => Err(malformed()),
        }
    }
}
