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
                    Keyword::Update => StatementKind::Update(Box::new(self.update(with)?)),
                    Keyword::Delete => StatementKind::Delete(Box::new(self.delete(with)?)),
                    _ => StatementKind::Query(Box::new(self.query_behind_with(start, with)?)),
                }
            }
            Keyword::Insert | Keyword::Replace => StatementKind::Insert(Box::new(self.insert()?)),
            Keyword::Update => StatementKind::Update(Box::new(self.update(None)?)),
            Keyword::Delete => StatementKind::Delete(Box::new(self.delete(None)?)),
            Keyword::Load if matches!(self.word_at(1), Keyword::Data | Keyword::Xml) => {
                StatementKind::LoadData(Box::new(self.load_data()?))
            }
            _ if self.starts_query_at(0) || self.kind() == Kind::LParen => {
                StatementKind::Query(Box::new(self.query()?))
            }
            _ => return self.fail(),
        })
    }
}
