//! Packet framing: 3 bytes of length, 1 of sequence, then the payload; a payload of 16 MiB − 1
//! bytes or more goes in several packets, the last one shorter.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>

use std::borrow::Cow;

/// Length and sequence number in front of each packet.
pub const HEADER: usize = 4;
/// A packet of this length is continued by the next one.
pub const MAX_PACKET: usize = 0xFF_FFFF;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub len: usize,
    pub sequence: u8,
}

impl Header {
    /// The header at the front, once four bytes are there.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, sequence] = *bytes.first_chunk::<HEADER>()?;
        Some(Header { len: u32::from_le_bytes([a, b, c, 0]) as usize, sequence })
    }

    /// More packets of the same payload follow.
    pub fn is_continued(self) -> bool {
        self.len == MAX_PACKET
    }
}

/// Appends `payload` as packets and gives the sequence number of the next packet.
pub fn frame(out: &mut Vec<u8>, mut sequence: u8, payload: &[u8]) -> u8 {
    let mut rest = payload;
    loop {
        let len = rest.len().min(MAX_PACKET);
        let (part, left) = rest.split_at(len);
        put_header(out, len, sequence);
        out.extend_from_slice(part);
        sequence = sequence.wrapping_add(1);
        rest = left;
        if len < MAX_PACKET {
            return sequence;
        }
    }
}

/// Appends one packet that `write` makes in place, without a copy where it fits one packet.
pub fn frame_with(out: &mut Vec<u8>, sequence: u8, write: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let at = out.len();
    put_header(out, 0, sequence);
    write(out);
    let len = out.len() - at - HEADER;
    if len < MAX_PACKET {
        out[at..at + 3].copy_from_slice(&len.to_le_bytes()[..3]);
        return sequence.wrapping_add(1);
    }
    let payload = out.split_off(at + HEADER);
    out.truncate(at);
    frame(out, sequence, &payload)
}

/// The payload of whole packets that continue one another, without their headers.
pub fn payload_of(packets: &[u8]) -> Cow<'_, [u8]> {
    match Header::parse(packets) {
        Some(header) if HEADER + header.len == packets.len() => Cow::Borrowed(&packets[HEADER..]),
        _ => {
            let step = HEADER + MAX_PACKET;
            packets.chunks(step).flat_map(|packet| packet.get(HEADER..).unwrap_or_default()).copied().collect()
        }
    }
}

fn put_header(out: &mut Vec<u8>, len: usize, sequence: u8) {
    out.extend_from_slice(&len.to_le_bytes()[..3]);
    out.push(sequence);
}

/// Copies packets while moving their sequence numbers by a constant: a command that went to the
/// server in another number of packets than it came in has its reply counted from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Renumber {
    delta: u8,
    in_payload: usize,
    header: [u8; HEADER],
    header_len: usize,
}

impl Renumber {
    pub fn new(from: u8, to: u8) -> Self {
        Renumber { delta: to.wrapping_sub(from), in_payload: 0, header: [0; HEADER], header_len: 0 }
    }

    /// Appends `bytes`, which may begin and end anywhere in a packet.
    pub fn copy(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            if self.in_payload > 0 {
                let (part, rest) = bytes.split_at(self.in_payload.min(bytes.len()));
                out.extend_from_slice(part);
                self.in_payload -= part.len();
                bytes = rest;
                continue;
            }
            self.header[self.header_len] = bytes[0];
            self.header_len += 1;
            bytes = &bytes[1..];
            if self.header_len == HEADER {
                self.header_len = 0;
                self.header[3] = self.header[3].wrapping_add(self.delta);
                out.extend_from_slice(&self.header);
                self.in_payload = Header::parse(&self.header).map_or(0, |header| header.len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_the_largest_packet_is_followed_by_an_empty_one() {
        let mut out = Vec::new();
        assert_eq!(frame(&mut out, 255, &vec![7; MAX_PACKET]), 1);
        assert_eq!(Header::parse(&out), Some(Header { len: MAX_PACKET, sequence: 255 }));
        assert_eq!(out[HEADER + MAX_PACKET..], [0, 0, 0, 0]);
    }

    #[test]
    fn a_packet_made_in_place_is_the_one_made_by_copy() {
        for len in [0, 1, 70_000, MAX_PACKET - 1, MAX_PACKET, MAX_PACKET + 5] {
            let payload = vec![9; len];
            let (mut copied, mut placed) = (vec![1], vec![1]);
            let next = frame(&mut copied, 3, &payload);
            assert_eq!(frame_with(&mut placed, 3, |out| out.extend_from_slice(&payload)), next);
            assert!(copied == placed, "{len}");
        }
    }

    #[test]
    fn renumbering_does_not_mind_where_the_bytes_are_cut() {
        let mut before = Vec::new();
        let mut after = Vec::new();
        for (n, payload) in [&b"one"[..], b"", b"three3"].into_iter().enumerate() {
            frame(&mut before, n as u8 + 1, payload);
            frame(&mut after, n as u8 + 4, payload);
        }
        for cut in 0..=before.len() {
            let mut out = Vec::new();
            let mut renumber = Renumber::new(1, 4);
            renumber.copy(&before[..cut], &mut out);
            renumber.copy(&before[cut..], &mut out);
            assert_eq!(out, after, "cut at {cut}");
        }
    }
}
