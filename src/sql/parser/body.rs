//! Bodies of stored routines and triggers: the statements and expressions in them, one after the
//! other; what surrounds these (BEGIN, IF, loops, handlers) is read and left out of the tree.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    /// From behind a routine's name, or a trigger's table, to the end of its body.
    pub(super) fn routine(&mut self, kind: ObjectKind) -> Result<Routine> {
        let mut routine = Routine::default();
        if kind == ObjectKind::Trigger {
            for word in ["FOR", "EACH", "ROW"] {
                self.expect_text(word)?;
            }
            if self.eat_text("FOLLOWS") || self.eat_text("PRECEDES") {
                self.name()?;
            }
        } else {
            self.parameters(&mut routine)?;
            if kind == ObjectKind::Function {
                self.expect_text("RETURNS")?;
                self.data_type()?;
                self.collation()?;
            }
            self.characteristics()?;
        }
        self.body_statement(&mut routine)?;
        self.eat(Kind::Semicolon);
        Ok(routine)
    }

    fn parameters(&mut self, routine: &mut Routine) -> Result<()> {
        self.expect(Kind::LParen)?;
        while !self.eat(Kind::RParen) {
            self.eat_one_of(&[Keyword::In, Keyword::Out, Keyword::Inout]);
            routine.locals.push(self.name()?);
            self.data_type()?;
            self.collation()?;
            if self.kind() != Kind::RParen {
                self.expect(Kind::Comma)?;
            }
        }
        Ok(())
    }

    fn collation(&mut self) -> Result<()> {
        if self.eat_word(Keyword::Collate) { self.name_or_string().map(drop) } else { Ok(()) }
    }

    /// A body in another language than SQL is not read.
    fn characteristics(&mut self) -> Result<()> {
        loop {
            if self.eat_word(Keyword::Comment) {
                self.string()?;
            } else if self.eat_text("LANGUAGE") {
                self.expect_word(Keyword::Sql)?;
            } else if self.eat_words(&[Keyword::Sql, Keyword::Security]) {
                self.name()?;
            } else if self.eat_word(Keyword::Not) {
                self.expect_word(Keyword::Deterministic)?;
            } else if self.eat_text("CONTAINS") || self.eat_text("NO") {
                self.expect_word(Keyword::Sql)?;
            } else if self.eat_word(Keyword::Reads) || self.eat_word(Keyword::Modifies) {
                self.expect_word(Keyword::Sql)?;
                self.expect_word(Keyword::Data)?;
            } else if !self.eat_word(Keyword::Deterministic) {
                return Ok(());
            }
        }
    }

    fn body_statement(&mut self, routine: &mut Routine) -> Result<()> {
        self.nested(|parser| parser.body_statement_kind(routine))
    }

    fn body_statement_kind(&mut self, routine: &mut Routine) -> Result<()> {
        if self.kind_at(1) == Kind::Colon {
            self.name()?;
            self.bump();
        }
        match self.word() {
            Keyword::Begin => {
                self.bump();
                if self.eat_word(Keyword::Not) {
                    self.expect_text("ATOMIC")?;
                }
                self.body_list(routine)?;
                self.ends(None)
            }
            Keyword::Declare => self.declare(routine),
            Keyword::If => self.if_(routine),
            Keyword::Case => self.case_(routine),
            Keyword::Loop => {
                self.bump();
                self.body_list(routine)?;
                self.ends(Some(Keyword::Loop))
            }
            Keyword::Repeat => {
                self.bump();
                self.body_list(routine)?;
                self.expect_text("UNTIL")?;
                routine.exprs.push(self.expr()?);
                self.ends(Some(Keyword::Repeat))
            }
            Keyword::While => {
                self.bump();
                routine.exprs.push(self.expr()?);
                self.expect_word(Keyword::Do)?;
                self.body_list(routine)?;
                self.ends(Some(Keyword::While))
            }
            Keyword::Leave | Keyword::Iterate => {
                self.bump();
                self.name().map(drop)
            }
            Keyword::Return => {
                self.bump();
                routine.exprs.push(self.expr()?);
                Ok(())
            }
            Keyword::Open | Keyword::Close => {
                self.bump();
                self.name().map(drop)
            }
            Keyword::Fetch => self.fetch_cursor(),
            _ => {
                routine.statements.push(self.statement()?);
                Ok(())
            }
        }
    }

    /// Statements, each with its `;`, up to the word that ends them.
    fn body_list(&mut self, routine: &mut Routine) -> Result<()> {
        while !matches!(self.word(), Keyword::End | Keyword::Else | Keyword::Elseif | Keyword::When)
            && !self.is_text("UNTIL")
        {
            self.body_statement(routine)?;
            self.expect(Kind::Semicolon)?;
        }
        Ok(())
    }

    /// `END`, `END LOOP`, and the label again.
    fn ends(&mut self, word: Option<Keyword>) -> Result<()> {
        self.expect_word(Keyword::End)?;
        if let Some(word) = word {
            self.expect_word(word)?;
        }
        if !self.is_end() {
            self.name()?;
        }
        Ok(())
    }

    fn if_(&mut self, routine: &mut Routine) -> Result<()> {
        self.bump();
        loop {
            routine.exprs.push(self.expr()?);
            self.expect_text("THEN")?;
            self.body_list(routine)?;
            if !self.eat_word(Keyword::Elseif) {
                break;
            }
        }
        if self.eat_word(Keyword::Else) {
            self.body_list(routine)?;
        }
        self.expect_word(Keyword::End)?;
        self.expect_word(Keyword::If)
    }

    fn case_(&mut self, routine: &mut Routine) -> Result<()> {
        self.bump();
        if !self.is(Keyword::When) {
            routine.exprs.push(self.expr()?);
        }
        while self.eat_word(Keyword::When) {
            routine.exprs.push(self.expr()?);
            self.expect_text("THEN")?;
            self.body_list(routine)?;
        }
        if self.eat_word(Keyword::Else) {
            self.body_list(routine)?;
        }
        self.expect_word(Keyword::End)?;
        self.expect_word(Keyword::Case)
    }

    fn fetch_cursor(&mut self) -> Result<()> {
        self.bump();
        if self.eat_word(Keyword::Next) {
            self.expect_word(Keyword::From)?;
        } else {
            self.eat_word(Keyword::From);
        }
        self.name()?;
        self.expect_word(Keyword::Into)?;
        self.list(Self::name).map(drop)
    }

    fn declare(&mut self, routine: &mut Routine) -> Result<()> {
        self.bump();
        if matches!(self.word(), Keyword::Continue | Keyword::Exit | Keyword::Undo)
            && self.word_at(1) == Keyword::Handler
        {
            self.at += 2;
            self.expect_word(Keyword::For)?;
            self.list(Self::condition)?;
            return self.body_statement(routine);
        }
        if self.word_at(1) == Keyword::Cursor {
            self.name()?;
            self.bump();
            self.expect_word(Keyword::For)?;
            routine.statements.push(self.statement()?);
            return Ok(());
        }
        if self.word_at(1) == Keyword::Condition {
            self.name()?;
            self.bump();
            self.expect_word(Keyword::For)?;
            return self.condition();
        }
        let names = self.list(Self::name)?;
        routine.locals.extend(names);
        self.data_type()?;
        self.collation()?;
        if self.eat_word(Keyword::Default) {
            routine.exprs.push(self.expr()?);
        }
        Ok(())
    }

    /// `SQLSTATE '23000'`, `1062`, `NOT FOUND`, `SQLEXCEPTION`, a declared name.
    fn condition(&mut self) -> Result<()> {
        if self.eat_text("SQLSTATE") {
            self.eat_text("VALUE");
            return self.string().map(drop);
        }
        if self.eat_word(Keyword::Not) {
            return self.expect_text("FOUND");
        }
        match self.kind() {
            Kind::Int | Kind::Word | Kind::QuotedName => {
                self.bump();
                Ok(())
            }
            _ => self.fail(),
        }
    }

    fn is_text(&self, word: &str) -> bool {
        self.kind() == Kind::Word && self.source.bytes(self.at).eq_ignore_ascii_case(word.as_bytes())
    }

    fn eat_text(&mut self, word: &str) -> bool {
        let found = self.is_text(word);
        self.at += u32::from(found);
        found
    }

    fn expect_text(&mut self, word: &str) -> Result<()> {
        if self.eat_text(word) { Ok(()) } else { self.fail() }
    }
}
