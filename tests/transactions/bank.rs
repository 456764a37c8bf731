//! The bank: clients move money between accounts on all servers while the proxy and the servers
//! are killed at random. Money is neither lost nor made, and what was acknowledged is there.
//! `BIFOLD_BANK_SECONDS` makes it longer, `BIFOLD_BANK_SEED` repeats a run.

use std::collections::HashSet;
use std::env;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bifold::lab::{Cluster, Durability};

use crate::common::{Answer, Client, bifold_program};
use crate::ward::*;

const CLIENTS: u64 = 8;
const SECONDS: u64 = 20;

/// What clients know of transfers, by number.
#[derive(Debug, Default)]
struct Told {
    kept: Vec<i64>,
    undone: Vec<i64>,
}

struct Bank {
    port: AtomicU16,
    open: AtomicBool,
    next: AtomicI64,
}

#[test]
fn the_bank_neither_loses_nor_makes_money() {
    let setting = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = setting("BIFOLD_BANK_SECONDS").unwrap_or(SECONDS);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").subsec_nanos();
    let seed = setting("BIFOLD_BANK_SEED").unwrap_or(u64::from(clock));
    println!("BIFOLD_BANK_SEED={seed}");
    on_each_flavour(Durability::Full, |cluster| {
        let mut client = serve(cluster);
        ok(&mut client, "CREATE TABLE entry (uid BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (uid, n))");
        let port = cluster.proxy().expect("serving").port();
        let bank = Bank { port: AtomicU16::new(port), open: AtomicBool::new(true), next: AtomicI64::new(1) };
        let told: Vec<Told> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| {
                    scope.spawn({
                        let bank = &bank;
                        move || bank.client(Dice::new(seed ^ (number + 1) << 32))
                    })
                })
                .collect();
            let end = Instant::now() + Duration::from_secs(seconds);
            let mut dice = Dice::new(seed);
            while Instant::now() < end {
                thread::sleep(Duration::from_millis(dice.below(3000)));
                break_something(cluster, &mut dice);
                bank.port.store(cluster.proxy().expect("serving").port(), Ordering::Relaxed);
            }
            bank.open.store(false, Ordering::Relaxed);
            clients.into_iter().map(|client| client.join().expect("a client's end")).collect()
        });
        wait_until_none_is_prepared(cluster);
        assert_eq!(sum(cluster), ACCOUNTS * MONEY);
        close_the_books(cluster, &told);
    });
}

fn break_something(cluster: &mut Cluster, dice: &mut Dice) {
    let server = usize::from(dice.below(2) == 1);
    match dice.below(4) {
        0 => drop(cluster.serve(bifold_program()).expect("it serves again")),
        1 | 2 => cluster.server_mut(server).restart().expect("it is back"),
        _ => {
            cluster.proxy_mut().expect("serving").kill();
            cluster.server_mut(server).restart().expect("it is back");
            cluster.serve(bifold_program()).expect("it serves again");
        }
    }
}

impl Bank {
    fn client(&self, mut dice: Dice) -> Told {
        let mut told = Told::default();
        let mut client = None;
        while self.open.load(Ordering::Relaxed) {
            let Some(mut working) = client.take().or_else(|| try_login(self.port.load(Ordering::Relaxed))) else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            match move_money(&mut working, n, &mut dice) {
                Some(true) => told.kept.push(n),
                Some(false) => told.undone.push(n),
                None => continue,
            }
            client = Some(working);
        }
        told
    }
}

/// Kept, undone, or not known.
fn move_money(client: &mut Client, n: i64, dice: &mut Dice) -> Option<bool> {
    let accounts = u64::try_from(ACCOUNTS).expect("positive");
    let (from, step) = (dice.below(accounts), 1 + dice.below(accounts - 1));
    let (to, amount) = ((from + step) % accounts, dice.below(20));
    let statements = [
        "BEGIN".to_owned(),
        format!("UPDATE account SET money = money - {amount} WHERE uid = {from}"),
        format!("INSERT INTO entry (uid, n) VALUES ({from}, {n})"),
        format!("UPDATE account SET money = money + {amount} WHERE uid = {to}"),
        format!("INSERT INTO entry (uid, n) VALUES ({to}, {n})"),
    ];
    for sql in &statements {
        match client.query(sql.as_str()).remove(0) {
            Answer::Ok(_) => {}
            Answer::Err(_) => {
                // Whatever it was: the rest must not be done outside of the transaction.
                return matches!(client.query("ROLLBACK").remove(0), Answer::Ok(_)).then_some(false);
            }
            _ => return None,
        }
    }
    match client.query("COMMIT").remove(0) {
        Answer::Ok(_) => Some(true),
        Answer::Err(error) if error.code == 1180 => Some(false),
        _ => None,
    }
}

fn close_the_books(cluster: &Cluster, told: &[Told]) {
    let mut found: Vec<i64> = Vec::new();
    for shard in 0..cluster.spec().shards {
        let (server, database) = cluster.shard(shard);
        for table in ["entry_0000", "entry_0001"] {
            let rows = server.run(&[format!("SELECT n FROM {database}.{table}")]).expect("entries");
            found.extend(rows.iter().map(|row| row[0].as_deref().expect("n").parse::<i64>().expect("a number")));
        }
    }
    let there: HashSet<i64> = found.iter().copied().collect();
    assert_eq!(found.len(), 2 * there.len(), "a transfer is there by half");
    let kept: Vec<i64> = told.iter().flat_map(|told| told.kept.clone()).collect();
    let undone: Vec<i64> = told.iter().flat_map(|told| told.undone.clone()).collect();
    let lost: Vec<&i64> = kept.iter().filter(|n| !there.contains(n)).collect();
    let made: Vec<&i64> = undone.iter().filter(|n| there.contains(n)).collect();
    assert!(lost.is_empty() && made.is_empty(), "acknowledged and lost: {lost:?}; undone and there: {made:?}");
    println!("{}: {} kept, {} undone", cluster.spec().program.flavour, kept.len(), undone.len());
    assert!(kept.len() > 100, "only {} transfers were made", kept.len());
}

/// Numbers by chance, the same for the same seed (xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
