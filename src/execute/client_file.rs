//! The content of a file that a client was asked for: packets, the last one empty. MySQL's servers
//! read all of it even where they have nothing more to do with it, and so does Bifold.

use std::time::Duration;

use tokio::time::timeout;

use crate::error::{Blame, Error, Result};
use crate::protocol::local_infile::LocalInfileRequest;
use crate::wire::{Framed, Packet};

/// A client that sends nothing for so long has gone; the statement may hold locks.
const PATIENCE: Duration = Duration::from_secs(60);

const READ_INTERRUPTED: (u16, &[u8; 5]) = (1159, b"08S01");

/// The next packet.
pub(super) async fn packet(client: &mut Framed) -> Result<Packet> {
    match timeout(PATIENCE, client.expect_packet()).await {
        Ok(packet) => packet,
        Err(_) => {
            let text = "Got timeout reading communication packets";
            Err(Error::new(Blame::Client, READ_INTERRUPTED, text).ending_session())
        }
    }
}

/// A file being read.
pub(super) struct ClientFile {
    over: bool,
}

impl ClientFile {
    /// Asks the client for the file that the statement names.
    pub async fn ask(client: &mut Framed, file: &[u8]) -> Result<Self> {
        client.queue_with(|out| LocalInfileRequest { file }.write(out));
        client.flush().await?;
        Ok(ClientFile { over: false })
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Reads one packet behind what is there.
    pub async fn read(&mut self, client: &mut Framed, into: &mut Vec<u8>) -> Result<()> {
        let packet = packet(client).await?;
        self.over = packet.is_empty();
        into.extend_from_slice(&packet);
        Ok(())
    }

    /// Reads what is left, for nobody.
    pub async fn drain(&mut self, client: &mut Framed) -> Result<()> {
        while !self.over {
            self.over = packet(client).await?.is_empty();
        }
        Ok(())
    }
}
