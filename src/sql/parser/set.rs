//! SET in its many forms.

use super::super::ast::*;
use super::super::{Keyword, Kind, Span};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    pub(super) fn set(&mut self) -> Result<StatementKind> {
        self.expect_word(Keyword::Set)?;
        if self.is_mariadb() && self.is(Keyword::Statement) && self.kind_at(1) != Kind::Eq {
            self.bump();
            let assignments = self.list(Self::assignment)?;
            self.expect_word(Keyword::For)?;
            let body = Box::new(self.statement()?);
            return Ok(StatementKind::SetStatement { assignments, body });
        }
        Ok(StatementKind::Set(self.list(Self::assignment)?))
    }

    fn assignment(&mut self) -> Result<Assignment> {
        let start = self.at;
        let kind = self.assignment_kind()?;
        Ok(Assignment { span: self.since(start), kind })
    }

    fn assignment_kind(&mut self) -> Result<AssignmentKind> {
        match self.kind() {
            Kind::UserVar => {
                let name = self.bump();
                self.equals()?;
                return Ok(AssignmentKind::UserVar { name, value: self.expr()? });
            }
            Kind::SysVar => {
                let SysVar { scope, name, qualifier } = self.system_variable()?;
                self.equals()?;
                return Ok(AssignmentKind::SysVar { scope, qualifier, name, value: self.setting()? });
            }
            _ => {}
        }
        let next_is_equals = matches!(self.kind_at(1), Kind::Eq | Kind::Assign | Kind::Dot);
        if !next_is_equals {
            match self.word() {
                Keyword::Names => return self.names(),
                Keyword::Character | Keyword::Char if self.word_at(1) == Keyword::Set => {
                    self.at += 2;
                    return Ok(AssignmentKind::CharacterSet(self.charset_or_default()?));
                }
                Keyword::Charset => {
                    self.bump();
                    return Ok(AssignmentKind::CharacterSet(self.charset_or_default()?));
                }
                Keyword::Transaction => return self.transaction(None),
                Keyword::Password => return self.unread(AssignmentKind::Password),
                Keyword::Role => return self.unread(AssignmentKind::Role),
                Keyword::Default if self.word_at(1) == Keyword::Role => return self.unread(AssignmentKind::Role),
                Keyword::Resource => return self.unread(AssignmentKind::ResourceGroup),
                _ => {}
            }
        } else if self.is(Keyword::Password) && self.kind_at(1) == Kind::Eq {
            return self.unread(AssignmentKind::Password);
        }
        let scope = if next_is_equals { None } else { self.scope() };
        if scope.is_some() && self.is(Keyword::Transaction) {
            return self.transaction(scope);
        }
        let mut name = self.name()?;
        let mut qualifier = None;
        if self.eat(Kind::Dot) {
            qualifier = Some(name);
            name = self.name_after_dot()?;
        }
        self.equals()?;
        Ok(AssignmentKind::SysVar { scope, qualifier, name, value: self.setting()? })
    }

    fn equals(&mut self) -> Result<()> {
        if self.eat(Kind::Eq) || self.eat(Kind::Assign) { Ok(()) } else { self.fail() }
    }

    /// SESSION, LOCAL, GLOBAL … in front of a name.
    pub(super) fn scope(&mut self) -> Option<Scope> {
        let scope = match self.word() {
            Keyword::Session | Keyword::Local => Scope::Session,
            Keyword::Global => Scope::Global,
            Keyword::Persist if !self.is_mariadb() => Scope::Persist,
            Keyword::PersistOnly if !self.is_mariadb() => Scope::PersistOnly,
            _ => return None,
        };
        self.bump();
        Some(scope)
    }

    /// An expression, DEFAULT, or one of the words that stand for a value though reserved.
    fn setting(&mut self) -> Result<Expr> {
        if matches!(self.word(), Keyword::On | Keyword::All | Keyword::Binary | Keyword::Row | Keyword::System)
            && self.kind_at(1) != Kind::LParen
        {
            let start = self.at;
            let column = self.bump();
            let column = ColumnRef { span: Span::new(start, self.at), db: None, table: None, column };
            return Ok(self.node(start, ExprKind::Column(column)));
        }
        self.expr()
    }

    fn names(&mut self) -> Result<AssignmentKind> {
        self.bump();
        let charset = self.charset_or_default()?;
        let collation = if self.eat_word(Keyword::Collate) { Some(self.collation_name()?) } else { None };
        Ok(AssignmentKind::Names { charset, collation })
    }

    fn charset_or_default(&mut self) -> Result<Option<Name>> {
        if self.eat_word(Keyword::Default) { Ok(None) } else { self.charset_name().map(Some) }
    }

    fn transaction(&mut self, scope: Option<Scope>) -> Result<AssignmentKind> {
        self.bump();
        let (mut isolation, mut access) = (None, None);
        loop {
            if self.eat_words(&[Keyword::Isolation, Keyword::Level]) {
                isolation = Some(self.isolation()?);
            } else {
                access = Some(self.access()?);
            }
            if !self.eat(Kind::Comma) {
                return Ok(AssignmentKind::Transaction { scope, isolation, access });
            }
        }
    }

    fn isolation(&mut self) -> Result<Isolation> {
        if self.eat_words(&[Keyword::Read, Keyword::Uncommitted]) {
            Ok(Isolation::ReadUncommitted)
        } else if self.eat_words(&[Keyword::Read, Keyword::Committed]) {
            Ok(Isolation::ReadCommitted)
        } else if self.eat_words(&[Keyword::Repeatable, Keyword::Read]) {
            Ok(Isolation::RepeatableRead)
        } else if self.eat_word(Keyword::Serializable) {
            Ok(Isolation::Serializable)
        } else {
            self.fail()
        }
    }

    /// READ ONLY, READ WRITE.
    pub(super) fn access(&mut self) -> Result<Access> {
        if self.eat_words(&[Keyword::Read, Keyword::Only]) {
            Ok(Access::ReadOnly)
        } else if self.eat_words(&[Keyword::Read, Keyword::Write]) {
            Ok(Access::ReadWrite)
        } else {
            self.fail()
        }
    }

    fn unread(&mut self, kind: AssignmentKind) -> Result<AssignmentKind> {
        self.skip_rest()?;
        Ok(kind)
    }
}
