//! The servers, and how Bifold logs in to them.

use std::collections::HashMap;

use super::Teller;
use super::access::{address, certificates, count, password, span};
use crate::config::written::Node;
use crate::config::{Backend, BackendTls, Server};

/// `max_prepared_stmt_count` of a server that nobody has tuned.
const USUAL_STATEMENTS: u64 = 16_382;

/// The servers, and the names that the file gives: a server with a wrong address keeps its name,
/// so that shards on it are no further mistake.
pub(super) struct Servers {
    pub list: Vec<Server>,
    pub names: Vec<String>,
    /// The section itself is missing or no sections.
    pub unknown: bool,
}

pub(super) fn backend(node: &Node, teller: &mut Teller<'_>) -> Option<Backend> {
    if node.is_wrong() {
        return None;
    }
    let password = password(node, teller);
    let tls = backend_tls(node.at("tls"), teller);
    let (connections, statements) = (count(node.at("connections")), count(node.at("statements")));
    if let Some(statements) = statements.filter(|statements| u64::from(*statements) > USUAL_STATEMENTS) {
        teller.warning(
            node.at("statements"),
            format!("{statements} prepared statements are kept on each server"),
            format!("a server's max_prepared_stmt_count is {USUAL_STATEMENTS} unless raised, for all proxies together"),
        );
    }
    Some(Backend {
        user: node.at("user").text()?.to_owned(),
        password: password?,
        tls: tls?,
        connections: connections?,
        wait: span(node.at("wait"))?,
        idle: span(node.at("idle"))?,
        connect: span(node.at("connect"))?,
        statements: statements?,
    })
}

fn backend_tls(node: &Node, teller: &mut Teller<'_>) -> Option<BackendTls> {
    let ca = node.at("ca");
    let mode = node.at("mode").text()?;
    if mode != "verify" && ca.given {
        teller.mistake(ca, format!("is not used with mode = \"{mode}\""), "write mode = \"verify\", or leave ca out");
        return None;
    }
    Some(match mode {
        "preferred" => BackendTls::Preferred,
        "required" => BackendTls::Required,
        "verify" if ca.is_absent() => {
            teller.mistake(
                node,
                "mode = \"verify\" has no ca",
                "add ca = \"…\", the PEM file of the authority that signed the servers' certificates",
            );
            return None;
        }
        "verify" => BackendTls::Verify { ca: certificates(ca, teller)? },
        _ => BackendTls::Off,
    })
}

pub(super) fn servers(node: &Node, teller: &mut Teller<'_>) -> Servers {
    let mut servers = Servers { list: Vec::new(), names: Vec::new(), unknown: node.is_wrong() };
    let mut names: HashMap<String, u32> = HashMap::new();
    let mut addresses: HashMap<(String, u16), u32> = HashMap::new();
    for node in node.list() {
        let name = name(node.at("name"), &mut names, teller);
        let address = server_address(node.at("address"), &mut addresses, teller);
        servers.unknown |= name.is_none();
        let (host, port) = address.unwrap_or_default();
        let name = name.unwrap_or_default();
        servers.names.push(name.clone());
        servers.list.push(Server { name, host, port });
    }
    if !node.is_wrong() && node.list().is_empty() {
        teller.mistake(node, "no server", "add a section [[server]]");
    }
    if let Some(node) = node.list().get(1024) {
        teller.mistake(node, "is the 1025th server", "1024 are taken");
    }
    servers
}

fn name(node: &Node, seen: &mut HashMap<String, u32>, teller: &mut Teller<'_>) -> Option<String> {
    let text = node.text()?;
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        teller.mistake(node, format!("is \"{text}\""), "use letters, digits, _, - and .");
        return None;
    }
    if let Some(line) = seen.insert(text.to_owned(), node.line) {
        teller.mistake(
            node,
            format!("\"{text}\" is the name of the server at line {line} too"),
            "give it another name",
        );
    }
    Some(text.to_owned())
}

fn server_address(
    node: &Node,
    seen: &mut HashMap<(String, u16), u32>,
    teller: &mut Teller<'_>,
) -> Option<(String, u16)> {
    let (host, port) = address(node, teller)?;
    if port == 0 {
        teller.mistake(node, "has port 0", "write the port that the server listens on, as 3306");
        return None;
    }
    if let Some(line) = seen.insert((host.to_ascii_lowercase(), port), node.line) {
        teller.mistake(
            node,
            format!("is the address of the server at line {line} too"),
            "one server can hold several shards: keep one [[server]]",
        );
    }
    Some((host, port))
}
