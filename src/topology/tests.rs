//! Laws of the snapshot, and the layout of the example (`tests/topology/example.layout`;
//! `UPDATE=1` rewrites it).

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use super::layout::layout;
use super::*;
use crate::config::{Surroundings, parse};

fn read(text: &str) -> Config {
    let env = |_: &str| Some("secret".to_owned());
    let around = Surroundings { file: "test.toml", folder: Path::new(""), env: &env, now_ms: 1_767_225_600_000 };
    parse(text, &around).unwrap_or_else(|findings| panic!("{findings}"))
}

/// Shards alternate between two servers.
fn topology(shards: usize, tables: usize, subtables: usize) -> Topology {
    let mut text = String::from(
        "[[user]]\nname = \"app\"\npassword = \"x\"\nschemas = [\"mall\"]\n[backend]\nuser = \"b\"\npassword = \"x\"\n\
         [[server]]\nname = \"s0\"\naddress = \"[::1]:1\"\n[[server]]\nname = \"s1\"\naddress = \"h:2\"\n[schema.mall]\n",
    );
    let list: Vec<String> = (0..shards).map(|shard| format!("\"s{}/mall_{shard}\"", shard % 2)).collect();
    let _ = writeln!(text, "shards = [{}]", list.join(", "));
    for table in 0..tables {
        let _ = writeln!(text, "[schema.mall.table.t{table}]\nkey = \"k\"\ntables = {subtables}");
    }
    Topology::new(&read(&text), 1)
}

#[test]
fn places_are_all_pairs_by_shard_and_then_subtable() {
    let topology = topology(3, 1, 4);
    let mall = topology.schema("mall").unwrap();
    let table = mall.rule("t0").unwrap().sharded().unwrap();
    let places: Vec<Place> = mall.places(table).collect();
    assert_eq!(places.len(), 12);
    assert!(places.is_sorted());
    assert_eq!(places[5], Place { shard: ShardNo(1), subtable: SubtableNo(1) });
}

#[test]
fn shards_are_found_by_server_and_name() {
    let topology = topology(5, 0, 1);
    let mall = topology.schema("mall").unwrap();
    let on_first: Vec<u16> = mall.shards_on(ServerNo(0)).map(|shard| shard.no.0).collect();
    assert_eq!(on_first, [0, 2, 4]);
    assert_eq!(mall.shard_of(ServerNo(1), b"mall_3").map(|shard| shard.no), Some(ShardNo(3)));
    assert_eq!(mall.shard_of(ServerNo(0), b"mall_3"), None);
    assert_eq!(topology.server(ServerNo(0)).address(), "[::1]:1");
    assert_eq!(mall.home().no, HOME);
}

#[test]
fn a_physical_name_leads_back_to_its_table() {
    let topology = topology(1, 12, 1024);
    let mall = topology.schema("mall").unwrap();
    for name in ["t1_0000", "t11_1023", "t0_0512"] {
        let (rule, subtable) = mall.logical_of(name.as_bytes()).unwrap();
        assert_eq!(rule.sharded().unwrap().pattern.physical_name(subtable), name);
    }
    for name in ["t1_1024", "t12_0000", "t1", "T1_0000"] {
        assert!(mall.logical_of(name.as_bytes()).is_none(), "{name}");
    }
}

/// 1.3 million subtables; were each stored, this would take minutes in a debug build.
#[test]
fn the_largest_topology_stores_no_subtable() {
    let topology = topology(1024, 300, 4096);
    let mall = topology.schema("mall").unwrap();
    assert_eq!(mall.rules().map(|rule| rule.sharded().unwrap().subtables as usize).sum::<usize>(), 300 * 4096);
    assert_eq!(mall.shard_count(), 1024);
}

#[test]
fn the_layout_of_the_example_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let printed = layout(&read(&fs::read_to_string(root.join("config/bifold.toml")).unwrap()));
    let expected = root.join("tests/topology/example.layout");
    if env::var_os("UPDATE").is_some() {
        fs::write(&expected, &printed).unwrap();
    }
    assert_eq!(printed, fs::read_to_string(&expected).unwrap_or_default(), "run with UPDATE=1 and read the difference");
}
