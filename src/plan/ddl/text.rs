//! A statement's text with the names left open that differ from place to place.

use crate::definition::{Definition, Naming, identifier};
use crate::topology::NamePattern;

/// Made a statement for one physical table by [`Text::at`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As the client wrote it.
    Bytes(Vec<u8>),
    /// The target: `` `mall_1`.`orders_0007` ``.
    Target,
    /// Another table of this name in the same database: `` `mall_1`.`product` ``.
    Beside(String),
    /// A table of another schema, which is the same for every place: its database and its name.
    Elsewhere(String, String),
    /// The database alone, where a qualifier stood.
    Database,
    /// A sharded table of the same layout: its subtable of the same number.
    Like(NamePattern),
    /// The name of what is dropped or altered, which may be a constraint's or a key's: the
    /// definition tells.
    Known(String),
    /// In the place of CONSTRAINT, before a foreign key: a plain key of this name on its columns,
    /// unless one of the table that stands serves. `added`: behind ADD, and not in a list.
    Index { name: String, columns: Vec<String>, added: bool },
    /// A constraint's name, which has to be the only one in the database.
    Constraint(String),
}

impl Text {
    pub fn new(pieces: Vec<Piece>) -> Self {
        Text(pieces)
    }

    /// The statement for one physical table; `known` is the definition of the table that stands.
    pub fn at(&self, naming: &Naming, database: &str, known: Option<&Definition>) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Target => push_table(&mut out, database, &naming.physical),
                Piece::Beside(table) => push_table(&mut out, database, table),
                Piece::Elsewhere(database, table) => push_table(&mut out, database, table),
                Piece::Like(pattern) => push_table(&mut out, database, &pattern.physical_name(naming.subtable)),
                Piece::Known(name) if !known.is_some_and(|known| known.has_constraint(name)) => {
                    out.extend_from_slice(identifier(name).as_bytes());
                }
                Piece::Database => out.extend_from_slice(identifier(database).as_bytes()),
                Piece::Index { name, columns, added } => {
                    if !known.is_some_and(|known| known.has_key_on(columns)) {
                        let columns: Vec<String> = columns.iter().map(|column| identifier(column)).collect();
                        let key = format!("KEY {} ({}), ", identifier(name), columns.join(", "));
                        out.extend_from_slice(key.as_bytes());
                        out.extend_from_slice(if *added { b"ADD " } else { b"" });
                    }
                    out.extend_from_slice(b"CONSTRAINT");
                }
                Piece::Constraint(name) | Piece::Known(name) => {
                    out.extend_from_slice(identifier(&naming.constraint(name)).as_bytes())
                }
            }
        }
        out
    }
}

fn push_table(out: &mut Vec<u8>, database: &str, table: &str) {
    out.extend_from_slice(identifier(database).as_bytes());
    out.push(b'.');
    out.extend_from_slice(identifier(table).as_bytes());
}
