//! A TCP stream, plain or under TLS, of either side.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0,
        }
    }

    /// One read. Nothing is lost when the future is dropped.
    pub(crate) async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.read(room).await,
            Stream::Tls(tls) => tls.read(room).await,
        }
    }

    /// One write of as much as goes, from the front.
    pub(crate) async fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = match (self, parts) {
            // send(2) has less to look at than writev(2).
            (Stream::Plain(tcp), [part]) => tcp.write(part).await?,
            (Stream::Plain(tcp), parts) => tcp.write_vectored(parts).await?,
            (Stream::Tls(tls), parts) => tls.write_vectored(parts).await?,
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
        }
    }

    /// The peer has neither sent anything nor closed, as far as is known without waiting. No
    /// system call is made unless the kernel reported something.
    pub(crate) fn is_quiet(&mut self) -> bool {
        match self {
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
        };
    }
}
