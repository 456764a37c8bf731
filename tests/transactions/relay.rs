//! A TCP relay before a server, with a trap: it holds a connection when a given statement goes
//! by, before the server has it or when its reply comes back, until the test has done its worst.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The server has not got the statement.
    Before,
    /// The server has carried it out, and the proxy doesn't know.
    After,
}

#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// How the statement begins.
    pub words: &'static str,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Set,
    /// A connection is held.
    Sprung,
    /// Held connections are closed.
    Cut,
}

pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: u16,
    trap: Mutex<(State, Option<Trap>)>,
    changed: Condvar,
}

impl Relay {
    pub fn start(upstream: u16) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared { upstream, trap: Mutex::new((State::Idle, None)), changed: Condvar::new() });
        let serving = shared.clone();
        // It ends with the process, as its connections do.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                serving.clone().pass(client);
            }
        });
        Relay { port, shared }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn set(&self, trap: Trap) {
        self.shared.to(State::Set, Some(trap));
    }

    /// The statement has gone by.
    #[track_caller]
    pub fn wait(&self) {
        let held = self.shared.trap.lock().expect("the lock");
        let is_set = |trap: &mut (State, Option<Trap>)| trap.0 == State::Set;
        let limit = Duration::from_secs(20);
        let (held, late) = self.shared.changed.wait_timeout_while(held, limit, is_set).expect("the lock");
        assert!(!late.timed_out(), "{:?} never went by", held.1);
    }

    /// Closes what is held.
    pub fn cut(&self) {
        self.shared.to(State::Cut, None);
    }
}

impl Shared {
    fn to(&self, state: State, trap: Option<Trap>) {
        *self.trap.lock().expect("the lock") = (state, trap);
        self.changed.notify_all();
    }

    fn pass(self: Arc<Self>, client: TcpStream) {
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.upstream)) else { return };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let both = || (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
        // The statement has gone to the server, and its reply is the next that comes.
        let due = Arc::new(Mutex::new(false));
        let ((from, to), this, sent) = (both(), self.clone(), due.clone());
        thread::spawn(move || this.forth(from, to, &sent));
        let (to, from) = both();
        thread::spawn(move || self.back(from, to, &due));
    }

    fn forth(&self, mut from: TcpStream, mut to: TcpStream, due: &Mutex<bool>) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            match self.trapped(&buffer[..count]) {
                Some(At::Before) => {
                    self.hold();
                    break;
                }
                Some(At::After) => *due.lock().expect("the lock") = true,
                None => {}
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }

    fn back(&self, mut from: TcpStream, mut to: TcpStream, due: &Mutex<bool>) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if *due.lock().expect("the lock") {
                self.hold();
                break;
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }

    fn trapped(&self, packet: &[u8]) -> Option<At> {
        let trap = self.trap.lock().expect("the lock");
        let (State::Set, Some(Trap { words, at })) = *trap else { return None };
        // Header and COM_QUERY come first.
        packet.get(5..).is_some_and(|text| text.starts_with(words.as_bytes())).then_some(at)
    }

    /// Springs the trap and waits until the connection is to be closed.
    fn hold(&self) {
        let mut trap = self.trap.lock().expect("the lock");
        trap.0 = State::Sprung;
        self.changed.notify_all();
        drop(self.changed.wait_while(trap, |trap| trap.0 == State::Sprung).expect("the lock"));
    }
}
