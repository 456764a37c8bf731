//! A session's settings as data: what it has SET, interned so that sessions with the same
//! settings share one [`State`] and compare it by pointer. The difference of two states is one
//! SET statement. No I/O: `execute` reads values back from a server and asks for the next state.

pub mod merged;
pub mod state;
pub mod variables;

pub use state::{Setting, State, States};
