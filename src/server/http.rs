//! The port for machines that look after the proxy: `/metrics`, `/healthz`, `/readyz`. Only GET and
//! HEAD, one request a connection, few at a time, nobody waited for long.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::execute::Current;

/// Requests at a time.
const AT_ONCE: usize = 8;
/// A request is read and answered within.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest head of a request.
const HEAD: usize = 8 * 1024;

/// The owner of the task, which ends with it.
pub(super) struct Http {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Http {
    pub async fn start(address: &str, current: Arc<Current>) -> Result<Self> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Error::operator(format!(
                "Bifold can't listen on {address}: {error}; give another address as listen.http in the topology file, or end the program that has this one"
            ))
        })?;
        let address = listener
            .local_addr()
            .map_err(|error| Error::proxy("Bifold: the listening socket has no address.").because(error))?;
        Ok(Http { address, task: tokio::spawn(serve(listener, current)) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, current: Arc<Current>) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((tcp, _)) => {
                let current = current.clone();
                tokio::spawn(async move {
                    let _place = place;
                    let _ = timeout(LIMIT, answer(tcp, &current)).await;
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn answer(mut tcp: TcpStream, current: &Current) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD || tcp.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", current.engine().metrics().render()),
        ("GET" | "HEAD", "/healthz") => ("200 OK", "ok\n".to_owned()),
        ("GET" | "HEAD", "/readyz") => match current.engine().unready().await {
            out if out.is_empty() => ("200 OK", "ready\n".to_owned()),
            out => ("503 Service Unavailable", format!("no answer from {}\n", out.join(", "))),
        },
        ("GET" | "HEAD", _) => ("404 Not Found", "try /metrics, /healthz or /readyz\n".to_owned()),
        (_, _) => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let kind =
        if path == "/metrics" { "text/plain; version=0.0.4; charset=utf-8" } else { "text/plain; charset=utf-8" };
    let mut reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    if method != "HEAD" {
        reply.push_str(&body);
    }
    tcp.write_all(reply.as_bytes()).await?;
    tcp.shutdown().await
}
