//! Who may come in and how: listen, limits, users, passwords, files.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::Teller;
use crate::config::written::{Node, nearest};
use crate::config::{Gather, Limits, Listen, ListenTls, ListenTlsMode, Secret, User};

pub(super) fn listen(node: &Node, teller: &mut Teller<'_>) -> Option<Listen> {
    let mysql = address(node.at("mysql"), teller);
    let http = node.at("http");
    let http = if http.is_absent() { Some(None) } else { address(http, teller).map(Some) };
    let tls = node.at("tls");
    let tls = if tls.is_absent() { Some(None) } else { listen_tls(tls, teller).map(Some) };
    Some(Listen { mysql: joined(mysql?), http: http?.map(joined), tls: tls? })
}

fn joined((host, port): (String, u16)) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn listen_tls(node: &Node, teller: &mut Teller<'_>) -> Option<ListenTls> {
    let cert = certificates(node.at("cert"), teller);
    let key = private_key(node.at("key"), teller);
    let mode = match node.at("mode").text()? {
        "required" => ListenTlsMode::Required,
        _ => ListenTlsMode::Optional,
    };
    Some(ListenTls { cert: cert?, key: key?, mode })
}

pub(super) fn limits(node: &Node) -> Option<Limits> {
    Some(Limits {
        max_clients: count(node.at("max_clients"))?,
        idle: span(node.at("idle"))?,
        login: span(node.at("login"))?,
        max_packet: usize::try_from(node.at("max_packet").number()?).ok()?,
    })
}

pub(super) fn gather(node: &Node) -> Option<Gather> {
    Some(Gather {
        rows: count(node.at("rows"))?.into(),
        bytes: u64::try_from(node.at("bytes").number()?).ok()?,
        timeout: span(node.at("timeout"))?,
    })
}

pub(super) fn users(node: &Node, schemas: &Node, teller: &mut Teller<'_>) -> Vec<User> {
    let mut lines: HashMap<&str, u32> = HashMap::new();
    let mut users = Vec::new();
    for node in node.list() {
        let name = node.at("name");
        if let Some(text) = name.text() {
            if text.chars().count() > 32 {
                teller.mistake(name, "has more than 32 characters", "no server takes longer user names");
            }
            if let Some(line) = lines.insert(text, name.line) {
                teller.mistake(
                    name,
                    format!("\"{text}\" is the name of the user at line {line} too"),
                    "keep one of them",
                );
            }
        }
        let password = password(node, teller);
        let schemas = user_schemas(node.at("schemas"), schemas, teller);
        if let (Some(name), Some(password)) = (name.text(), password) {
            users.push(User { name: name.to_owned(), password, schemas });
        }
    }
    if !node.is_wrong() && node.list().is_empty() {
        teller.mistake(node, "no user", "add a section [[user]]");
    }
    let told = teller.findings.has_mistakes();
    for (name, schema) in schemas.entries() {
        if !told && !users.iter().any(|user| user.schemas.contains(name)) {
            teller.warning(schema, "no user may use it", "add it to the schemas of a [[user]]");
        }
    }
    users
}

fn user_schemas(node: &Node, schemas: &Node, teller: &mut Teller<'_>) -> Vec<String> {
    if !node.is_wrong() && node.list().is_empty() {
        teller.mistake(node, "is empty", "name the schemas that the user may use");
    }
    let known = || schemas.entries().iter().map(|(name, _)| name.as_str());
    let mut list: Vec<String> = Vec::new();
    for entry in node.list() {
        let Some(text) = entry.text() else { continue };
        if list.iter().any(|other| other == text) {
            teller.mistake(entry, format!("names \"{text}\" twice"), "keep one of them");
        } else if known().any(|name| name == text) || schemas.is_wrong() {
            list.push(text.to_owned());
        } else {
            let remedy = match nearest(text, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("add [schema.{text}], or name one of: {}", known().collect::<Vec<_>>().join(", ")),
            };
            teller.mistake(entry, format!("the file has no schema \"{text}\""), remedy);
        }
    }
    list
}

/// `password` or `password_file` of a section.
pub(super) fn password(node: &Node, teller: &mut Teller<'_>) -> Option<Secret> {
    let (plain, from_file) = (node.at("password"), node.at("password_file"));
    let text = match (plain.is_absent(), from_file.is_absent()) {
        (true, true) => {
            teller.mistake(
                node,
                "has no password",
                "add password = \"${NAME}\" or password_file = \"…\"; password = \"\" for none",
            );
            return None;
        }
        (false, false) => {
            teller.mistake(from_file, "stands beside password", "keep one of them");
            return None;
        }
        (false, true) => plain.text()?.to_owned(),
        (true, false) => {
            let path = resolve(from_file, teller)?;
            match fs::read_to_string(&path) {
                Ok(text) => text
                    .strip_suffix('\n')
                    .map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
                    .to_owned(),
                Err(error) => {
                    teller.mistake(from_file, format!("{} cannot be read: {error}", path.display()), UNREADABLE);
                    return None;
                }
            }
        }
    };
    if text.is_empty() {
        let at = if plain.is_absent() { from_file } else { plain };
        teller.warning(at, "the password is empty", "anyone who reaches the port can log in");
    }
    Some(Secret::new(text))
}

/// A PEM file with one certificate at least.
pub(super) fn certificates(node: &Node, teller: &mut Teller<'_>) -> Option<PathBuf> {
    pem(node, teller, "certificate", |pem| CertificateDer::from_pem_slice(pem).is_ok())
}

/// A PEM file with a private key.
fn private_key(node: &Node, teller: &mut Teller<'_>) -> Option<PathBuf> {
    pem(node, teller, "private key", |pem| PrivateKeyDer::from_pem_slice(pem).is_ok())
}

fn pem(node: &Node, teller: &mut Teller<'_>, what: &str, is_there: impl Fn(&[u8]) -> bool) -> Option<PathBuf> {
    let path = resolve(node, teller)?;
    let wrong = match fs::read(&path) {
        Ok(text) if is_there(&text) => return Some(path),
        Ok(_) => {
            let wrong = format!("{} holds no {what} in PEM form", path.display());
            teller.mistake(node, wrong, "name a file that has one, between BEGIN and END lines");
            return None;
        }
        Err(error) => format!("{} cannot be read: {error}", path.display()),
    };
    teller.mistake(node, wrong, UNREADABLE);
    None
}

const UNREADABLE: &str = "name a file that this account can read; relative paths start at the topology file's folder";

fn resolve(node: &Node, teller: &Teller<'_>) -> Option<PathBuf> {
    node.text().map(|text| teller.around.folder.join(text))
}

/// `host:port`, `[::1]:port`: the host without brackets.
pub(super) fn address(node: &Node, teller: &mut Teller<'_>) -> Option<(String, u16)> {
    let text = node.text()?;
    let parsed = split_address(text);
    if parsed.is_none() {
        let remedy = if text.contains(':') && !text.contains('[') && text.matches(':').count() > 1 {
            "an IPv6 address stands in brackets, as \"[::1]:3306\"".to_owned()
        } else {
            "write \"host:port\", as \"10.0.0.10:3306\"".to_owned()
        };
        teller.mistake(node, format!("\"{text}\" is no address"), remedy);
    }
    parsed
}

fn split_address(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let port = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']').filter(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok())?,
        None => Some(host).filter(|host| {
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        })?,
    };
    Some((host.to_owned(), port))
}

pub(super) fn span(node: &Node) -> Option<Duration> {
    node.number().and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis)
}

pub(super) fn count(node: &Node) -> Option<u32> {
    node.number().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::split_address;

    #[test]
    fn an_address_is_host_and_port() {
        for (text, host, port) in
            [("10.0.0.1:3306", "10.0.0.1", 3306), ("db-1.example:0", "db-1.example", 0), ("[::1]:3307", "::1", 3307)]
        {
            assert_eq!(split_address(text), Some((host.to_owned(), port)), "{text}");
        }
        for text in [
            "",
            ":3306",
            "host",
            "host:",
            "host:x",
            "host:65536",
            "host:+1",
            "::1:3306",
            "[::1]",
            "[host]:1",
            "a b:1",
            "/tmp/mysql.sock",
            "u@h:1",
        ] {
            assert_eq!(split_address(text), None, "{text}");
        }
    }
}
