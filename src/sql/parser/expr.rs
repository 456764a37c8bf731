//! Expressions. Levels from loose to tight, as both servers' grammars have them (tried out on
//! MySQL 9.7 and MariaDB 10.11; where only one takes a text, its reading is taken):
//!
//! ```text
//! @v :=                     takes all that follows
//! OR ||   XOR   AND &&   NOT
//! comparison                = <=> >= > <= < <> IS, left to right
//! predicate                 IN LIKE REGEXP BETWEEN SOUNDS LIKE, MEMBER OF
//! |   &   << >>   + -   * / % DIV MOD   ^   || under PIPES_AS_CONCAT
//! - + ~ ! BINARY (and NOT under HIGH_NOT_PRECEDENCE)   COLLATE
//! ```

use super::super::ast::*;
use super::super::{Keyword, Kind, Span, fingerprint};
use super::Parser;
use crate::error::Result;

/// The tightest level of operators between operands.
const CONCAT: u8 = 6;

impl Parser<'_, '_> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.nested(|p| p.or())
    }

    pub(super) fn exprs(&mut self) -> Result<Vec<Expr>> {
        self.list(Self::expr)
    }

    pub(super) fn boxed(&mut self) -> Result<Box<Expr>> {
        self.expr().map(Box::new)
    }

    pub(super) fn node(&self, start: u32, kind: ExprKind) -> Expr {
        Expr { span: self.since(start), kind }
    }

    fn or(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut parts = vec![self.xor()?];
        while self.eat_word(Keyword::Or) || (!self.source.dialect.mode.pipes_as_concat && self.eat(Kind::PipePipe)) {
            parts.push(self.xor()?);
        }
        self.chain(start, parts, ExprKind::Or)
    }

    fn xor(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut left = self.and()?;
        while self.eat_word(Keyword::Xor) {
            let right = self.and()?;
            left = self.binary(start, BinaryOp::Xor, left, right)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut parts = vec![self.not()?];
        while self.eat_word(Keyword::And) || self.eat(Kind::AmpAmp) {
            parts.push(self.not()?);
        }
        self.chain(start, parts, ExprKind::And)
    }

    fn chain(&mut self, start: u32, mut parts: Vec<Expr>, kind: fn(Vec<Expr>) -> ExprKind) -> Result<Expr> {
        match parts.pop() {
            Some(only) if parts.is_empty() => Ok(only),
            last => {
                parts.extend(last);
                self.grow()?;
                Ok(self.node(start, kind(parts)))
            }
        }
    }

    fn not(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut nots = Vec::new();
        while !self.source.dialect.mode.high_not_precedence && self.is(Keyword::Not) {
            nots.push(self.bump().0);
        }
        let mut expr = self.comparison()?;
        debug_assert!(nots.first().is_none_or(|&n| n == start));
        for at in nots.into_iter().rev() {
            self.grow()?;
            expr = self.node(at, ExprKind::Unary(UnaryOp::Not, Box::new(expr)));
        }
        Ok(expr)
    }

    fn comparison(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut left = self.predicate()?;
        loop {
            if self.eat_word(Keyword::Is) {
                left = self.is_test(start, left)?;
                // in MySQL a test of truth stands above comparisons, and ends an operand: what
                // follows `@v := a IS TRUE` compares the assignment
                if !self.is_mariadb() && !matches!(left.kind, ExprKind::Is { test: IsTest::Null, .. }) {
                    return Ok(left);
                }
                continue;
            }
            let Some(op) = comparison_operator(self.kind()) else { return Ok(left) };
            self.bump();
            left = match self.eat_quantifier() {
                Some(all) => {
                    let query = self.parenthesised_query()?;
                    self.grow()?;
                    self.node(start, ExprKind::Quantified { op, expr: Box::new(left), all, query: Box::new(query) })
                }
                None => {
                    let right = self.predicate()?;
                    self.binary(start, op, left, right)?
                }
            };
        }
    }

    /// `ALL (query`, `ANY (query`, `SOME (query`; elsewhere ANY and SOME may be names.
    fn eat_quantifier(&mut self) -> Option<bool> {
        let all = match self.word() {
            Keyword::All => true,
            Keyword::Any | Keyword::Some => false,
            _ => return None,
        };
        let query = self.kind_at(1) == Kind::LParen && (self.starts_query_at(2) || self.kind_at(2) == Kind::LParen);
        self.at += u32::from(query);
        query.then_some(all)
    }

    fn is_test(&mut self, start: u32, left: Expr) -> Result<Expr> {
        let not = self.eat_word(Keyword::Not);
        let test = match self.word() {
            Keyword::Null => IsTest::Null,
            Keyword::True => IsTest::True,
            Keyword::False => IsTest::False,
            Keyword::Unknown => IsTest::Unknown,
            Keyword::Json => IsTest::Json,
            _ => return self.fail(),
        };
        self.bump();
        if test == IsTest::Json {
            self.eat_one_of(&[Keyword::Value]);
        }
        self.grow()?;
        Ok(self.node(start, ExprKind::Is { expr: Box::new(left), not, test }))
    }

    fn predicate(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut left = self.bits(0)?;
        loop {
            let negated = self.is(Keyword::Not);
            let word = self.word_at(u32::from(negated));
            if !self.is_predicate_word(word, negated) {
                return Ok(left);
            }
            self.at += 1 + u32::from(negated);
            let kind = self.predicate_tail(word, negated, Box::new(left))?;
            self.grow()?;
            left = self.node(start, kind);
            if !self.is_mariadb() {
                return Ok(left); // no predicate is an operand of another
            }
        }
    }

    fn is_predicate_word(&self, word: Keyword, negated: bool) -> bool {
        match word {
            Keyword::In | Keyword::Between | Keyword::Like | Keyword::Regexp | Keyword::Rlike => true,
            Keyword::Sounds => !negated && self.word_at(1) == Keyword::Like,
            Keyword::Member => !negated && !self.is_mariadb() && self.word_at(1) == Keyword::Of,
            _ => false,
        }
    }

    fn predicate_tail(&mut self, word: Keyword, not: bool, expr: Box<Expr>) -> Result<ExprKind> {
        Ok(match word {
            Keyword::In => return self.in_tail(not, expr),
            Keyword::Between => {
                let low = Box::new(self.nested(|p| p.predicate())?);
                self.expect_word(Keyword::And)?;
                let high = Box::new(self.nested(|p| p.predicate())?);
                ExprKind::Between { expr, not, low, high }
            }
            Keyword::Like => {
                let pattern = Box::new(self.predicate_operand(word)?);
                let escape =
                    if self.eat_word(Keyword::Escape) { Some(Box::new(self.predicate_operand(word)?)) } else { None };
                ExprKind::Like { expr, not, pattern, escape }
            }
            Keyword::Regexp | Keyword::Rlike => {
                ExprKind::Regexp { expr, not, pattern: Box::new(self.predicate_operand(word)?) }
            }
            Keyword::Sounds => {
                self.expect_word(Keyword::Like)?;
                let right = self.predicate_operand(Keyword::Sounds)?;
                ExprKind::Binary(BinaryOp::SoundsLike, Box::new([*expr, right]))
            }
            _ => {
                self.expect_word(Keyword::Of)?;
                self.expect(Kind::LParen)?;
                let right = self.expr()?;
                self.expect(Kind::RParen)?;
                ExprKind::Binary(BinaryOp::MemberOf, Box::new([*expr, right]))
            }
        })
    }

    /// What stands behind LIKE, ESCAPE and REGEXP: arithmetic, but behind MySQL's LIKE no operator
    /// but concatenation. In MariaDB a predicate with NOT belongs to the operand
    /// (`a LIKE b NOT IN (0)`), one without to the whole (`a LIKE b IN (0)`).
    fn predicate_operand(&mut self, word: Keyword) -> Result<Expr> {
        let start = self.at;
        let simple = word == Keyword::Like && !self.is_mariadb();
        let mut operand = self.bits(if simple { CONCAT } else { 0 })?;
        while self.is_mariadb() && self.is(Keyword::Not) && self.is_predicate_word(self.word_at(1), true) {
            let word = self.word_at(1);
            self.at += 2;
            let kind = self.nested(|p| p.predicate_tail(word, true, Box::new(operand)))?;
            operand = self.node(start, kind);
        }
        Ok(operand)
    }

    fn in_tail(&mut self, not: bool, expr: Box<Expr>) -> Result<ExprKind> {
        if self.kind() == Kind::LParen && self.starts_query_at(1) {
            let query = Box::new(self.parenthesised_query()?);
            return Ok(ExprKind::InQuery { expr, not, query });
        }
        let start = self.at;
        self.expect(Kind::LParen)?;
        let mut list = vec![self.expr()?];
        if let Some(query) = self.query_behind_operand(&mut list)? {
            self.expect(Kind::RParen)?;
            return Ok(ExprKind::InQuery { expr, not, query: Box::new(query) });
        }
        while self.eat(Kind::Comma) {
            list.push(self.expr()?);
        }
        self.expect(Kind::RParen)?;
        // `IN ((SELECT …))` is IN (SELECT …) with more parentheses
        if let [Expr { kind: ExprKind::Subquery(_), .. }] = list.as_slice()
            && let Some(Expr { kind: ExprKind::Subquery(query), .. }) = list.pop()
        {
            return Ok(ExprKind::InQuery { expr, not, query });
        }
        Ok(ExprKind::In { expr, not, list, list_span: self.since(start) })
    }

    /// The operators of bits and arithmetic from level `least` up.
    pub(super) fn bits(&mut self, least: u8) -> Result<Expr> {
        let start = self.at;
        let mut left = self.unary()?;
        while let Some((op, level)) = self.bits_operator().filter(|&(_, level)| level >= least) {
            self.bump();
            if matches!(op, BinaryOp::Add | BinaryOp::Sub) && self.is(Keyword::Interval) && !self.is_interval_call() {
                self.bump();
                let (amount, unit) = self.interval()?;
                let minus = op == BinaryOp::Sub;
                self.grow()?;
                left = self.node(start, ExprKind::DateArith { date: Box::new(left), minus, amount, unit });
                continue;
            }
            let right = self.bits(level + 1)?;
            left = self.binary(start, op, left, right)?;
        }
        Ok(left)
    }

    fn bits_operator(&self) -> Option<(BinaryOp, u8)> {
        Some(match self.kind() {
            Kind::Pipe => (BinaryOp::BitOr, 0),
            Kind::Amp => (BinaryOp::BitAnd, 1),
            Kind::Shl => (BinaryOp::Shl, 2),
            Kind::Shr => (BinaryOp::Shr, 2),
            Kind::Plus => (BinaryOp::Add, 3),
            Kind::Minus => (BinaryOp::Sub, 3),
            Kind::Star => (BinaryOp::Mul, 4),
            Kind::Slash => (BinaryOp::Div, 4),
            Kind::Percent => (BinaryOp::Mod, 4),
            Kind::Word => match self.word() {
                Keyword::Div => (BinaryOp::IntDiv, 4),
                Keyword::Mod => (BinaryOp::Mod, 4),
                _ => return None,
            },
            Kind::Caret => (BinaryOp::BitXor, 5),
            Kind::PipePipe if self.source.dialect.mode.pipes_as_concat => (BinaryOp::Concat, CONCAT),
            _ => return None,
        })
    }

    pub(super) fn binary(&mut self, start: u32, op: BinaryOp, left: Expr, right: Expr) -> Result<Expr> {
        self.grow()?;
        Ok(self.node(start, ExprKind::Binary(op, Box::new([left, right]))))
    }

    fn unary(&mut self) -> Result<Expr> {
        let start = self.at;
        let op = match self.kind() {
            Kind::Minus => UnaryOp::Neg,
            Kind::Plus => UnaryOp::Plus,
            Kind::Tilde => UnaryOp::BitNot,
            Kind::Bang => UnaryOp::Bang,
            Kind::Word => match self.word() {
                Keyword::Binary => UnaryOp::Binary,
                Keyword::Not if self.source.dialect.mode.high_not_precedence => UnaryOp::Bang,
                _ => return self.collated(),
            },
            _ => return self.collated(),
        };
        self.bump();
        let operand = self.nested(|p| p.unary())?;
        Ok(self.node(start, ExprKind::Unary(op, Box::new(operand))))
    }

    /// A primary with its COLLATE, which binds tighter than a sign.
    fn collated(&mut self) -> Result<Expr> {
        let start = self.at;
        let mut expr = self.primary()?;
        while self.eat_word(Keyword::Collate) {
            let collation = self.collation_name()?;
            self.grow()?;
            expr = self.node(start, ExprKind::Collate(Box::new(expr), collation));
        }
        Ok(expr)
    }

    pub(super) fn collation_name(&mut self) -> Result<Name> {
        if self.is(Keyword::Binary) || (self.is_mariadb() && self.is(Keyword::Default)) {
            Ok(self.bump())
        } else {
            self.name_or_string()
        }
    }

    pub(super) fn primary(&mut self) -> Result<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            Kind::Int => self.one(ExprKind::Literal(Literal::Int)),
            Kind::Decimal => self.one(ExprKind::Literal(Literal::Decimal)),
            Kind::Float => self.one(ExprKind::Literal(Literal::Float)),
            Kind::Hex => self.one(ExprKind::Literal(Literal::Hex)),
            Kind::Bit => self.one(ExprKind::Literal(Literal::Bit)),
            Kind::Param => self.one(ExprKind::Param),
            Kind::String | Kind::NString => self.strings(Literal::String),
            Kind::Introducer if matches!(self.kind_at(1), Kind::String | Kind::Hex | Kind::Bit) => {
                self.bump();
                match self.kind() {
                    Kind::Hex | Kind::Bit => self.one(ExprKind::Literal(Literal::String)),
                    _ => self.strings(Literal::String),
                }
            }
            Kind::UserVar => {
                self.bump();
                match self.eat(Kind::Assign) {
                    true => ExprKind::Assign(self.boxed()?),
                    false => ExprKind::UserVar,
                }
            }
            Kind::SysVar => ExprKind::SysVar(self.system_variable()?),
            Kind::LParen => return self.parens(),
            Kind::LBrace => {
                self.bump();
                let word = self.name()?;
                let inner = self.boxed()?;
                self.expect(Kind::RBrace)?;
                ExprKind::Odbc(word, inner)
            }
            Kind::Word | Kind::QuotedName | Kind::Introducer => return self.word_primary(),
            _ => return self.fail(),
        };
        Ok(self.node(start, kind))
    }

    fn one(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    fn strings(&mut self, literal: Literal) -> ExprKind {
        self.bump();
        while self.eat(Kind::String) {}
        ExprKind::Literal(literal)
    }

    pub(super) fn system_variable(&mut self) -> Result<SysVar> {
        let first = self.bump();
        let scope = match self.source.bytes(first.0).get(2..).map(<[u8]>::to_ascii_lowercase).as_deref() {
            Some(b"session" | b"local") => Some(Scope::Session),
            Some(b"global") => Some(Scope::Global),
            Some(b"persist") => Some(Scope::Persist),
            Some(b"persist_only") => Some(Scope::PersistOnly),
            _ => None,
        };
        let mut parts = vec![first];
        while parts.len() < 3 && self.eat(Kind::Dot) {
            parts.push(self.name_after_dot()?);
        }
        Ok(match (scope, parts.as_slice()) {
            (Some(_), [_, name]) => SysVar { scope, name: *name, qualifier: None },
            (Some(_), [_, qualifier, name]) => SysVar { scope, name: *name, qualifier: Some(*qualifier) },
            (None, [name]) => SysVar { scope, name: *name, qualifier: None },
            (None, [qualifier, name]) => SysVar { scope, name: *name, qualifier: Some(*qualifier) },
            _ => return self.fail(),
        })
    }

    /// `(e)`, `(a, b)`, `(query)`.
    fn parens(&mut self) -> Result<Expr> {
        let start = self.at;
        if self.starts_query_at(1) {
            let query = self.parenthesised_query()?;
            return Ok(self.node(start, ExprKind::Subquery(Box::new(query))));
        }
        self.expect(Kind::LParen)?;
        let mut list = vec![self.expr()?];
        if let Some(query) = self.query_behind_operand(&mut list)? {
            self.expect(Kind::RParen)?;
            return Ok(self.node(start, ExprKind::Subquery(Box::new(query))));
        }
        while self.eat(Kind::Comma) {
            list.push(self.expr()?);
        }
        self.expect(Kind::RParen)?;
        Ok(match list.pop() {
            Some(Expr { kind: ExprKind::Subquery(query), .. }) if list.is_empty() => {
                // `((SELECT …))` is the subquery still
                self.node(start, ExprKind::Subquery(query))
            }
            Some(only) if list.is_empty() => self.node(start, ExprKind::Parens(Box::new(only))),
            last => {
                list.extend(last);
                self.node(start, ExprKind::Row(list))
            }
        })
    }

    /// `((SELECT …) UNION …)`: what looked like an operand, the only one of `list`, begins a query.
    fn query_behind_operand(&mut self, list: &mut Vec<Expr>) -> Result<Option<Query>> {
        if !self.continues_query() || !matches!(list.as_slice(), [Expr { kind: ExprKind::Subquery(_), .. }]) {
            return Ok(None);
        }
        match list.pop() {
            Some(Expr { kind: ExprKind::Subquery(query), span }) => {
                self.nested(|p| p.query_behind(Body::Parens(span, query))).map(Some)
            }
            _ => self.fail(),
        }
    }

    /// What starts with a word: a literal, a construct of its own, a call, a column.
    fn word_primary(&mut self) -> Result<Expr> {
        let start = self.at;
        let calls = self.kind_at(1) == Kind::LParen;
        let kind = match self.word() {
            Keyword::Null => self.one(ExprKind::Literal(Literal::Null)),
            Keyword::True => self.one(ExprKind::Literal(Literal::True)),
            Keyword::False => self.one(ExprKind::Literal(Literal::False)),
            Keyword::Date if self.kind_at(1) == Kind::String => self.temporal(Literal::Date),
            Keyword::Time if self.kind_at(1) == Kind::String => self.temporal(Literal::Time),
            Keyword::Timestamp if self.kind_at(1) == Kind::String => self.temporal(Literal::Timestamp),
            Keyword::Case => self.case()?,
            Keyword::Exists if calls => {
                self.bump();
                ExprKind::Exists(Box::new(self.parenthesised_query()?))
            }
            Keyword::Row if calls => {
                self.bump();
                ExprKind::Row(self.parenthesised(Self::expr)?)
            }
            Keyword::Interval if !self.is_interval_call() => {
                self.bump();
                let (amount, unit) = self.interval()?;
                match self.eat(Kind::Plus) {
                    // the operand reaches as far as a comparison: so both grammars resolve it
                    true => {
                        let date = Box::new(self.nested(|p| p.comparison())?);
                        ExprKind::DateArith { date, minus: false, amount, unit }
                    }
                    false => ExprKind::Interval { amount, unit },
                }
            }
            Keyword::Match => self.match_against()?,
            Keyword::Default if calls => ExprKind::DefaultOf(self.column_in_parens()?),
            Keyword::Default => self.one(ExprKind::Default),
            Keyword::Values if calls => ExprKind::ValuesOf(self.column_in_parens()?),
            Keyword::Value if calls && self.is_mariadb() => ExprKind::ValuesOf(self.column_in_parens()?),
            _ => return self.call_or_column(),
        };
        Ok(self.node(start, kind))
    }

    fn temporal(&mut self, literal: Literal) -> ExprKind {
        self.bump();
        self.one(ExprKind::Literal(literal))
    }

    fn case(&mut self) -> Result<ExprKind> {
        self.expect_word(Keyword::Case)?;
        let operand = if self.is(Keyword::When) { None } else { Some(self.boxed()?) };
        let mut branches = Vec::new();
        while self.eat_word(Keyword::When) {
            let when = self.expr()?;
            self.expect_word(Keyword::Then)?;
            branches.push((when, self.expr()?));
        }
        if branches.is_empty() {
            return self.fail();
        }
        let otherwise = if self.eat_word(Keyword::Else) { Some(self.boxed()?) } else { None };
        self.expect_word(Keyword::End)?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    /// Whether the INTERVAL here is the function: its parentheses hold a comma.
    fn is_interval_call(&self) -> bool {
        if self.kind_at(1) != Kind::LParen {
            return false;
        }
        let (mut ahead, mut depth) = (2, 0u32);
        loop {
            match self.kind_at(ahead) {
                Kind::LParen => depth += 1,
                Kind::RParen if depth == 0 => return false,
                Kind::RParen => depth -= 1,
                Kind::Comma if depth == 0 => return true,
                Kind::Semicolon | Kind::End | Kind::Bad => return false,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// `amount unit` behind INTERVAL.
    fn interval(&mut self) -> Result<(Box<Expr>, Name)> {
        let amount = self.boxed()?;
        Ok((amount, self.unit()?))
    }

    pub(super) fn unit(&mut self) -> Result<Name> {
        let word = self.word();
        if fingerprint::is_interval_unit(word) || self.is_tsi_unit() { Ok(self.bump()) } else { self.fail() }
    }

    fn is_tsi_unit(&self) -> bool {
        self.source.bytes(self.at).get(..8).is_some_and(|b| b.eq_ignore_ascii_case(b"SQL_TSI_"))
    }

    fn match_against(&mut self) -> Result<ExprKind> {
        self.expect_word(Keyword::Match)?;
        let parens = self.eat(Kind::LParen);
        let columns = self.list(Self::column_ref)?;
        if parens {
            self.expect(Kind::RParen)?;
        }
        self.expect_word(Keyword::Against)?;
        self.expect(Kind::LParen)?;
        let against = Box::new(self.bits(0)?);
        let mode = self.at;
        self.skip_to_close()?;
        let mode = self.since(mode);
        self.expect(Kind::RParen)?;
        Ok(ExprKind::Match { columns, against, mode })
    }

    fn column_in_parens(&mut self) -> Result<ColumnRef> {
        self.bump();
        self.expect(Kind::LParen)?;
        let column = self.column_ref()?;
        self.expect(Kind::RParen)?;
        Ok(column)
    }

    pub(super) fn column_ref(&mut self) -> Result<ColumnRef> {
        let start = self.at;
        let mut parts = vec![self.name()?];
        while parts.len() < 3 && self.eat(Kind::Dot) {
            parts.push(self.name_after_dot()?);
        }
        let span = self.since(start);
        Ok(match *parts.as_slice() {
            [db, table, column] => ColumnRef { span, db: Some(db), table: Some(table), column },
            [table, column] => ColumnRef { span, db: None, table: Some(table), column },
            _ => ColumnRef { span, db: None, table: None, column: parts[0] },
        })
    }

    /// A column, with `->` behind it.
    pub(super) fn column(&mut self) -> Result<Expr> {
        let start = self.at;
        let column = self.column_ref()?;
        let expr = Expr { span: column.span, kind: ExprKind::Column(column) };
        let op = match self.kind() {
            Kind::Arrow if !self.is_mariadb() => BinaryOp::JsonGet,
            Kind::LongArrow if !self.is_mariadb() => BinaryOp::JsonGetText,
            _ => return Ok(expr),
        };
        self.bump();
        let path = self.string()?;
        let path = Expr { span: Span::new(path.0, path.0 + 1), kind: ExprKind::Literal(Literal::String) };
        self.binary(start, op, expr, path)
    }
}

fn comparison_operator(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::Eq => BinaryOp::Eq,
        Kind::NullSafeEq => BinaryOp::NullSafeEq,
        Kind::Ne => BinaryOp::Ne,
        Kind::Lt => BinaryOp::Lt,
        Kind::Le => BinaryOp::Le,
        Kind::Gt => BinaryOp::Gt,
        Kind::Ge => BinaryOp::Ge,
        _ => return None,
    })
}
