//! The wire with real peers: drivers log in to us, we log in to servers, and what goes over
//! sockets comes in whole, however it is cut.

mod framing;
mod logins;
mod servers;

use std::net::SocketAddr;

use bifold::wire::{Framed, Peer};
use tokio::net::{TcpListener, TcpStream};

const MAX_PACKET: usize = 64 << 20;

/// A listener on a free loopback port.
async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let addr = listener.local_addr().expect("its number");
    (listener, addr)
}

/// A raw socket, and the connection that reads from it.
async fn pair(peer: Peer, max_packet: usize) -> (TcpStream, Framed) {
    let (listener, addr) = listener().await;
    let raw = TcpStream::connect(addr).await.expect("connected");
    raw.set_nodelay(true).expect("no delay");
    let (other, _) = listener.accept().await.expect("accepted");
    (raw, Framed::new(other, peer, max_packet))
}
