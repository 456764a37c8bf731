//! The compressed protocol (zlib): what would go over the socket goes in packets of its own, each
//! with its compressed length, a number, and its length before, which is 0 where it was too short
//! to be worth it. Numbers begin with each command and go on in the answer.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_compression_packet.html>

use std::io::{self, IoSlice, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::stream::Stream;

const HEADER: usize = 7;
/// Servers leave shorter ones as they are (MIN_COMPRESS_LENGTH).
const WORTH_IT: usize = 50;
/// What one packet of ours holds at most, before it is compressed.
const MOST: usize = 256 * 1024;
/// What one read of the socket asks for.
const READ: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Compressed {
    inner: Stream,
    sequence: u8,
    /// What the socket is read into.
    piece: Box<[u8]>,
    /// Read and not yet opened.
    packets: Vec<u8>,
    /// Opened and not yet given out, from `given` on.
    plain: Vec<u8>,
    given: usize,
    /// To be written.
    out: Vec<u8>,
}

impl Compressed {
    pub fn over(inner: Stream) -> Self {
        let piece = vec![0; READ].into_boxed_slice();
        Compressed { inner, sequence: 0, piece, packets: Vec::new(), plain: Vec::new(), given: 0, out: Vec::new() }
    }

    pub fn inner(&self) -> &Stream {
        &self.inner
    }

    /// Numbers begin again.
    pub fn begin_command(&mut self) {
        self.sequence = 0;
    }

    pub fn is_quiet(&mut self) -> bool {
        self.given == self.plain.len() && self.packets.is_empty() && self.inner.is_quiet()
    }

    /// Nothing is lost when the future is dropped: what was read stays here.
    pub async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.given == self.plain.len() {
            self.plain.clear();
            self.given = 0;
            if self.open()? {
                continue;
            }
            let count = self.inner.read(&mut self.piece).await?;
            if count == 0 {
                return if self.packets.is_empty() { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            self.packets.extend_from_slice(&self.piece[..count]);
        }
        let count = room.len().min(self.plain.len() - self.given);
        room[..count].copy_from_slice(&self.plain[self.given..self.given + count]);
        self.given += count;
        if self.given == self.plain.len() && self.plain.capacity() > MOST {
            (self.plain, self.given) = (Vec::new(), 0);
        }
        Ok(count)
    }

    /// Opens the first packet, if all of it is here.
    fn open(&mut self) -> io::Result<bool> {
        let Some(header) = self.packets.first_chunk::<HEADER>() else { return Ok(false) };
        let [a, b, c, sequence, d, e, f] = *header;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let before = u32::from_le_bytes([d, e, f, 0]) as usize;
        let Some(payload) = self.packets.get(HEADER..HEADER + length) else { return Ok(false) };
        if sequence != self.sequence {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a compressed packet out of order"));
        }
        match before {
            0 => self.plain.extend_from_slice(payload),
            before => {
                // No more than it says, whatever it holds.
                let read = ZlibDecoder::new(payload).take(before as u64 + 1).read_to_end(&mut self.plain)?;
                if read != before {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a compressed packet of another length"));
                }
            }
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.packets.drain(..HEADER + length);
        if self.packets.is_empty() && self.packets.capacity() > MOST {
            self.packets = Vec::new();
        }
        Ok(true)
    }

    /// One packet of as much as goes into it, from the front; it is written whole.
    pub async fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(part) = parts.iter().find(|part| !part.is_empty()) else { return Ok(0) };
        let plain = &part[..part.len().min(MOST)];
        self.out.clear();
        self.pack(plain)?;
        let mut done = 0;
        while done < self.out.len() {
            done += self.inner.write(&[IoSlice::new(&self.out[done..])]).await?;
        }
        Ok(plain.len())
    }

    fn pack(&mut self, plain: &[u8]) -> io::Result<()> {
        self.out.extend_from_slice(&[0; HEADER]);
        let mut before = 0;
        if plain.len() >= WORTH_IT {
            let mut encoder = ZlibEncoder::new(&mut self.out, Compression::fast());
            encoder.write_all(plain)?;
            encoder.finish()?;
            before = plain.len();
        }
        if before == 0 || self.out.len() - HEADER >= plain.len() {
            self.out.truncate(HEADER);
            self.out.extend_from_slice(plain);
            before = 0;
        }
        let length = self.out.len() - HEADER;
        self.out[..3].copy_from_slice(&length.to_le_bytes()[..3]);
        self.out[3] = self.sequence;
        self.out[4..HEADER].copy_from_slice(&before.to_le_bytes()[..3]);
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    pub async fn flush(&mut self) -> io::Result<()> {
        self.inner.flush().await
    }

    pub async fn shutdown(&mut self) {
        self.inner.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::{TcpListener, TcpStream};

    async fn pair() -> (Compressed, Compressed) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (one, other) = tokio::join!(TcpStream::connect(address), listener.accept());
        let over = |tcp| Compressed::over(Stream::Plain(tcp));
        (over(one.expect("connected")), over(other.expect("accepted").0))
    }

    #[tokio::test]
    async fn what_goes_in_comes_out() {
        let (mut one, mut other) = pair().await;
        for length in [1, WORTH_IT - 1, WORTH_IT, 10_000, MOST + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| (at * at % 251) as u8).collect();
            one.begin_command();
            other.begin_command();
            let write = async {
                let mut done = 0;
                while done < bytes.len() {
                    done += one.write(&[IoSlice::new(&bytes[done..])]).await.expect("written");
                }
            };
            let read = async {
                let (mut got, mut room) = (Vec::new(), [0; 4096]);
                while got.len() < length {
                    let count = other.read(&mut room).await.expect("read");
                    got.extend_from_slice(&room[..count]);
                }
                got
            };
            let ((), got) = tokio::join!(write, read);
            assert!(got == bytes, "{length} bytes");
        }
    }

    #[tokio::test]
    async fn hostile_packets_are_errors() {
        let stuffed = {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&[0; 100_000]).expect("written");
            encoder.finish().expect("finished")
        };
        let framed = |sequence: u8, before: u32, payload: &[u8]| {
            let mut packet = payload.len().to_le_bytes()[..3].to_vec();
            packet.push(sequence);
            packet.extend_from_slice(&before.to_le_bytes()[..3]);
            packet.extend_from_slice(payload);
            packet
        };
        for packet in
            [framed(0, 10, &stuffed), framed(0, 200_000, &stuffed), framed(0, 60, b"no zlib"), framed(1, 0, b"x")]
        {
            let (mut one, mut other) = pair().await;
            one.inner.write(&[IoSlice::new(&packet)]).await.expect("written");
            other.read(&mut [0; 16]).await.expect_err("refused");
        }
        let (mut one, mut other) = pair().await;
        one.inner.write(&[IoSlice::new(&framed(0, 0, b"abc")[..6])]).await.expect("written");
        one.shutdown().await;
        other.read(&mut [0; 16]).await.expect_err("cut short");
    }
}
