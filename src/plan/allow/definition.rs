//! Definitions: tables without ways out of the schema, and nothing of the whole server.

use super::{Asker, denied, not_yet};
use crate::error::{Error, Result};
use crate::sql::ast::{
    Action, AlterSpecKind, AlterTable, CreateTable, DatabaseDdl, Name, ObjectDdl, ObjectKind, TableOption,
    TableOptionKind,
};
use crate::sql::{Kind, Source, literal};

pub(super) fn create(source: &Source<'_>, create: &CreateTable) -> Result<()> {
    create.options.iter().try_for_each(|option| table_option(source, option))
}

pub(super) fn alter(source: &Source<'_>, alter: &AlterTable) -> Result<()> {
    alter.specs.iter().try_for_each(|spec| match &spec.kind {
        AlterSpecKind::Option(option) => table_option(source, option),
        AlterSpecKind::Tablespace => Err(not_yet("DISCARD and IMPORT TABLESPACE", "move rows by INSERT … SELECT")),
        AlterSpecKind::AddColumns(_)
        | AlterSpecKind::AddKey(_)
        | AlterSpecKind::AddCheck(_)
        | AlterSpecKind::Modify(_)
        | AlterSpecKind::Change { .. }
        | AlterSpecKind::AlterColumn { .. }
        | AlterSpecKind::DropColumn(_)
        | AlterSpecKind::DropPrimaryKey
        | AlterSpecKind::DropKey(_)
        | AlterSpecKind::DropForeignKey(_)
        | AlterSpecKind::DropConstraint(_)
        | AlterSpecKind::RenameTable(_)
        | AlterSpecKind::RenameColumn { .. }
        | AlterSpecKind::RenameKey { .. }
        | AlterSpecKind::AlterKey(_)
        | AlterSpecKind::ConvertCharset
        | AlterSpecKind::Execution
        | AlterSpecKind::OrderBy
        | AlterSpecKind::Partition { .. }
        | AlterSpecKind::Versioning => Ok(()),
    })
}

/// Engines that keep their rows in the schema itself.
const ENGINES: &[&str] = &["innodb", "myisam", "aria", "memory", "heap", "archive", "blackhole", "csv"];

fn table_option(source: &Source<'_>, option: &TableOption) -> Result<()> {
    match option.kind {
        TableOptionKind::Engine => {
            let Some(engine) = option.value else { return Ok(()) };
            let engine = literal::name(source, engine).to_ascii_lowercase();
            match ENGINES.contains(&engine.as_str()) {
                true => Ok(()),
                false => Err(not_yet(&format!("ENGINE={engine}"), "use InnoDB")),
            }
        }
        // Files of the server's machine.
        TableOptionKind::Location => Err(denied::privilege("FILE")),
        // Tables of other schemas, or of other servers.
        TableOptionKind::Union | TableOptionKind::Connection => {
            Err(not_yet("a table made of other tables", "write a SELECT with UNION ALL"))
        }
        TableOptionKind::AutoIncrement
        | TableOptionKind::Charset
        | TableOptionKind::Collate
        | TableOptionKind::Comment
        | TableOptionKind::Other => Ok(()),
    }
}

/// Schemas are declared in the topology file; no statement makes or drops one.
pub(super) fn database(source: &Source<'_>, ddl: &DatabaseDdl, asker: &Asker<'_>) -> Error {
    let name = ddl.name.map(|name| literal::name(source, name).into_owned()).or(asker.scene.schema.map(str::to_owned));
    let Some(name) = name else { return denied::no_schema() };
    match ddl.action {
        Action::Create if asker.usable(&name).is_some() => {
            Error::client((1007, b"HY000"), format!("Can't create database '{name}'; database exists"))
        }
        Action::Alter | Action::Drop if asker.usable(&name).is_some() => {
            not_yet("ALTER and DROP DATABASE", "schemas are declared in the topology file; ask a DBA")
        }
        Action::Create | Action::Alter | Action::Drop => denied::schema(asker, &name),
    }
}

pub(super) fn object(source: &Source<'_>, ddl: &ObjectDdl, asker: &Asker<'_>) -> Result<()> {
    let by_dba =
        |what: &str| not_yet(what, "ask a DBA to make it on the home shard's server, for unsharded tables only");
    Err(match ddl.kind {
        ObjectKind::View => return Ok(()),
        ObjectKind::Procedure | ObjectKind::Function | ObjectKind::Trigger if ddl.action != Action::Alter => {
            return Ok(());
        }
        ObjectKind::Procedure => by_dba("ALTER PROCEDURE"),
        ObjectKind::Function => by_dba("ALTER FUNCTION"),
        ObjectKind::Trigger => by_dba("ALTER TRIGGER"),
        ObjectKind::Event => by_dba("the definition of an event"),
        ObjectKind::Sequence => return sequence(source, ddl),
        ObjectKind::User => denied::privilege("CREATE USER"),
        ObjectKind::Role => denied::privilege_of(asker, "CREATE USER, CREATE ROLE", "CREATE USER"),
        ObjectKind::Server => denied::privilege("SUPER"),
    })
}

/// A sequence is a table of one row; its options are words and numbers.
fn sequence(source: &Source<'_>, ddl: &ObjectDdl) -> Result<()> {
    let words = ddl.rest.tokens().filter(|&token| matches!(source.kind(token), Kind::Word | Kind::QuotedName));
    for word in words {
        let word = literal::name(source, Name(word)).to_ascii_lowercase();
        if !SEQUENCE_WORDS.contains(&word.as_str()) && !ENGINES.contains(&word.as_str()) {
            return Err(not_yet(&format!("{word} of a sequence"), "leave it out"));
        }
    }
    Ok(())
}

#[rustfmt::skip]
const SEQUENCE_WORDS: &[&str] = &[
    "as", "by", "cache", "comment", "cycle", "engine", "increment", "maxvalue", "minvalue", "no", "nocache", "nocycle",
    "nomaxvalue", "nominvalue", "restart", "start", "with",
];
