//! Statements that define things.

use super::{ColumnRef, Expr, Name, Query, Statement, TableName};
use crate::sql::Span;

#[derive(Clone, Debug)]
pub struct CreateTable {
    pub or_replace: bool,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub table: TableName,
    /// `LIKE t`, `(LIKE t)`.
    pub like: Option<TableName>,
    /// `(columns, keys)` with its parentheses.
    pub elements_span: Option<Span>,
    pub elements: Vec<TableElement>,
    /// ENGINE, CHARSET … up to PARTITION BY or the query.
    pub options: Vec<TableOption>,
    /// From PARTITION BY on.
    pub partition: Option<Span>,
    /// `[IGNORE | REPLACE] [AS] SELECT …`.
    pub query: Option<Box<Query>>,
}

/// What stands between the commas of CREATE TABLE.
#[derive(Clone, Debug)]
pub enum TableElement {
    Column(Box<ColumnDef>),
    Key(Box<KeyDef>),
    Check(CheckDef),
    /// MariaDB's `PERIOD FOR …`, not read.
    Period(Span),
}

#[derive(Clone, Debug)]
pub struct ColumnDef {
    pub span: Span,
    pub name: Name,
    /// `INT(10) UNSIGNED`, `VARCHAR(64) CHARACTER SET latin1`: the type with its own words.
    pub data_type: Span,
    pub attributes: Vec<ColumnAttribute>,
}

#[derive(Clone, Debug)]
pub struct ColumnAttribute {
    pub span: Span,
    pub kind: ColumnAttributeKind,
}

#[derive(Clone, Debug)]
pub enum ColumnAttributeKind {
    Null,
    NotNull,
    /// `DEFAULT e`.
    Default(Expr),
    /// `ON UPDATE CURRENT_TIMESTAMP`.
    OnUpdate,
    AutoIncrement,
    PrimaryKey,
    Unique,
    Comment(Name),
    Collate(Name),
    /// `[GENERATED ALWAYS] AS (e)`; `false` for MariaDB's GENERATED AS ROW START.
    Generated {
        expr: Option<Expr>,
        stored: bool,
    },
    /// `[CONSTRAINT c] CHECK (e)`.
    Check(CheckDef),
    /// `REFERENCES t (c)` at a column (MySQL before 9 ignored it).
    References(TableName),
    Invisible,
    Visible,
    /// STORAGE, COLUMN_FORMAT, SRID, ENGINE_ATTRIBUTE, COMPRESSED, WITH SYSTEM VERSIONING …
    Other,
}

#[derive(Clone, Debug)]
pub struct CheckDef {
    pub span: Span,
    pub name: Option<Name>,
    pub expr: Expr,
}

#[derive(Clone, Debug)]
pub struct KeyDef {
    pub span: Span,
    pub kind: KeyKind,
    /// `CONSTRAINT c`.
    pub constraint: Option<Name>,
    pub name: Option<Name>,
    pub parts: Vec<KeyPart>,
    /// Of a foreign key.
    pub references: Option<References>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Primary,
    Unique,
    Index,
    Fulltext,
    Spatial,
    Foreign,
    /// MariaDB and MySQL 9 vector indexes.
    Vector,
}

#[derive(Clone, Debug)]
pub struct KeyPart {
    pub span: Span,
    pub kind: KeyPartKind,
}

#[derive(Clone, Debug)]
pub enum KeyPartKind {
    /// `c`, `c(10)`.
    Column { name: Name, prefix: Option<Name> },
    /// `((e))`.
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct References {
    pub table: TableName,
    pub columns: Vec<Name>,
    pub cascades: bool,
}

#[derive(Clone, Debug)]
pub struct TableOption {
    pub span: Span,
    pub kind: TableOptionKind,
    /// The value's token, where there is one.
    pub value: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableOptionKind {
    Engine,
    AutoIncrement,
    Charset,
    Collate,
    Comment,
    /// DATA DIRECTORY, INDEX DIRECTORY, TABLESPACE: where files lie.
    Location,
    /// `UNION = (t1, t2)` of MERGE tables.
    Union,
    Connection,
    Other,
}

#[derive(Clone, Debug)]
pub struct AlterTable {
    /// MariaDB's ONLINE, and IGNORE.
    pub ignore: bool,
    pub if_exists: bool,
    pub table: TableName,
    pub specs: Vec<AlterSpec>,
    /// PARTITION BY …, REMOVE PARTITIONING at the end.
    pub partition: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct AlterSpec {
    pub span: Span,
    pub kind: AlterSpecKind,
}

#[derive(Clone, Debug)]
pub enum AlterSpecKind {
    /// `ADD [COLUMN] c …`, `ADD (c …, d …)`.
    AddColumns(Vec<TableElement>),
    /// ADD INDEX, PRIMARY KEY, UNIQUE, FOREIGN KEY …
    AddKey(Box<KeyDef>),
    AddCheck(CheckDef),
    Modify(Box<ColumnDef>),
    Change {
        from: Name,
        to: Box<ColumnDef>,
    },
    /// `ALTER [COLUMN] c SET DEFAULT e`, `DROP DEFAULT`, `SET VISIBLE`.
    AlterColumn {
        column: Name,
        default: Option<Expr>,
    },
    DropColumn(Name),
    DropPrimaryKey,
    /// DROP INDEX, DROP KEY.
    DropKey(Name),
    DropForeignKey(Name),
    /// DROP CONSTRAINT, DROP CHECK.
    DropConstraint(Name),
    RenameTable(TableName),
    RenameColumn {
        from: Name,
        to: Name,
    },
    RenameKey {
        from: Name,
        to: Name,
    },
    /// `ALTER INDEX i VISIBLE`, `ALTER CHECK c ENFORCED`.
    AlterKey(Name),
    Option(TableOption),
    /// `CONVERT TO CHARACTER SET …`.
    ConvertCharset,
    /// ALGORITHM, LOCK, WITH VALIDATION, FORCE, DISABLE KEYS …
    Execution,
    OrderBy,
    /// ADD, DROP, TRUNCATE, REORGANIZE … PARTITION, not read; `EXCHANGE PARTITION p WITH TABLE t`
    /// names its table.
    Partition {
        exchange: Option<TableName>,
    },
    /// DISCARD, IMPORT TABLESPACE.
    Tablespace,
    /// ADD, DROP SYSTEM VERSIONING and PERIOD.
    Versioning,
}

#[derive(Clone, Debug)]
pub struct DropTable {
    pub temporary: bool,
    pub if_exists: bool,
    pub tables: Vec<TableName>,
}

#[derive(Clone, Copy, Debug)]
pub struct RenamePair {
    pub from: TableName,
    pub to: TableName,
}

#[derive(Clone, Debug)]
pub struct CreateIndex {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub table: TableName,
    /// As in CREATE TABLE; always with a name.
    pub key: KeyDef,
    /// USING, ALGORITHM, LOCK … after the parts.
    pub options: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct DropIndex {
    pub if_exists: bool,
    pub name: Name,
    pub table: TableName,
    pub options: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct DatabaseDdl {
    pub action: Action,
    /// IF EXISTS, IF NOT EXISTS.
    pub conditional: bool,
    /// Left out in ALTER DATABASE it is the default one.
    pub name: Option<Name>,
    pub options: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Alter,
    Drop,
}

/// Views, routines, triggers, events, sequences, accounts: action, kind and name; the rest as it is.
#[derive(Clone, Debug)]
pub struct ObjectDdl {
    pub action: Action,
    pub kind: ObjectKind,
    /// Of DROP VIEW a list; empty for accounts, roles, servers and the like.
    pub names: Vec<TableName>,
    /// The table of a trigger.
    pub table: Option<TableName>,
    /// Of CREATE and ALTER VIEW.
    pub view: Option<Box<ViewDef>>,
    /// Of CREATE PROCEDURE, FUNCTION and TRIGGER, where the body could be read.
    pub routine: Option<Box<Routine>>,
    /// What follows the name.
    pub rest: Span,
}

/// What a stored routine or a trigger is made of.
#[derive(Clone, Debug, Default)]
pub struct Routine {
    /// Parameters and declared variables.
    pub locals: Vec<Name>,
    /// All statements but those that only lead the way, queries of cursors among them.
    pub statements: Vec<Statement>,
    /// Conditions, defaults, what is returned.
    pub exprs: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub struct ViewDef {
    pub columns: Vec<Name>,
    pub query: Query,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    View,
    Procedure,
    Function,
    Trigger,
    Event,
    Sequence,
    User,
    Role,
    /// SERVER, TABLESPACE, LOGFILE GROUP, RESOURCE GROUP, INSTANCE …: things of the whole server.
    Server,
}

/// A name that a column list or an assignment writes.
pub type Column = ColumnRef;
