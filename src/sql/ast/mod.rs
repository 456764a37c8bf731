//! What the parser makes of a statement. Nodes carry token ranges and token numbers, never text:
//! names and values are read from the `Source`, and a rewrite splices around tokens.

mod admin;
mod ddl;
mod expr;
mod query;
mod write;

pub use admin::*;
pub use ddl::*;
pub use expr::*;
pub use query::*;
pub use write::*;

use super::Span;

/// The token of an identifier; of a string where MySQL takes one for a name (aliases).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(pub u32);

/// `t` or `db.t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableName {
    pub span: Span,
    pub db: Option<Name>,
    pub name: Name,
}

/// One statement; `span` ends before the `;`.
#[derive(Clone, Debug)]
pub struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    /// SELECT, VALUES, TABLE, WITH … and their unions.
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    LoadData(Box<LoadData>),

    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTable(DropTable),
    Truncate(TableName),
    RenameTable(Vec<RenamePair>),
    CreateIndex(Box<CreateIndex>),
    DropIndex(DropIndex),
    Database(DatabaseDdl),
    /// CREATE, ALTER, DROP of everything else: views, routines, triggers, events, accounts …
    Object(ObjectDdl),

    Set(Vec<Assignment>),
    /// MariaDB's `SET STATEMENT x = 1 FOR …`.
    SetStatement {
        assignments: Vec<Assignment>,
        body: Box<Statement>,
    },
    Show(Box<Show>),
    /// `DESCRIBE t [column | 'pattern']`.
    Describe {
        table: TableName,
        column: Option<Name>,
    },
    Explain(Box<Explain>),
    Use(Name),
    Transaction(Transaction),
    Xa(Xa),
    LockTables(Vec<LockTable>),
    UnlockTables,
    Flush(Flush),
    Kill(Kill),
    Call {
        routine: TableName,
        args: Vec<Expr>,
    },
    Do(Vec<Expr>),
    Handler {
        table: TableName,
        rest: Span,
    },
    Prepare {
        name: Name,
        from: PrepareFrom,
    },
    Execute {
        name: Name,
        using: Vec<Expr>,
    },
    /// MariaDB's EXECUTE IMMEDIATE.
    ExecuteImmediate {
        text: Expr,
        using: Vec<Expr>,
    },
    Deallocate(Name),
    Maintain(Maintain),
    /// Known by its first words, of no use behind a proxy: GRANT, CHANGE MASTER, SHUTDOWN …
    Other(Other),
}
