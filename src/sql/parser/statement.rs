//! Which statement it is, by its first words.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    pub(super) fn statement(&mut self) -> Result<Statement> {
        let start = self.at;
        let kind = self.nested(|p| p.statement_kind())?;
        Ok(Statement { span: self.since(start), kind })
    }

    fn statement_kind(&mut self) -> Result<StatementKind> {
        Ok(match self.word() {
            Keyword::With => {
                let start = self.at;
                let with = self.with()?;
                match self.word() {
                    Keyword::Update if !self.is_mariadb() => StatementKind::Update(Box::new(self.update(with)?)),
                    Keyword::Delete if !self.is_mariadb() => StatementKind::Delete(Box::new(self.delete(with)?)),
                    _ => StatementKind::Query(Box::new(self.query_behind_with(start, with)?)),
                }
            }
            Keyword::Insert | Keyword::Replace => StatementKind::Insert(Box::new(self.insert()?)),
            Keyword::Update => StatementKind::Update(Box::new(self.update(None)?)),
            Keyword::Delete => StatementKind::Delete(Box::new(self.delete(None)?)),
            Keyword::Load if matches!(self.word_at(1), Keyword::Data | Keyword::Xml) => {
                StatementKind::LoadData(Box::new(self.load_data()?))
            }
            Keyword::Create => self.create()?,
            Keyword::Alter => self.alter()?,
            Keyword::Drop => self.drop()?,
            Keyword::Truncate => self.truncate()?,
            Keyword::Rename => self.rename()?,
            Keyword::Set => self.set()?,
            Keyword::Show => StatementKind::Show(Box::new(self.show()?)),
            Keyword::Explain | Keyword::Describe | Keyword::Desc => self.explain()?,
            Keyword::Use => {
                self.bump();
                StatementKind::Use(self.name()?)
            }
            Keyword::Begin => self.begin()?,
            Keyword::Start => self.start()?,
            Keyword::Commit => self.commit()?,
            Keyword::Rollback => self.rollback()?,
            Keyword::Savepoint => self.savepoint()?,
            Keyword::Release => self.release()?,
            Keyword::Xa => self.xa()?,
            Keyword::Lock => self.lock()?,
            Keyword::Unlock => self.unlock()?,
            Keyword::Flush => self.flush()?,
            Keyword::Kill => self.kill()?,
            Keyword::Call => self.call_routine()?,
            Keyword::Do => self.do_()?,
            Keyword::Handler => self.handler()?,
            Keyword::Prepare => self.prepare()?,
            Keyword::Execute => self.execute()?,
            Keyword::Deallocate => self.deallocate()?,
            Keyword::Analyze | Keyword::Check | Keyword::Checksum | Keyword::Optimize | Keyword::Repair => {
                self.maintain()?
            }
            _ => match self.other_kind() {
                Some(kind) => self.other(kind)?,
                None => self.query_or_fail()?,
            },
        })
    }

    fn query_or_fail(&mut self) -> Result<StatementKind> {
        match self.starts_query_at(0) || self.kind() == Kind::LParen {
            true => Ok(StatementKind::Query(Box::new(self.query()?))),
            false => self.fail(),
        }
    }

    fn other_kind(&self) -> Option<OtherKind> {
        Some(match self.word() {
            Keyword::Grant => OtherKind::Grant,
            Keyword::Revoke => OtherKind::Revoke,
            Keyword::Reset => OtherKind::Reset,
            Keyword::Purge | Keyword::Change | Keyword::Stop | Keyword::Binlog | Keyword::Clone => {
                OtherKind::Replication
            }
            Keyword::Shutdown
            | Keyword::Restart
            | Keyword::Install
            | Keyword::Uninstall
            | Keyword::Cache
            | Keyword::Import
            | Keyword::Backup
            | Keyword::Load => OtherKind::Server,
            Keyword::Help => OtherKind::Help,
            Keyword::Signal | Keyword::Resignal | Keyword::Get => OtherKind::Diagnostics,
            _ => return None,
        })
    }
}
