//! Servers, shards, accounts and the topology file of a whole cluster, and the proxy before it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use super::folder::Folder;
use super::program::Program;
use super::proxy::Proxy;
use super::server::{Durability, Server};
use crate::error::{Error, Result};

pub const APP_USER: &str = "app";
pub const APP_PASSWORD: &str = "app-secret";
pub const BACKEND_USER: &str = "bifold";
pub const BACKEND_PASSWORD: &str = "bifold-secret";

/// What to build. Shard `i` is the database `<schema>_<i>` on server `i mod servers`.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    pub program: Program,
    pub durability: Durability,
    pub servers: usize,
    pub shards: usize,
    pub schema: String,
    /// The `[schema.X.table.T]` parts of the topology file, as TOML.
    pub tables: String,
    /// Further arguments of the servers.
    pub arguments: Vec<String>,
    /// Further TOML, put before the tables (`[workers]`, `[listen.tls]`).
    pub more: String,
}

impl ClusterSpec {
    /// Two servers and four shards of the schema `mall`, light.
    pub fn new(program: &Program, tables: impl Into<String>) -> ClusterSpec {
        ClusterSpec {
            program: program.clone(),
            durability: Durability::Light,
            servers: 2,
            shards: 4,
            schema: "mall".to_owned(),
            tables: tables.into(),
            arguments: Vec::new(),
            more: String::new(),
        }
    }
}

/// Running servers with empty shard databases, a backend account and a topology file. The proxy
/// comes with [`Cluster::serve`].
#[derive(Debug)]
pub struct Cluster {
    // Dropped first: the proxy must not see its servers go.
    proxy: Option<Proxy>,
    servers: Vec<Server>,
    topology: PathBuf,
    spec: ClusterSpec,
    _folder: Folder,
}

impl Cluster {
    pub fn start(spec: ClusterSpec) -> Result<Cluster> {
        let servers = start_servers(&spec)?;
        let folder = Folder::new("cluster")?;
        let topology = folder.path().join("bifold.toml");
        let cluster = Cluster { proxy: None, servers, topology, spec, _folder: folder };
        cluster.write_topology()?;
        Ok(cluster)
    }

    /// Writes the topology file anew with these tables; the proxy sees it when it is started next.
    pub fn set_tables(&mut self, tables: &str) -> Result<()> {
        self.spec.tables = tables.to_owned();
        self.write_topology()
    }

    /// Likewise for the further TOML before the tables.
    pub fn set_more(&mut self, more: &str) -> Result<()> {
        self.spec.more = more.to_owned();
        self.write_topology()
    }

    /// Starts the proxy (again), as worker 0.
    pub fn serve(&mut self, program: &Path) -> Result<&Proxy> {
        self.proxy = None;
        let proxy = Proxy::start(program, &self.topology, 0)?;
        Ok(self.proxy.insert(proxy))
    }

    /// The proxy, once it was started.
    pub fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }
    pub fn proxy_mut(&mut self) -> Option<&mut Proxy> {
        self.proxy.as_mut()
    }
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }
    pub fn server_mut(&mut self, index: usize) -> &mut Server {
        &mut self.servers[index]
    }
    pub fn topology(&self) -> &Path {
        &self.topology
    }
    pub fn spec(&self) -> &ClusterSpec {
        &self.spec
    }

    fn write_topology(&self) -> Result<()> {
        fs::write(&self.topology, topology_text(&self.spec, &self.servers))
            .map_err(|cause| Error::operator("cannot write the topology file").because(cause))
    }

    /// The server of a shard, and the shard's database there.
    pub fn shard(&self, number: usize) -> (&Server, String) {
        (&self.servers[number % self.servers.len()], database(&self.spec, number))
    }
}

fn database(spec: &ClusterSpec, shard: usize) -> String {
    format!("{}_{shard}", spec.schema)
}

/// All servers at the same time, each with its shards' databases and the backend account.
fn start_servers(spec: &ClusterSpec) -> Result<Vec<Server>> {
    thread::scope(|scope| {
        let starting: Vec<_> = (0..spec.servers).map(|index| scope.spawn(move || start_server(spec, index))).collect();
        starting.into_iter().map(|server| server.join().expect("starting a server does not panic")).collect()
    })
}

fn start_server(spec: &ClusterSpec, index: usize) -> Result<Server> {
    let arguments: Vec<&str> = spec.arguments.iter().map(String::as_str).collect();
    let server = Server::start_with(&spec.program, spec.durability, &arguments)?;
    let databases: Vec<String> =
        (index..spec.shards).step_by(spec.servers).map(|shard| database(spec, shard)).collect();
    let creates: Vec<String> = databases.iter().map(|database| format!("CREATE DATABASE `{database}`")).collect();
    server.run(&creates)?;
    let databases: Vec<&str> = databases.iter().map(String::as_str).collect();
    server.grant(BACKEND_USER, BACKEND_PASSWORD, &databases)?;
    server.grant_decisions(BACKEND_USER)?;
    Ok(server)
}

fn topology_text(spec: &ClusterSpec, servers: &[Server]) -> String {
    let schema = &spec.schema;
    let listed: String = servers
        .iter()
        .enumerate()
        .map(|(index, server)| format!("[[server]]\nname = \"s{index}\"\naddress = \"{}\"\n\n", server.address()))
        .collect();
    let shards: Vec<String> =
        (0..spec.shards).map(|shard| format!("\"s{}/{}\"", shard % spec.servers, database(spec, shard))).collect();
    format!(
        "[listen]\nmysql = \"127.0.0.1:0\"\n\n\
         [[user]]\nname = \"{APP_USER}\"\npassword = \"{APP_PASSWORD}\"\nschemas = [\"{schema}\"]\n\n\
         [backend]\nuser = \"{BACKEND_USER}\"\npassword = \"{BACKEND_PASSWORD}\"\n\n\
         {listed}{more}\n[schema.{schema}]\nshards = [{shards}]\n\n{tables}",
        more = spec.more,
        shards = shards.join(", "),
        tables = spec.tables,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn the_topology_file_of_a_cluster_is_a_good_one() {
        for program in Program::all() {
            let tables = "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n";
            let cluster = Cluster::start(ClusterSpec::new(&program, tables)).expect("a cluster");
            let config = config::load(cluster.topology()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
            assert_eq!(config.schemas[0].shards.len(), 4);
            assert_eq!(config.servers.len(), 2);
            let (server, database) = cluster.shard(3);
            assert_eq!((server.port(), database.as_str()), (cluster.servers()[1].port(), "mall_3"));
        }
    }
}
