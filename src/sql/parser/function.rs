//! Calls: the general form, and the functions that have words between their arguments.

use super::super::ast::*;
use super::super::{Keyword, Kind, Span};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    /// `f(…)`, `db.f(…)`, CURRENT_DATE and its kin, else a column.
    pub(super) fn call_or_column(&mut self) -> Result<Expr> {
        let start = self.at;
        let word = self.word();
        if self.kind_at(1) == Kind::LParen && (self.is_name() || is_reserved_function(word)) {
            let name = self.bump();
            return self.call(start, None, name, word);
        }
        if is_bare_function(word, self.is_mariadb()) {
            let name = self.bump();
            return Ok(self.node(start, function(None, name, FunctionForm::Bare, Vec::new())));
        }
        if self.is_mariadb() && matches!(word, Keyword::Next | Keyword::Previous) && self.word_at(1) == Keyword::Value {
            let name = self.bump();
            self.bump();
            self.expect_word(Keyword::For)?;
            let sequence = self.table_name()?;
            return Ok(self.node(start, function(None, name, FunctionForm::Sequence(sequence), Vec::new())));
        }
        let behind_dot = self.kind_at(1) == Kind::Dot && matches!(self.kind_at(2), Kind::Word | Kind::QuotedName);
        if behind_dot && self.kind_at(3) == Kind::LParen {
            let db = self.name()?;
            self.bump();
            let name = self.name_after_dot()?;
            return self.call(start, Some(db), name, Keyword::None);
        }
        self.column()
    }

    fn call(&mut self, start: u32, db: Option<Name>, name: Name, word: Keyword) -> Result<Expr> {
        self.expect(Kind::LParen)?;
        let mut call = Function {
            db,
            name,
            form: FunctionForm::Call,
            distinct: false,
            args: Vec::new(),
            order_by: Vec::new(),
            separator: None,
            has_limit: false,
            over: None,
        };
        match word {
            Keyword::Cast => self.cast(&mut call)?,
            Keyword::Convert => self.convert(&mut call)?,
            Keyword::Char => self.char(&mut call)?,
            Keyword::Extract => self.extract(&mut call)?,
            Keyword::GetFormat | Keyword::Timestampadd | Keyword::Timestampdiff => self.first_word(&mut call)?,
            Keyword::Trim => self.trim(&mut call)?,
            Keyword::Substring | Keyword::Substr | Keyword::Mid => self.substring(&mut call)?,
            Keyword::Position => self.position(&mut call)?,
            Keyword::WeightString | Keyword::JsonValue => self.words_behind(&mut call)?,
            Keyword::Nextval | Keyword::Lastval | Keyword::Setval if self.is_mariadb() => self.sequence(&mut call)?,
            _ => self.arguments(&mut call)?,
        }
        self.expect(Kind::RParen)?;
        self.behind_call(&mut call)?;
        Ok(self.node(start, ExprKind::Function(Box::new(call))))
    }

    /// Arguments between commas, with what an aggregate may have besides.
    fn arguments(&mut self, call: &mut Function) -> Result<()> {
        if self.kind() == Kind::RParen {
            return Ok(());
        }
        if self.kind() == Kind::Star && self.kind_at(1) == Kind::RParen {
            self.bump();
            call.form = FunctionForm::Star;
            return Ok(());
        }
        call.distinct = match self.word() {
            Keyword::Distinct => true,
            Keyword::All => false,
            _ => {
                call.args = self.exprs()?;
                return self.aggregate_tail(call);
            }
        };
        self.bump();
        call.args = self.exprs()?;
        self.aggregate_tail(call)
    }

    fn aggregate_tail(&mut self, call: &mut Function) -> Result<()> {
        if self.is(Keyword::Order) {
            call.order_by = self.order_by()?;
        }
        if self.eat_word(Keyword::Separator) {
            call.separator = Some(self.string()?);
        }
        if self.eat_word(Keyword::Limit) {
            call.has_limit = true;
            call.args.extend(self.list(Self::limit_value)?);
            if self.eat_word(Keyword::Offset) {
                call.args.push(self.limit_value()?);
            }
        }
        Ok(())
    }

    fn cast(&mut self, call: &mut Function) -> Result<()> {
        call.args.push(self.expr()?);
        if self.eat_words(&[Keyword::At, Keyword::Time]) {
            self.bump(); // ZONE
            self.eat_word(Keyword::Interval);
            self.string()?;
        }
        self.expect_word(Keyword::As)?;
        call.form = FunctionForm::Cast(self.type_to_close()?);
        Ok(())
    }

    fn convert(&mut self, call: &mut Function) -> Result<()> {
        call.args.push(self.expr()?);
        if self.eat_word(Keyword::Using) {
            call.form = FunctionForm::Using(self.charset_name()?);
            return Ok(());
        }
        self.expect(Kind::Comma)?;
        call.form = FunctionForm::Cast(self.type_to_close()?);
        Ok(())
    }

    fn type_to_close(&mut self) -> Result<Span> {
        let start = self.at;
        self.skip_to_close()?;
        if self.at == start { self.fail() } else { Ok(self.since(start)) }
    }

    fn char(&mut self, call: &mut Function) -> Result<()> {
        call.args = self.exprs()?;
        if self.eat_word(Keyword::Using) {
            call.form = FunctionForm::Using(self.charset_name()?);
        }
        Ok(())
    }

    pub(super) fn charset_name(&mut self) -> Result<Name> {
        match self.word() {
            Keyword::Binary | Keyword::Ascii | Keyword::Default => Ok(self.bump()),
            _ => self.name_or_string(),
        }
    }

    fn extract(&mut self, call: &mut Function) -> Result<()> {
        call.form = FunctionForm::Unit(self.unit()?);
        self.expect_word(Keyword::From)?;
        call.args.push(self.expr()?);
        Ok(())
    }

    fn first_word(&mut self, call: &mut Function) -> Result<()> {
        let temporal = matches!(self.word(), Keyword::Date | Keyword::Time | Keyword::Datetime | Keyword::Timestamp);
        let word = if temporal { self.bump() } else { self.unit()? };
        call.form = FunctionForm::Unit(word);
        self.expect(Kind::Comma)?;
        call.args = self.exprs()?;
        Ok(())
    }

    fn trim(&mut self, call: &mut Function) -> Result<()> {
        call.form = FunctionForm::Worded;
        let side = self.eat_one_of(&[Keyword::Both, Keyword::Leading, Keyword::Trailing]);
        if side.is_some() && self.eat_word(Keyword::From) {
            call.args.push(self.expr()?);
            return Ok(());
        }
        call.args.push(self.expr()?);
        if self.eat_word(Keyword::From) {
            call.args.push(self.expr()?);
        } else if side.is_some() {
            return self.fail();
        } else if self.eat(Kind::Comma) {
            // MariaDB's Oracle form has a second argument too
            call.args.extend(self.exprs()?);
        }
        Ok(())
    }

    fn substring(&mut self, call: &mut Function) -> Result<()> {
        call.args.push(self.expr()?);
        if self.eat_word(Keyword::From) {
            call.form = FunctionForm::Worded;
            call.args.push(self.expr()?);
            if self.eat_word(Keyword::For) {
                call.args.push(self.expr()?);
            }
        } else if self.eat(Kind::Comma) {
            call.args.extend(self.exprs()?);
        }
        Ok(())
    }

    fn position(&mut self, call: &mut Function) -> Result<()> {
        call.form = FunctionForm::Worded;
        call.args.push(self.bit_expr()?);
        self.expect_word(Keyword::In)?;
        call.args.push(self.expr()?);
        Ok(())
    }

    /// Arguments, and words behind them that name types and what to do on errors.
    fn words_behind(&mut self, call: &mut Function) -> Result<()> {
        call.args = self.exprs()?;
        if self.kind() != Kind::RParen {
            call.form = FunctionForm::Worded;
            self.skip_to_close()?;
        }
        Ok(())
    }

    fn sequence(&mut self, call: &mut Function) -> Result<()> {
        call.form = FunctionForm::Sequence(self.table_name()?);
        if self.eat(Kind::Comma) {
            call.args = self.exprs()?;
        }
        Ok(())
    }

    /// What may follow the parentheses: WITHIN GROUP, RESPECT NULLS, OVER.
    fn behind_call(&mut self, call: &mut Function) -> Result<()> {
        if self.is_mariadb() && self.eat_words(&[Keyword::Within, Keyword::Group]) {
            self.expect(Kind::LParen)?;
            call.order_by = self.order_by()?;
            self.expect(Kind::RParen)?;
        }
        if self.is(Keyword::From)
            && matches!(self.word_at(1), Keyword::First | Keyword::Last)
            && self.is_nth_value(call)
        {
            self.at += 2;
        }
        let nulls = matches!(self.word(), Keyword::Respect | Keyword::Ignore) && self.word_at(1) == Keyword::Nulls;
        self.at += if nulls { 2 } else { 0 };
        if self.is(Keyword::Over) {
            self.bump();
            call.over = Some(match self.kind() {
                Kind::LParen => Over::Window(Box::new(self.window()?)),
                _ => Over::Name(self.name()?),
            });
        }
        Ok(())
    }

    fn is_nth_value(&self, call: &Function) -> bool {
        self.source.keyword(call.name.0) == Keyword::NthValue
    }

    fn bit_expr(&mut self) -> Result<Expr> {
        self.nested(|p| p.bits(0))
    }
}

fn function(db: Option<Name>, name: Name, form: FunctionForm, args: Vec<Expr>) -> ExprKind {
    ExprKind::Function(Box::new(Function {
        db,
        name,
        form,
        distinct: false,
        args,
        order_by: Vec::new(),
        separator: None,
        has_limit: false,
        over: None,
    }))
}

/// Reserved words that a parenthesis makes calls.
fn is_reserved_function(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::If
            | Keyword::Left
            | Keyword::Right
            | Keyword::Repeat
            | Keyword::Replace
            | Keyword::Insert
            | Keyword::Mod
            | Keyword::Char
            | Keyword::Convert
            | Keyword::Interval
            | Keyword::Database
            | Keyword::Schema
            | Keyword::CurrentUser
            | Keyword::CurrentRole
            | Keyword::CurrentDate
            | Keyword::CurrentTime
            | Keyword::CurrentTimestamp
            | Keyword::Localtime
            | Keyword::Localtimestamp
            | Keyword::UtcDate
            | Keyword::UtcTime
            | Keyword::UtcTimestamp
            | Keyword::Rank
            | Keyword::DenseRank
            | Keyword::RowNumber
            | Keyword::Ntile
            | Keyword::Lag
            | Keyword::Lead
            | Keyword::FirstValue
            | Keyword::LastValue
            | Keyword::NthValue
            | Keyword::CumeDist
            | Keyword::PercentRank
            | Keyword::Grouping
    )
}

/// Functions that stand without parentheses.
fn is_bare_function(word: Keyword, mariadb: bool) -> bool {
    match word {
        Keyword::CurrentUser
        | Keyword::CurrentDate
        | Keyword::CurrentTime
        | Keyword::CurrentTimestamp
        | Keyword::Localtime
        | Keyword::Localtimestamp
        | Keyword::UtcDate
        | Keyword::UtcTime
        | Keyword::UtcTimestamp => true,
        Keyword::CurrentRole => mariadb,
        _ => false,
    }
}
