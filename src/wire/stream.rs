//! A TCP stream, plain or under TLS, compressed or not, of either side.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use super::compressed::Compressed;

#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// Over one of the others.
    Compressed(Box<Compressed>),
}

impl Stream {
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0,
            Stream::Compressed(compressed) => compressed.inner().tcp(),
        }
    }

    /// One read. Nothing is lost when the future is dropped.
    pub(crate) async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.read(room).await,
            Stream::Tls(tls) => tls.read(room).await,
            // Boxed: these futures hold one of the other kinds, and are rare.
            Stream::Compressed(compressed) => Box::pin(compressed.read(room)).await,
        }
    }

    /// One write of as much as goes, from the front.
    pub(crate) async fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = match (self, parts) {
            // send(2) has less to look at than writev(2).
            (Stream::Plain(tcp), [part]) => tcp.write(part).await?,
            (Stream::Plain(tcp), parts) => tcp.write_vectored(parts).await?,
            (Stream::Tls(tls), parts) => tls.write_vectored(parts).await?,
            (Stream::Compressed(compressed), parts) => Box::pin(compressed.write(parts)).await?,
        };
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(written)
    }

    /// Pushes out what TLS may still hold.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            Stream::Tls(tls) => tls.flush().await,
            Stream::Compressed(compressed) => Box::pin(compressed.flush()).await,
        }
    }

    /// The peer has neither sent anything nor closed, as far as is known without waiting. No
    /// system call is made unless the kernel reported something.
    pub(crate) fn is_quiet(&mut self) -> bool {
        match self {
            Stream::Compressed(compressed) => compressed.is_quiet(),
            Stream::Plain(tcp) => {
                matches!(tcp.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            // TLS has messages of its own (session tickets), so TLS itself must look.
            Stream::Tls(tls) => {
                let mut byte = [0];
                let mut room = ReadBuf::new(&mut byte);
                let mut nobody = Context::from_waker(Waker::noop());
                Pin::new(tls.as_mut()).poll_read(&mut nobody, &mut room).is_pending()
            }
        }
    }

    /// Says goodbye as the protocol in use wants it; errors don't matter any more.
    pub(crate) async fn shutdown(&mut self) {
        let _ = match self {
            Stream::Plain(tcp) => tcp.shutdown().await,
            Stream::Tls(tls) => tls.shutdown().await,
            Stream::Compressed(compressed) => {
                Box::pin(compressed.shutdown()).await;
                Ok(())
            }
        };
    }
}
