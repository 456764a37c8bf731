//! The parts of the hot path by themselves: reading a statement, ids, the end of a reply.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use bifold::config::{DEFAULT_EPOCH_MS, IdBits, IdLayout};
use bifold::protocol::reply::{Kind, Piece, Reply};
use bifold::snowflake::{FixedWorker, Generator, Issuer, SystemClock};
use bifold::sql::fingerprint::Fingerprint;
use bifold::sql::lexer::lex;
use bifold::sql::{Dialect, Flavour, Source};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn statements() -> [(&'static str, String); 4] {
    let list: Vec<String> = (0..100).map(|n| (n * 37).to_string()).collect();
    let rows: Vec<String> = (0..100).map(|n| format!("({n}, 5, 'a reason')")).collect();
    [
        ("point select", "SELECT c FROM sbtest1 WHERE id=4711".to_owned()),
        (
            "join of 300 bytes",
            "SELECT o.order_id, o.price, p.name AS product, DATE_FORMAT(o.created_at, '%Y-%m-%d') AS day \
             FROM orders AS o LEFT JOIN product AS p ON p.product_id = o.product_id \
             WHERE o.uid = 42 AND o.state IN ('paid', 'sent') AND o.price > 9.99 \
             ORDER BY o.created_at DESC, o.order_id LIMIT 20 OFFSET 40"
                .to_owned(),
        ),
        ("IN list of 100", format!("SELECT * FROM orders WHERE uid = 42 AND product_id IN ({})", list.join(", "))),
        ("INSERT of 100 rows", format!("INSERT INTO coin_record (uid, amount, reason) VALUES {}", rows.join(", "))),
    ]
}

fn reading(c: &mut Criterion) {
    let dialect = Dialect::new(Flavour::MariaDb, 10_11_19);
    for (name, text) in statements() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let mut tokens = Vec::new();
        group.bench_function("lex", |b| {
            b.iter(|| {
                tokens.clear();
                lex(black_box(text.as_bytes()), &dialect, &mut tokens);
            });
        });
        let mut fingerprint = Fingerprint::new();
        let source = Source::new(text.as_bytes(), &tokens, dialect);
        group.bench_function("fingerprint", |b| b.iter(|| fingerprint.take(black_box(&source), 0)));
        group.finish();
    }
}

fn ids(c: &mut Criterion) {
    let layout = IdLayout { bits: IdBits::PLAIN, epoch_ms: DEFAULT_EPOCH_MS, tag: 0, carries: None };
    let issuer = Issuer::new(Arc::new(SystemClock), Arc::new(FixedWorker(0)));
    let generator = Generator::new(layout, issuer, 0).expect("a generator");
    // Faster than 4,096 a millisecond it must wait: that is the format's bound, not the code's.
    c.bench_function("one id", |b| b.iter(|| generator.take_now(black_box(1)).expect("an id")));
}

/// A result of 10,000 rows of two columns, scanned for its end.
fn scanning(c: &mut Criterion) {
    let reply = result_of(10_000);
    let mut group = c.benchmark_group("reply of 10,000 rows");
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("scan", |b| {
        b.iter(|| {
            let mut scanner = Reply::new(Kind::Results, true, 1);
            let mut rest = black_box(reply.as_slice());
            loop {
                match scanner.next(rest).expect("a reply") {
                    Piece::Done => break,
                    Piece::ColumnCount { len, .. }
                    | Piece::Column { len }
                    | Piece::Rows { len }
                    | Piece::RowsEnd { len, .. } => rest = &rest[len..],
                    other => panic!("{other:?}"),
                }
            }
            scanner.rows()
        });
    });
    group.finish();
}

fn result_of(rows: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sequence = 1u8;
    let mut packet = |payload: &[u8]| {
        out.extend(&u32::try_from(payload.len()).expect("short").to_le_bytes()[..3]);
        out.push(sequence);
        sequence = sequence.wrapping_add(1);
        out.extend(payload);
    };
    packet(&[2]);
    for name in [b'a', b'b'] {
        packet(&[3, b'd', b'e', b'f', 0, 0, 0, 1, name, 0, 12, 45, 0, 80, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
    }
    for row in 0..rows {
        let mut payload = vec![5];
        payload.extend(format!("{row:05}").bytes());
        payload.push(120);
        payload.extend([b'x'; 120]);
        packet(&payload);
    }
    packet(&[0xFE, 0, 0, 2, 0, 0, 0]);
    out
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1))
}

criterion_group! { name = parts; config = short(); targets = reading, ids, scanning }
criterion_main!(parts);
