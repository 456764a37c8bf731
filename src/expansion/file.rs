//! The topology file after a switch: the new servers and the longer lists of shards, everything else,
//! comments and order included, as it was.

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::error::{Error, Result};
use crate::meta::Layout;

/// Rewrites a file for a layout; the old one stays beside it under its name with `.before-N`, N the
/// version of the layout. False: it says so already.
pub fn rewrite(file: &Path, layout: &Layout) -> Result<bool> {
    let failed = |cause: &dyn std::fmt::Display| {
        Error::operator(format!("{} can't be rewritten: add the new servers and shards by hand", file.display()))
            .because(cause)
    };
    let text = std::fs::read_to_string(file).map_err(|cause| failed(&cause))?;
    let fresh = rewritten(&text, layout).map_err(|cause| failed(&cause))?;
    if fresh == text {
        return Ok(false);
    }
    let mut kept = file.as_os_str().to_owned();
    kept.push(format!(".before-{}", layout.version));
    std::fs::write(&kept, &text).map_err(|cause| failed(&cause))?;
    std::fs::write(file, fresh).map_err(|cause| failed(&cause))?;
    Ok(true)
}

fn rewritten(text: &str, layout: &Layout) -> std::result::Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let servers = document
        .entry("server")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()))
        .as_array_of_tables_mut()
        .ok_or("server is not written as [[server]] sections")?;
    for server in &layout.servers {
        let is_there = servers.iter().any(|known| known.get("name").and_then(Item::as_str) == Some(&server.name));
        if !is_there {
            let mut table = Table::new();
            table["name"] = value(&server.name);
            let host = if server.host.contains(':') { format!("[{}]", server.host) } else { server.host.clone() };
            table["address"] = value(format!("{host}:{}", server.port));
            servers.push(table);
        }
    }
    for (schema, shards) in &layout.shards {
        let listed = document
            .get_mut("schema")
            .and_then(|schemas| schemas.get_mut(schema))
            .and_then(|schema| schema.get_mut("shards"))
            .and_then(Item::as_array_mut);
        let Some(listed) = listed else { continue };
        for shard in shards.iter().skip(listed.len()) {
            listed.push(shard);
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::ServerEntry;

    #[test]
    fn comments_and_order_stay() {
        let text = "# ours\n[[server]]\nname = \"s0\" # the old one\naddress = \"10.0.0.1:3306\"\n\n[schema.mall]\nshards = [\"s0/mall_0\"] # all\n\n[schema.mall.table.t]\nkey = \"uid\"\n";
        let server = |name: &str, host: &str| ServerEntry { name: name.into(), host: host.into(), port: 3306 };
        let layout = Layout {
            version: 2,
            servers: vec![server("s0", "10.0.0.1"), server("s1", "10.0.0.2")],
            shards: [("mall".to_owned(), vec!["s0/mall_0".to_owned(), "s1/mall_0".to_owned()])].into(),
            dirty: true,
        };
        let fresh = rewritten(text, &layout).expect("rewritten");
        assert!(fresh.contains("# the old one") && fresh.contains("# all"), "{fresh}");
        assert!(fresh.contains("[\"s0/mall_0\", \"s1/mall_0\"]"), "{fresh}");
        assert!(fresh.contains("name = \"s1\"\naddress = \"10.0.0.2:3306\"\n"), "{fresh}");
        assert_eq!(rewritten(&fresh, &layout).expect("again"), fresh);
    }
}
