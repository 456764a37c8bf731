//! Plans carried out: connections are taken, texts sent, replies passed on or merged, and what
//! the session has to remember is noted.

mod batch;
mod catalogue;
mod choice;
mod client;
mod client_file;
mod copies;
mod current;
pub mod ddl;
mod engine;
mod exchange;
mod field_list;
mod gather;
mod ids;
mod insert_select;
mod line;
mod load;
mod local;
mod measure;
mod moves;
pub mod names;
mod own;
mod prepare;
mod profile;
mod relay;
mod scatter;
mod settings;
mod several;
mod single;
mod spread;
mod statement;
mod sweep;
mod tally;

pub use client::{Client, Diagnostic, Level, Memory, allowed_schema};
pub use current::Current;
pub use engine::{Duty, Engine, Sharing};
pub use profile::Profile;
pub use statement::{Bound, Flow, Scratch};
