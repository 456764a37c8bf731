//! The same answer as one MySQL: statements on a plain server and through the proxy, compared.

#[path = "../common/mod.rs"]
mod common;

mod applications;
mod binding;
mod catalogue;
mod compatibility;
mod confinement;
mod gather;
mod generated;
mod grouped;
mod harness;
mod http;
mod load;
mod login;
mod processes;
mod protocol;
mod routines;
mod scatter;
mod scattered;
mod schemas;
mod session;
mod statements;
mod writes;
