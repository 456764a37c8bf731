//! Real MySQL and MariaDB servers in temporary folders, the proxy as a child process, and whole
//! clusters of both: for `bifold demo`, the tests and the benchmarks. What it starts ends with this
//! process, however that ends, and its folders with it. Everything here blocks for a moment; it may
//! be called from async code too.

mod cluster;
mod demo;
mod folder;
mod program;
mod proxy;
mod server;
mod sql;
mod template;
mod watchdog;

pub use cluster::{APP_PASSWORD, APP_USER, BACKEND_PASSWORD, BACKEND_USER, Cluster, ClusterSpec};
pub use demo::Demo;
pub use folder::Folder;
pub use program::{Flavour, Program};
pub use proxy::Proxy;
pub use server::{Durability, Server};
pub use sql::{Row, run_sql};
