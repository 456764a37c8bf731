//! The integers and strings that packets are made of: a `Reader` that never goes past the end,
//! and `put_*` functions that append to a buffer. What the bytes mean is left to each message.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_data_types.html>

use crate::error::{Error, Result, code};

/// The byte that stands for NULL where a length-encoded string of a text row would begin.
pub const NULL: u8 = 0xFB;

/// Reads a payload from the front. Each method is an error 1835 when the bytes don't suffice.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(payload: &'a [u8]) -> Self {
        Reader { rest: payload }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (front, rest) = self.rest.split_at_checked(count).ok_or_else(malformed)?;
        self.rest = rest;
        Ok(front)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (front, rest) = self.rest.split_first_chunk::<N>().ok_or_else(malformed)?;
        self.rest = rest;
        Ok(*front)
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length-encoded integer. 0xFB (NULL in text rows) and 0xFF (an error) are none.
    pub fn lenenc(&mut self) -> Result<u64> {
        match self.u8()? {
            short @ 0..=0xFA => Ok(u64::from(short)),
            0xFC => Ok(u64::from(self.u16()?)),
            0xFD => {
                let [a, b, c] = self.array()?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => self.u64(),
            NULL | 0xFF => Err(malformed()),
        }
    }

    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.lenenc()?;
        self.take(usize::try_from(len).map_err(|_| malformed())?)
    }

    /// A value of a text row: NULL, or a length-encoded string.
    pub fn text_value(&mut self) -> Result<Option<&'a [u8]>> {
        if self.rest.first() == Some(&NULL) {
            self.rest = &self.rest[1..];
            return Ok(None);
        }
        self.lenenc_bytes().map(Some)
    }

    /// A string that ends with a zero byte; the zero is taken and not given.
    pub fn null_terminated(&mut self) -> Result<&'a [u8]> {
        let end = memchr::memchr(0, self.rest).ok_or_else(malformed)?;
        let text = self.take(end)?;
        self.take(1)?;
        Ok(text)
    }

    /// A string that ends with a zero byte or, as some peers send it, with the packet.
    pub fn null_terminated_or_rest(&mut self) -> &'a [u8] {
        match self.null_terminated() {
            Ok(text) => text,
            Err(_) => self.rest(),
        }
    }
}

pub fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xFA => out.push(value.to_le_bytes()[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&value.to_le_bytes()[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&value.to_le_bytes()[..3]);
        }
        0x100_0000.. => {
            out.push(0xFE);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub fn put_null_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.push(0);
}

/// Bytes that are no message of the protocol: error 1835.
pub(crate) fn malformed() -> Error {
    Error::client(code::MALFORMED, "Malformed communication packet.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_come_back_and_take_the_shortest_form() {
        let edges = [0, 1, 250, 251, 252, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX];
        for (value, width) in edges.into_iter().zip([1, 1, 1, 3, 3, 3, 4, 4, 9, 9]) {
            let mut out = Vec::new();
            put_lenenc(&mut out, value);
            assert_eq!(out.len(), width, "{value}");
            let mut reader = Reader::new(&out);
            assert_eq!(reader.lenenc().expect("whole"), value);
            assert!(reader.is_empty());
            for cut in 0..out.len() {
                assert!(Reader::new(&out[..cut]).lenenc().is_err());
            }
        }
    }

    #[test]
    fn a_length_beyond_the_packet_is_refused() {
        for hostile in [&b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFx"[..], b"\x05abcd", b"\xFB", b"\xFF"] {
            assert!(Reader::new(hostile).lenenc_bytes().is_err());
        }
        assert_eq!(Reader::new(b"\xFB").text_value().expect("NULL"), None);
    }

    #[test]
    fn strings_end_with_a_zero() {
        let mut reader = Reader::new(b"root\0rest");
        assert_eq!(reader.null_terminated().expect("zero"), b"root");
        assert!(reader.null_terminated().is_err());
        assert_eq!(reader.null_terminated_or_rest(), b"rest");
    }
}
