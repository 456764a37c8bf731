//! The reply that the client gets: definitions, the rows that LIMIT lets through, the end.

use super::said::Said;
use super::{COLLECT, Sink};
use crate::error::Result;
use crate::protocol::eof::EofPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::payload::put_lenenc;
use crate::protocol::{Capabilities, Status};
use crate::route::Window;
use crate::wire::Framed;

pub(super) struct ToClient<'w> {
    pub wire: &'w mut Framed,
    capabilities: Capabilities,
    flags: Status,
    skip: u64,
    take: u64,
    pub rows: u64,
    begun: bool,
}

impl<'w> ToClient<'w> {
    pub fn new(wire: &'w mut Framed, capabilities: Capabilities, flags: Status, window: Option<Window>) -> Self {
        let Window { offset, count } = window.unwrap_or(Window { offset: 0, count: u64::MAX });
        ToClient { wire, capabilities, flags, skip: offset, take: count, rows: 0, begun: false }
    }

    fn begin(&mut self, said: &Said) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.wire.queue_with(|out| put_lenenc(out, said.columns.len() as u64));
        for definition in &said.columns {
            self.wire.queue_packet(definition);
        }
        if !self.capabilities.has(Capabilities::DEPRECATE_EOF) {
            let end = EofPacket { warnings: 0, status: self.status(said) };
            self.wire.queue_with(|out| end.write(out));
        }
    }

    fn status(&self, said: &Said) -> Status {
        said.status | self.flags
    }

    pub async fn finish(&mut self, said: &Said, warnings: usize) -> Result<()> {
        self.begin(said);
        let warnings = u16::try_from(warnings).unwrap_or(u16::MAX);
        let (status, capabilities) = (self.status(said), self.capabilities);
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            let end = OkPacket { status, warnings, ..OkPacket::default() };
            self.wire.queue_with(|out| end.write_end(capabilities, out));
        } else {
            self.wire.queue_with(|out| EofPacket { warnings, status }.write(out));
        }
        self.wire.flush().await
    }
}

impl Sink for ToClient<'_> {
    fn wire(&self) -> &Framed {
        self.wire
    }

    fn row(&mut self, said: &Said, _part: usize, row: &[u8]) -> Result<bool> {
        self.begin(said);
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.take > 0 {
            self.take -= 1;
            self.rows += 1;
            self.wire.queue_packet(row);
        }
        Ok(self.take > 0)
    }

    async fn make_way(&mut self) -> Result<()> {
        if self.wire.queued() >= COLLECT { self.wire.flush().await } else { Ok(()) }
    }
}
