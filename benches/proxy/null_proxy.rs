//! The least that a proxy can do: bytes from one socket to the other, both ways. It runs as a
//! process of its own, so that its CPU time can be read like Bifold's.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpListener, TcpStream};

use crate::Outcome;

const BUFFER: usize = 32 << 10;

/// The child process that is the null proxy; ends when dropped.
pub struct NullProxy {
    child: Child,
    pub port: u16,
}

impl NullProxy {
    pub fn start(target: u16) -> Outcome<NullProxy> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["null-proxy", &target.to_string()])
            // It ends when this input does, so it never outlives this process.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(NullProxy { child, port: line.trim().parse()? })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for NullProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The null proxy itself, in the child.
pub fn run(words: &[String]) -> Outcome<()> {
    let target: u16 = words.first().ok_or("null-proxy needs a port")?.parse()?;
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        println!("{}", listener.local_addr()?.port());
        loop {
            let (client, _) = listener.accept().await?;
            tokio::spawn(copy(client, target));
        }
    })
}

async fn copy(mut client: TcpStream, target: u16) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", target)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER, BUFFER).await.map(|_| ())
}
