//! Transactions: the tree's words become the session's.

use super::{Access, Completion, Local, Savepoint, Transaction};
use crate::sql::ast::{self, Name};
use crate::sql::{Source, literal};

pub(super) fn plan(source: &Source<'_>, statement: &ast::Transaction) -> Local {
    let savepoint = |name: Name| Savepoint(literal::name(source, name).as_ref().into());
    Local::Transaction(match statement {
        ast::Transaction::Start { consistent_snapshot, access } => {
            Transaction::Begin { snapshot: *consistent_snapshot, access: access.map(self::access) }
        }
        ast::Transaction::Commit(how) => Transaction::Commit(completion(*how)),
        ast::Transaction::Rollback(how) => Transaction::Rollback(completion(*how)),
        ast::Transaction::RollbackTo(name) => Transaction::RollbackTo(savepoint(*name)),
        ast::Transaction::Savepoint(name) => Transaction::Savepoint(savepoint(*name)),
        ast::Transaction::Release(name) => Transaction::Release(savepoint(*name)),
    })
}

pub(super) fn access(access: ast::Access) -> Access {
    match access {
        ast::Access::ReadOnly => Access::ReadOnly,
        ast::Access::ReadWrite => Access::ReadWrite,
    }
}

/// What is left out is NO: a session can't set `completion_type` to anything else.
fn completion(how: ast::Completion) -> Completion {
    Completion { chain: how.chain == Some(true), release: how.release == Some(true) }
}
