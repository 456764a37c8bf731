//! CREATE, ALTER and DROP of what is no table: databases, views, and things known by kind and name.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    pub(super) fn create(&mut self) -> Result<StatementKind> {
        self.bump();
        let or_replace = self.eat_words(&[Keyword::Or, Keyword::Replace]);
        if or_replace && !self.is_mariadb() {
            return self.object(Action::Create); // of a view
        }
        match self.word() {
            Keyword::Temporary => {
                self.bump();
                self.expect_word(Keyword::Table)?;
                Ok(StatementKind::CreateTable(Box::new(self.create_table(or_replace, true)?)))
            }
            Keyword::Table => {
                self.bump();
                Ok(StatementKind::CreateTable(Box::new(self.create_table(or_replace, false)?)))
            }
            Keyword::Unique | Keyword::Fulltext | Keyword::Index | Keyword::Online => {
                Ok(StatementKind::CreateIndex(Box::new(self.create_index(or_replace)?)))
            }
            Keyword::Spatial | Keyword::Vector if self.word_at(1) == Keyword::Index => {
                Ok(StatementKind::CreateIndex(Box::new(self.create_index(or_replace)?)))
            }
            Keyword::Database | Keyword::Schema => self.database(Action::Create),
            _ => self.object(Action::Create),
        }
    }

    pub(super) fn alter(&mut self) -> Result<StatementKind> {
        self.bump();
        match self.word() {
            Keyword::Table | Keyword::Online | Keyword::Ignore => {
                Ok(StatementKind::AlterTable(Box::new(self.alter_table()?)))
            }
            Keyword::Database | Keyword::Schema => self.database(Action::Alter),
            _ => self.object(Action::Alter),
        }
    }

    pub(super) fn drop(&mut self) -> Result<StatementKind> {
        self.bump();
        match self.word() {
            Keyword::Temporary | Keyword::Table | Keyword::Tables => {
                let temporary = self.eat_word(Keyword::Temporary);
                if self.eat_one_of(&[Keyword::Table, Keyword::Tables]).is_none() {
                    return self.fail();
                }
                let if_exists = self.if_exists();
                let tables = self.table_names()?;
                self.drop_end()?;
                Ok(StatementKind::DropTable(DropTable { temporary, if_exists, tables }))
            }
            Keyword::Index => {
                self.bump();
                let if_exists = self.if_exists();
                let name = if self.is(Keyword::Primary) { self.bump() } else { self.name()? };
                self.expect_word(Keyword::On)?;
                let table = self.table_name()?;
                Ok(StatementKind::DropIndex(DropIndex { if_exists, name, table, options: self.skip_rest()? }))
            }
            Keyword::Database | Keyword::Schema => self.database(Action::Drop),
            Keyword::Prepare => {
                self.bump();
                self.name().map(StatementKind::Deallocate)
            }
            _ => self.object(Action::Drop),
        }
    }

    fn drop_end(&mut self) -> Result<()> {
        if self.eat_word(Keyword::Wait) {
            self.limit_value()?;
        } else {
            self.eat_word(Keyword::Nowait);
        }
        self.eat_one_of(&[Keyword::Restrict, Keyword::Cascade]);
        Ok(())
    }

    fn database(&mut self, action: Action) -> Result<StatementKind> {
        self.bump();
        let conditional = self.if_exists() || self.if_not_exists();
        let options_follow = matches!(
            self.word(),
            Keyword::Character | Keyword::Charset | Keyword::Collate | Keyword::Default | Keyword::Read
        );
        let nameless = action == Action::Alter && options_follow;
        let name = if nameless { None } else { Some(self.name()?) };
        let options = if action == Action::Drop { self.empty() } else { self.skip_rest()? };
        Ok(StatementKind::Database(DatabaseDdl { action, conditional, name, options }))
    }

    fn object(&mut self, action: Action) -> Result<StatementKind> {
        self.view_prelude()?;
        let aggregate = self.eat_word(Keyword::Aggregate);
        let kind = match self.word() {
            Keyword::View => ObjectKind::View,
            Keyword::Procedure => ObjectKind::Procedure,
            Keyword::Function => ObjectKind::Function,
            Keyword::Trigger => ObjectKind::Trigger,
            Keyword::Event => ObjectKind::Event,
            Keyword::Sequence if self.is_mariadb() => ObjectKind::Sequence,
            Keyword::User => ObjectKind::User,
            Keyword::Role => ObjectKind::Role,
            Keyword::Server
            | Keyword::Tablespace
            | Keyword::Logfile
            | Keyword::Instance
            | Keyword::Package
            | Keyword::Resource
            | Keyword::Undo
            | Keyword::Spatial
            | Keyword::Library => ObjectKind::Server,
            _ => return self.fail(),
        };
        if aggregate && kind != ObjectKind::Function {
            return self.fail();
        }
        self.bump();
        let mut object =
            ObjectDdl { action, kind, names: Vec::new(), table: None, view: None, routine: None, rest: self.empty() };
        match kind {
            ObjectKind::User | ObjectKind::Role | ObjectKind::Server => {}
            ObjectKind::View
            | ObjectKind::Procedure
            | ObjectKind::Function
            | ObjectKind::Trigger
            | ObjectKind::Event
            | ObjectKind::Sequence => self.object_name(&mut object)?,
        }
        let dropped = action == Action::Drop && !object.names.is_empty();
        if dropped {
            self.eat_one_of(&[Keyword::Restrict, Keyword::Cascade]);
        } else if object.view.is_none() {
            let start = self.at;
            object.routine = self.readable_routine(&object);
            self.at = start;
            object.rest = self.object_rest(object.routine.is_some())?;
        }
        Ok(StatementKind::Object(object))
    }

    /// `ALGORITHM = x`, `DEFINER = account`, `SQL SECURITY x` in front of the kind.
    fn view_prelude(&mut self) -> Result<()> {
        loop {
            if self.eat_word(Keyword::Algorithm) {
                self.expect(Kind::Eq)?;
                self.name()?;
            } else if self.eat_word(Keyword::Definer) {
                self.expect(Kind::Eq)?;
                self.account()?;
            } else if self.eat_words(&[Keyword::Sql, Keyword::Security]) {
                self.name()?;
            } else {
                return Ok(());
            }
        }
    }

    /// `'a'@'%'`, `a`, CURRENT_USER.
    pub(super) fn account(&mut self) -> Result<()> {
        if self.eat_one_of(&[Keyword::CurrentUser, Keyword::CurrentRole]).is_some() {
            if self.eat(Kind::LParen) {
                self.expect(Kind::RParen)?;
            }
            return Ok(());
        }
        self.name_or_string()?;
        self.eat(Kind::UserVar);
        Ok(())
    }

    fn object_name(&mut self, object: &mut ObjectDdl) -> Result<()> {
        if !self.if_exists() {
            self.if_not_exists();
        }
        object.names.push(self.table_name()?);
        while object.action == Action::Drop && self.eat(Kind::Comma) {
            object.names.push(self.table_name()?);
        }
        if object.kind == ObjectKind::View && object.action != Action::Drop {
            let columns = self.optional_names()?;
            self.expect_word(Keyword::As)?;
            let query = self.query()?;
            object.view = Some(Box::new(ViewDef { columns, query }));
            object.rest = self.empty();
            if self.eat_word(Keyword::With) {
                self.eat_one_of(&[Keyword::Cascaded, Keyword::Local]);
                self.expect_word(Keyword::Check)?;
                self.expect_word(Keyword::Option)?;
            }
            object.rest.end = self.at;
        }
        if object.kind == ObjectKind::Trigger && object.action == Action::Create {
            while !self.eat_word(Keyword::On) {
                if self.kind() != Kind::Word {
                    return self.fail();
                }
                self.bump();
            }
            object.table = Some(self.table_name()?);
        }
        Ok(())
    }

    /// `None`: nothing can be said of the body, if there is one.
    fn readable_routine(&mut self, object: &ObjectDdl) -> Option<Box<Routine>> {
        let has_body = matches!(object.kind, ObjectKind::Procedure | ObjectKind::Function | ObjectKind::Trigger);
        if !has_body || object.action != Action::Create {
            return None;
        }
        let routine = self.routine(object.kind).ok()?;
        (self.kind() == Kind::End).then(|| Box::new(routine))
    }

    /// What follows, unread. A body with BEGIN has `;` in it and takes the whole text.
    fn object_rest(&mut self, is_read: bool) -> Result<super::super::Span> {
        let start = self.at;
        let to_end = self.source.tokens.len() as u32; // the lexer saw to it that positions fit
        let has_body = |span: std::ops::Range<u32>| span.into_iter().any(|t| self.source.keyword(t) == Keyword::Begin);
        let first_end = (start..to_end).find(|&t| self.source.kind(t) == Kind::Semicolon).unwrap_or(to_end);
        if !is_read && !has_body(start..first_end) {
            return self.skip_rest();
        }
        self.at = to_end;
        while self.at > start && self.source.kind(self.at - 1) == Kind::Semicolon {
            self.at -= 1;
        }
        if self.source.tokens.last().is_some_and(|t| t.kind == Kind::Bad) {
            self.at = to_end - 1;
            return self.fail();
        }
        Ok(self.since(start))
    }
}
