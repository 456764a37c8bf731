//! Transactions, locks, prepared text, and what concerns the server.

use super::super::ast::*;
use super::super::{Keyword, Kind, Span};
use super::Parser;
use crate::error::{Error, Result};

impl Parser<'_, '_> {
    pub(super) fn begin(&mut self) -> Result<StatementKind> {
        self.bump();
        if self.is(Keyword::Not) {
            return self.other(OtherKind::Compound);
        }
        self.eat_word(Keyword::Work);
        Ok(StatementKind::Transaction(Transaction::Start { consistent_snapshot: false, access: None }))
    }

    /// START TRANSACTION, START REPLICA …
    pub(super) fn start(&mut self) -> Result<StatementKind> {
        self.bump();
        if matches!(self.word(), Keyword::Replica | Keyword::Slave | Keyword::All | Keyword::GroupReplication) {
            return self.other(OtherKind::Replication);
        }
        self.expect_word(Keyword::Transaction)?;
        let (mut consistent_snapshot, mut access) = (false, None);
        if self.is_end() {
            return Ok(StatementKind::Transaction(Transaction::Start { consistent_snapshot, access }));
        }
        loop {
            if self.eat_words(&[Keyword::With, Keyword::Consistent, Keyword::Snapshot]) {
                consistent_snapshot = true;
            } else {
                access = Some(self.access()?);
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(StatementKind::Transaction(Transaction::Start { consistent_snapshot, access }))
    }

    pub(super) fn commit(&mut self) -> Result<StatementKind> {
        self.bump();
        self.completion().map(|c| StatementKind::Transaction(Transaction::Commit(c)))
    }

    pub(super) fn rollback(&mut self) -> Result<StatementKind> {
        self.bump();
        self.eat_word(Keyword::Work);
        if self.eat_word(Keyword::To) {
            self.eat_word(Keyword::Savepoint);
            return self.name().map(|n| StatementKind::Transaction(Transaction::RollbackTo(n)));
        }
        self.completion().map(|c| StatementKind::Transaction(Transaction::Rollback(c)))
    }

    fn completion(&mut self) -> Result<Completion> {
        self.eat_word(Keyword::Work);
        let mut completion = Completion::default();
        if self.eat_word(Keyword::And) {
            completion.chain = Some(!self.eat_word(Keyword::No));
            self.expect_word(Keyword::Chain)?;
        }
        if self.is(Keyword::Release) || self.are(&[Keyword::No, Keyword::Release]) {
            completion.release = Some(!self.eat_word(Keyword::No));
            self.bump();
        }
        if completion == (Completion { chain: Some(true), release: Some(true) }) {
            self.at -= 1;
            return self.fail();
        }
        Ok(completion)
    }

    pub(super) fn savepoint(&mut self) -> Result<StatementKind> {
        self.bump();
        self.name().map(|n| StatementKind::Transaction(Transaction::Savepoint(n)))
    }

    pub(super) fn release(&mut self) -> Result<StatementKind> {
        self.bump();
        self.expect_word(Keyword::Savepoint)?;
        self.name().map(|n| StatementKind::Transaction(Transaction::Release(n)))
    }

    pub(super) fn xa(&mut self) -> Result<StatementKind> {
        self.bump();
        let verb = match self.word() {
            Keyword::Start | Keyword::Begin => XaVerb::Start,
            Keyword::End => XaVerb::End,
            Keyword::Prepare => XaVerb::Prepare,
            Keyword::Commit => XaVerb::Commit,
            Keyword::Rollback => XaVerb::Rollback,
            Keyword::Recover => XaVerb::Recover,
            _ => return self.fail(),
        };
        self.bump();
        let xid = self.at;
        while matches!(self.kind(), Kind::String | Kind::Hex | Kind::Bit | Kind::Comma | Kind::Int) {
            self.bump();
        }
        let xid = self.since(xid);
        if (verb == XaVerb::Recover) != xid.is_empty() {
            return self.fail();
        }
        Ok(StatementKind::Xa(Xa { verb, xid, rest: self.skip_rest()? }))
    }

    pub(super) fn lock(&mut self) -> Result<StatementKind> {
        self.bump();
        match self.eat_one_of(&[Keyword::Table, Keyword::Tables]) {
            Some(_) => {
                let tables = self.list(Self::lock_table)?;
                if self.eat_word(Keyword::Wait) {
                    self.limit_value()?;
                } else {
                    self.eat_word(Keyword::Nowait);
                }
                Ok(StatementKind::LockTables(tables))
            }
            None if self.is(Keyword::Instance) => self.other(OtherKind::Server),
            None => self.fail(),
        }
    }

    fn lock_table(&mut self) -> Result<LockTable> {
        let start = self.at;
        let table = self.table_name()?;
        let alias = self.table_alias()?;
        let write = if self.eat_word(Keyword::Read) {
            self.eat_word(Keyword::Local);
            false
        } else {
            if self.is_mariadb() {
                self.eat_one_of(&[Keyword::LowPriority, Keyword::Concurrent]);
            }
            self.expect_word(Keyword::Write)?;
            true
        };
        Ok(LockTable { span: self.since(start), table, alias, write })
    }

    pub(super) fn unlock(&mut self) -> Result<StatementKind> {
        self.bump();
        match self.eat_one_of(&[Keyword::Table, Keyword::Tables]) {
            Some(_) => Ok(StatementKind::UnlockTables),
            None if self.is(Keyword::Instance) => self.other(OtherKind::Server),
            None => self.fail(),
        }
    }

    pub(super) fn flush(&mut self) -> Result<StatementKind> {
        self.bump();
        self.eat_one_of(&[Keyword::Local, Keyword::NoWriteToBinlog]);
        let mut flush = Flush { kind: FlushKind::Other, tables: Vec::new(), locks: false };
        if self.eat_one_of(&[Keyword::Table, Keyword::Tables]).is_some() {
            flush.kind = FlushKind::Tables;
            if self.is_name() {
                flush.tables = self.table_names()?;
            }
            if self.eat_words(&[Keyword::With, Keyword::Read, Keyword::Lock]) {
                flush.locks = true;
                self.eat_words(&[Keyword::And, Keyword::Disable, Keyword::Checkpoint]);
            } else if self.eat_words(&[Keyword::For, Keyword::Export]) {
                flush.locks = true;
            }
            return Ok(StatementKind::Flush(flush));
        }
        if self.is(Keyword::Privileges) && self.kind_at(1) != Kind::Comma {
            self.bump();
            flush.kind = FlushKind::Privileges;
            return Ok(StatementKind::Flush(flush));
        }
        if self.skip_rest()?.is_empty() {
            return self.fail();
        }
        Ok(StatementKind::Flush(flush))
    }

    pub(super) fn kill(&mut self) -> Result<StatementKind> {
        self.bump();
        self.eat_one_of(&[Keyword::Hard, Keyword::Soft]);
        let kind = self.eat_one_of(&[Keyword::Connection, Keyword::Query]);
        let query_only = kind == Some(Keyword::Query);
        let other = self.is(Keyword::User) || (query_only && self.are(&[Keyword::Id]));
        if other && self.kind_at(1) != Kind::LParen {
            self.skip_rest()?;
            return Ok(StatementKind::Kill(Kill { query_only, thread: None }));
        }
        Ok(StatementKind::Kill(Kill { query_only, thread: Some(self.expr()?) }))
    }

    pub(super) fn call_routine(&mut self) -> Result<StatementKind> {
        self.bump();
        let routine = self.table_name()?;
        let mut args = Vec::new();
        if self.eat(Kind::LParen) {
            if self.kind() != Kind::RParen {
                args = self.exprs()?;
            }
            self.expect(Kind::RParen)?;
        }
        Ok(StatementKind::Call { routine, args })
    }

    pub(super) fn do_(&mut self) -> Result<StatementKind> {
        self.bump();
        self.exprs().map(StatementKind::Do)
    }

    pub(super) fn handler(&mut self) -> Result<StatementKind> {
        self.bump();
        let table = self.table_name()?;
        if !matches!(self.word(), Keyword::Open | Keyword::Read | Keyword::Close) {
            return self.fail();
        }
        Ok(StatementKind::Handler { table, rest: self.skip_rest()? })
    }

    pub(super) fn prepare(&mut self) -> Result<StatementKind> {
        self.bump();
        let name = self.name()?;
        self.expect_word(Keyword::From)?;
        let start = self.at;
        let from = match self.kind() {
            Kind::UserVar => PrepareFrom::Variable(self.bump()),
            kind if kind != Kind::String && self.is_mariadb() => {
                return Err(Error::refused(
                    "PREPARE from an expression is not supported; put the text in a variable first",
                ));
            }
            _ => {
                self.string()?;
                while self.is_mariadb() && self.eat(Kind::String) {}
                PrepareFrom::Text(Span::new(start, self.at))
            }
        };
        Ok(StatementKind::Prepare { name, from })
    }

    pub(super) fn execute(&mut self) -> Result<StatementKind> {
        self.bump();
        if self.is_mariadb() && self.is(Keyword::Immediate) && !matches!(self.kind_at(1), Kind::End | Kind::Semicolon) {
            self.bump();
            let text = self.expr()?;
            return Ok(StatementKind::ExecuteImmediate { text, using: self.using()? });
        }
        let name = self.name()?;
        Ok(StatementKind::Execute { name, using: self.using()? })
    }

    fn using(&mut self) -> Result<Vec<Expr>> {
        if self.eat_word(Keyword::Using) { self.exprs() } else { Ok(Vec::new()) }
    }

    pub(super) fn deallocate(&mut self) -> Result<StatementKind> {
        self.bump();
        self.expect_word(Keyword::Prepare)?;
        self.name().map(StatementKind::Deallocate)
    }

    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR; ANALYZE may be MariaDB's of a statement.
    pub(super) fn maintain(&mut self) -> Result<StatementKind> {
        let verb = match self.word() {
            Keyword::Analyze => MaintainVerb::Analyze,
            Keyword::Check => MaintainVerb::Check,
            Keyword::Checksum => MaintainVerb::Checksum,
            Keyword::Optimize => MaintainVerb::Optimize,
            _ => MaintainVerb::Repair,
        };
        let logged = matches!(self.word_at(1), Keyword::NoWriteToBinlog | Keyword::Local);
        let table = matches!(self.word_at(1 + u32::from(logged)), Keyword::Table | Keyword::Tables);
        if verb == MaintainVerb::Analyze && !table && self.is_mariadb() {
            return self.analyze_statement();
        }
        if !table {
            return self.fail();
        }
        self.at += 2 + u32::from(logged);
        let tables = self.table_names()?;
        Ok(StatementKind::Maintain(Maintain { verb, tables, rest: self.skip_rest()? }))
    }

    pub(super) fn rename(&mut self) -> Result<StatementKind> {
        self.bump();
        if self.is(Keyword::User) {
            return self.other(OtherKind::RenameUser);
        }
        if self.eat_one_of(&[Keyword::Table, Keyword::Tables]).is_none() {
            return self.fail();
        }
        self.if_exists();
        let pairs = self.list(|p| {
            let from = p.table_name()?;
            if p.eat_word(Keyword::Wait) {
                p.limit_value()?;
            } else {
                p.eat_word(Keyword::Nowait);
            }
            p.expect_word(Keyword::To)?;
            Ok(RenamePair { from, to: p.table_name()? })
        })?;
        Ok(StatementKind::RenameTable(pairs))
    }

    pub(super) fn truncate(&mut self) -> Result<StatementKind> {
        self.bump();
        self.eat_word(Keyword::Table);
        let table = self.table_name()?;
        if self.eat_word(Keyword::Wait) {
            self.limit_value()?;
        } else {
            self.eat_word(Keyword::Nowait);
        }
        Ok(StatementKind::Truncate(table))
    }

    /// Known by its first words; the rest unread.
    pub(super) fn other(&mut self, kind: OtherKind) -> Result<StatementKind> {
        Ok(StatementKind::Other(Other { kind, rest: self.skip_rest()? }))
    }
}
