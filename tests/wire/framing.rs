//! Packets over sockets: cut anywhere, split at 16 MiB, too long, out of order; reads that are
//! given up half-way; connections that went away.

use std::time::Duration;

use bifold::protocol::packet::{MAX_PACKET as SPLIT, frame};
use bifold::wire::{Framed, Peer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::{MAX_PACKET, pair};

fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, sequence, payload);
    out
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn packets_come_whole_however_the_bytes_are_cut() {
    let mut stream = Vec::new();
    let payloads = [pattern(1), pattern(0), pattern(300), pattern(5)];
    for (sequence, payload) in payloads.iter().enumerate() {
        stream.extend(framed(sequence as u8, payload));
    }
    for cut in 0..stream.len() {
        let (mut raw, mut conn) = pair(Peer::Client, MAX_PACKET).await;
        let (front, back) = stream.split_at(cut);
        raw.write_all(front).await.expect("sent");
        let mut seen = Vec::new();
        // Reading is given up over and over, and loses nothing by it.
        while let Ok(packet) = timeout(Duration::from_millis(1), conn.read_packet()).await {
            seen.push(packet.expect("in order").expect("not closed").to_vec());
        }
        raw.write_all(back).await.expect("sent");
        while seen.len() < payloads.len() {
            seen.push(conn.expect_packet().await.expect("in order").to_vec());
        }
        assert_eq!(seen, payloads, "cut at {cut}");
        drop(raw);
        assert!(conn.read_packet().await.expect("a clean end").is_none());
    }
}

#[tokio::test]
async fn payloads_around_every_size_that_matters_come_back() {
    for len in [32 * 1024 - 4, 32 * 1024, 128 * 1024 - 4, 128 * 1024, 1 << 20, SPLIT - 1, SPLIT, SPLIT + 1, 2 * SPLIT] {
        let payload = pattern(len);
        let bytes = framed(0, &payload);
        let (mut raw, mut conn) = pair(Peer::Client, MAX_PACKET).await;
        let after = framed((bytes.len() / SPLIT) as u8 + 1, b"after");
        let sender = tokio::spawn(async move {
            raw.write_all(&bytes).await.expect("sent");
            raw.write_all(&after).await.expect("sent");
            raw
        });
        let packet = conn.expect_packet().await.expect("whole");
        assert!(*packet == payload[..], "{len}");
        // The connection can be written to while the packet is held.
        conn.begin_command();
        conn.queue_packet(&packet);
        let mut raw = sender.await.expect("ended");
        let mut back = vec![0; framed(0, &payload).len()];
        let (flushed, read) = tokio::join!(conn.flush(), raw.read_exact(&mut back));
        flushed.and(Ok(read)).expect("both").expect("read");
        assert!(back == framed(0, &payload), "{len}");
        conn.set_sequence((back.len() / SPLIT) as u8 + 1);
        assert_eq!(&*conn.expect_packet().await.expect("the next"), b"after", "{len}");
    }
}

#[tokio::test]
async fn a_packet_beyond_the_bound_is_refused_before_it_is_read() {
    for (bound, bytes) in [
        (1000, framed(0, &pattern(1001))[..100].to_vec()),
        (SPLIT + 10, [framed(0, &pattern(SPLIT))[..SPLIT + 4].to_vec(), vec![11, 0, 0, 1]].concat()),
    ] {
        let (mut raw, mut conn) = pair(Peer::Client, bound).await;
        let sender = tokio::spawn(async move {
            raw.write_all(&bytes).await.expect("sent");
            raw
        });
        let error = conn.read_packet().await.expect_err("refused");
        assert_eq!((error.code(), error.state()), (1153, b"08S01"));
        drop(sender.await.expect("ended"));
    }
}

#[tokio::test]
async fn a_packet_out_of_order_and_a_broken_one_are_errors() {
    let (mut raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    raw.write_all(&framed(3, b"stale")).await.expect("sent");
    assert_eq!(conn.read_packet().await.expect_err("out of order").code(), 1156);
    let (mut raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    raw.write_all(&framed(0, b"broken off")[..7]).await.expect("sent");
    drop(raw);
    assert_eq!(conn.read_packet().await.expect_err("cut").code(), 2013);
}

#[tokio::test]
async fn the_first_packet_is_read_without_a_byte_past_it() {
    let (mut raw, mut conn) = pair(Peer::Client, MAX_PACKET).await;
    raw.write_all(&[framed(0, b"request"), b"TLS begins".to_vec()].concat()).await.expect("sent");
    let packet = conn.read_packet_exactly().await.expect("whole").expect("not closed");
    assert_eq!((&*packet, conn.buffered()), (&b"request"[..], &b""[..]));
    let (mut raw, mut conn) = pair(Peer::Client, MAX_PACKET).await;
    raw.write_all(&[0xFF, 0xFF, 0xFF, 0]).await.expect("sent");
    assert_eq!(conn.read_packet_exactly().await.expect_err("hostile").code(), 1153);
}

#[tokio::test]
async fn an_idle_connection_is_quiet_until_something_happens() {
    let (mut raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    assert!(conn.is_quiet());
    raw.write_all(&framed(0, b"unasked")).await.expect("sent");
    conn.wait_readable().await.expect("readable");
    assert!(!conn.is_quiet(), "bytes nobody asked for");
    let (raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    drop(raw);
    conn.wait_readable().await.expect("readable");
    assert!(!conn.is_quiet(), "closed");
    let (mut raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    conn.queue_packet(b"half sent");
    assert!(!conn.is_quiet(), "bytes not sent");
    conn.flush().await.expect("sent");
    assert!(conn.is_quiet());
    raw.write_all(&framed(1, b"answer")).await.expect("sent");
    conn.expect_packet().await.expect("answer");
    assert!(conn.is_quiet());
}

#[tokio::test]
async fn a_write_given_up_half_way_leaves_the_connection_unfit() {
    let (_raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    let much = pattern(32 << 20);
    assert!(timeout(Duration::from_millis(50), conn.write_all(&much)).await.is_err());
    assert!(!conn.is_quiet());
}

#[tokio::test]
async fn a_peer_that_hangs_up_is_noticed_and_one_that_sends_is_not_mistaken_for_it() {
    let (raw, conn) = pair(Peer::Client, MAX_PACKET).await;
    assert!(timeout(Duration::from_millis(20), conn.hung_up()).await.is_err());
    drop(raw);
    timeout(Duration::from_secs(5), conn.hung_up()).await.expect("noticed");
    let (mut raw, conn) = pair(Peer::Client, MAX_PACKET).await;
    raw.write_all(&framed(0, b"the next command already")).await.expect("sent");
    assert!(timeout(Duration::from_millis(250), conn.hung_up()).await.is_err());
    drop(raw);
    timeout(Duration::from_secs(5), conn.hung_up()).await.expect("noticed behind unread bytes");
}

#[tokio::test]
async fn raw_bytes_go_out_behind_what_is_queued() {
    let (mut raw, mut conn) = pair(Peer::Client, MAX_PACKET).await;
    let rows = pattern(3 << 20);
    let expected = [framed(0, b"first"), rows.clone()].concat();
    let reader = tokio::spawn(async move {
        let mut got = vec![0; expected.len()];
        raw.read_exact(&mut got).await.expect("read");
        got == expected
    });
    conn.queue_packet(b"first");
    conn.write_all(&rows).await.expect("sent");
    assert_eq!(conn.queued(), 0);
    assert!(reader.await.expect("ended"));
}

#[tokio::test]
async fn bytes_are_read_raw_and_consumed_piece_by_piece() {
    let (mut raw, mut conn) = pair(Peer::Server, MAX_PACKET).await;
    let bytes = pattern(1 << 20);
    let sent = bytes.clone();
    let sender = tokio::spawn(async move {
        raw.write_all(&sent).await.expect("sent");
        raw
    });
    let mut got = Vec::new();
    while got.len() < bytes.len() / 2 {
        assert_ne!(conn.fill().await.expect("bytes"), 0);
        let used = conn.buffered().len().min(10_007);
        got.extend_from_slice(&conn.buffered()[..used]);
        conn.consume(used);
    }
    let rest = bytes.len() - got.len();
    conn.fill_to(rest).await.expect("all of it");
    got.extend_from_slice(conn.buffered());
    assert!(got == bytes);
    drop(sender.await.expect("ended"));
    conn.consume(rest);
    assert_eq!(conn.fill().await.expect("the end"), 0);
    assert!(conn.fill_to(1).await.is_err());
}

/// A connection at rest holds no buffer; what it is itself must be small too.
#[test]
fn a_connection_at_rest_is_small() {
    assert!(std::mem::size_of::<Framed>() <= 256, "{}", std::mem::size_of::<Framed>());
}
