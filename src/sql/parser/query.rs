//! Queries: WITH, SELECT, set operations, and what stands at their end.

use super::super::ast::*;
use super::super::{Keyword, Kind, Span};
use super::Parser;
use crate::error::{Error, Result};

impl Parser<'_, '_> {
    /// Whether a query starts so many tokens ahead; `(` not counted.
    pub(super) fn starts_query_at(&self, ahead: u32) -> bool {
        match self.word_at(ahead) {
            Keyword::Select | Keyword::With => true,
            Keyword::Table => !self.is_mariadb() && self.kind_at(ahead + 1) != Kind::LParen,
            Keyword::Values if self.is_mariadb() => self.kind_at(ahead + 1) == Kind::LParen,
            Keyword::Values => self.word_at(ahead + 1) == Keyword::Row,
            _ => false,
        }
    }

    /// A query with whatever belongs to it; may start with `(`.
    pub(super) fn query(&mut self) -> Result<Query> {
        self.nested(|p| {
            let start = p.at;
            let with = p.with()?;
            p.query_behind_with(start, with)
        })
    }

    pub(super) fn query_behind_with(&mut self, start: u32, with: Option<With>) -> Result<Query> {
        let body = self.body()?;
        self.query_end(start, with, body)
    }

    /// `(query)`, of which the tree keeps the inside.
    pub(super) fn parenthesised_query(&mut self) -> Result<Query> {
        self.expect(Kind::LParen)?;
        let query = self.query()?;
        self.expect(Kind::RParen)?;
        Ok(query)
    }

    /// The query whose first body, in parentheses, is read already.
    pub(super) fn query_behind(&mut self, first: Body) -> Result<Query> {
        let start = body_span(&first).start;
        let first = self.intersections(first)?;
        let body = self.unions(first)?;
        self.query_end(start, None, body)
    }

    /// Whether what follows goes on a query in parentheses.
    pub(super) fn continues_query(&self) -> bool {
        self.set_operator().is_some()
            || matches!(
                self.word(),
                Keyword::Order | Keyword::Limit | Keyword::For | Keyword::Lock | Keyword::Offset | Keyword::Fetch
            )
    }

    pub(super) fn with(&mut self) -> Result<Option<With>> {
        let start = self.at;
        if !self.eat_word(Keyword::With) {
            return Ok(None);
        }
        let recursive = self.eat_word(Keyword::Recursive);
        let tables = self.list(Self::common_table)?;
        Ok(Some(With { span: self.since(start), recursive, tables }))
    }

    fn common_table(&mut self) -> Result<CommonTable> {
        let start = self.at;
        let name = self.name()?;
        let columns = self.optional_names()?;
        self.expect_word(Keyword::As)?;
        let query = Box::new(self.parenthesised_query()?);
        if self.is_mariadb() && self.eat_word(Keyword::Cycle) {
            self.list(Self::name)?;
            self.name()?; // RESTRICT
        }
        Ok(CommonTable { span: self.since(start), name, columns, query })
    }

    /// `(a, b)` or nothing.
    pub(super) fn optional_names(&mut self) -> Result<Vec<Name>> {
        if self.kind() == Kind::LParen { self.parenthesised(Self::name) } else { Ok(Vec::new()) }
    }

    fn body(&mut self) -> Result<Body> {
        let first = self.intersected()?;
        self.unions(first)
    }

    fn set_operator(&self) -> Option<SetOperator> {
        match self.word() {
            Keyword::Union => Some(SetOperator::Union),
            Keyword::Intersect => Some(SetOperator::Intersect),
            Keyword::Except => Some(SetOperator::Except),
            _ => None,
        }
    }

    fn intersected(&mut self) -> Result<Body> {
        let first = self.simple_body()?;
        self.intersections(first)
    }

    fn intersections(&mut self, first: Body) -> Result<Body> {
        self.set_operation(first, |op| op == SetOperator::Intersect, Self::simple_body)
    }

    fn unions(&mut self, first: Body) -> Result<Body> {
        self.set_operation(first, |_| true, Self::intersected)
    }

    fn set_operation(
        &mut self,
        first: Body,
        takes: fn(SetOperator) -> bool,
        operand: fn(&mut Self) -> Result<Body>,
    ) -> Result<Body> {
        let start = body_span(&first).start;
        let mut rest = Vec::new();
        while let Some(operator) = self.set_operator().filter(|&op| takes(op)) {
            self.bump();
            let all = self.is(Keyword::All);
            self.eat_one_of(&[Keyword::All, Keyword::Distinct]);
            rest.push(SetArm { operator, all, body: operand(self)? });
        }
        if rest.is_empty() {
            return Ok(first);
        }
        self.grow()?;
        Ok(Body::SetOperation(Box::new(SetOperation { span: self.since(start), first, rest })))
    }

    fn simple_body(&mut self) -> Result<Body> {
        let start = self.at;
        match self.word() {
            Keyword::Select => return self.select().map(|s| Body::Select(Box::new(s))),
            Keyword::Values => {
                self.bump();
                let rows = self.list(Self::query_row)?;
                return Ok(Body::Values(self.since(start), rows));
            }
            Keyword::Table if !self.is_mariadb() => {
                self.bump();
                let table = self.table_name()?;
                return Ok(Body::Table(self.since(start), table));
            }
            _ => {}
        }
        if self.kind() != Kind::LParen {
            return self.fail();
        }
        let query = Box::new(self.parenthesised_query()?);
        Ok(Body::Parens(self.since(start), query))
    }

    fn query_row(&mut self) -> Result<Row> {
        let start = self.at;
        if !self.is_mariadb() {
            self.expect_word(Keyword::Row)?;
        }
        self.row_values(start)
    }

    /// `(a, b)`, `()`.
    pub(super) fn row_values(&mut self, start: u32) -> Result<Row> {
        self.expect(Kind::LParen)?;
        let values = if self.kind() == Kind::RParen { Vec::new() } else { self.exprs()? };
        self.expect(Kind::RParen)?;
        Ok(Row { span: self.since(start), values })
    }

    fn query_end(&mut self, start: u32, with: Option<With>, body: Body) -> Result<Query> {
        let order_by = if self.is(Keyword::Order) { self.order_by()? } else { Vec::new() };
        let limit = self.limit()?;
        if self.is(Keyword::Procedure) {
            return Err(Error::refused("PROCEDURE ANALYSE is not supported; look at the rows' own statistics instead"));
        }
        // INTO may stand before the locks or behind them
        let mut into = self.into()?;
        let locks = self.locks()?;
        if into.is_none() {
            into = self.into()?;
        }
        Ok(Query { span: self.since(start), with, body, order_by, limit, locks, into })
    }

    fn select(&mut self) -> Result<Select> {
        let start = self.at;
        self.expect_word(Keyword::Select)?;
        self.eat_hint();
        let options = self.select_options();
        let items_start = self.at;
        let items = self.list(Self::select_item)?;
        let items_span = self.since(items_start);
        let into = self.into()?;
        let from = if self.eat_word(Keyword::From) { self.from()? } else { Vec::new() };
        let filter = if self.eat_word(Keyword::Where) { Some(self.expr()?) } else { None };
        let group_by = self.group_by()?;
        let having = if self.eat_word(Keyword::Having) { Some(self.expr()?) } else { None };
        let windows = if self.eat_word(Keyword::Window) { self.list(Self::named_window)? } else { Vec::new() };
        let qualifies = !self.is_mariadb() && self.eat_word(Keyword::Qualify);
        let qualify = if qualifies { Some(self.expr()?) } else { None };
        let span = self.since(start);
        Ok(Select { span, options, items, items_span, into, from, filter, group_by, having, windows, qualify })
    }

    fn select_options(&mut self) -> SelectOptions {
        let start = self.at;
        let mut options = SelectOptions {
            span: self.empty(),
            distinct: false,
            straight_join: false,
            calc_found_rows: false,
            high_priority: false,
        };
        loop {
            match self.word() {
                Keyword::Distinct | Keyword::Distinctrow => options.distinct = true,
                Keyword::StraightJoin => options.straight_join = true,
                Keyword::SqlCalcFoundRows => options.calc_found_rows = true,
                Keyword::HighPriority => options.high_priority = true,
                Keyword::All | Keyword::SqlSmallResult | Keyword::SqlBigResult => {}
                Keyword::SqlBufferResult | Keyword::SqlNoCache => {}
                Keyword::SqlCache if self.is_mariadb() => {}
                _ => break,
            }
            self.bump();
        }
        options.span = self.since(start);
        options
    }

    pub(super) fn select_item(&mut self) -> Result<SelectItem> {
        let start = self.at;
        let wildcard = self.wildcard();
        if let Some(kind) = wildcard {
            return Ok(SelectItem { span: self.since(start), kind });
        }
        let expr = self.expr()?;
        let alias = match self.eat_word(Keyword::As) {
            true => Some(self.name_or_string()?),
            false if self.kind() == Kind::String || self.is_name() => Some(self.name_or_string()?),
            false => None,
        };
        Ok(SelectItem { span: self.since(start), kind: SelectItemKind::Expr { expr, alias } })
    }

    /// `*`, `t.*`, `db.t.*`, taken if one stands here.
    fn wildcard(&mut self) -> Option<SelectItemKind> {
        if self.eat(Kind::Star) {
            return Some(SelectItemKind::Wildcard { db: None, table: None });
        }
        if !self.is_name() || self.kind_at(1) != Kind::Dot {
            return None;
        }
        if self.kind_at(2) == Kind::Star {
            let table = self.name().ok();
            self.at += 2;
            return Some(SelectItemKind::Wildcard { db: None, table });
        }
        if self.kind_at(3) == Kind::Dot && self.kind_at(4) == Kind::Star {
            let db = self.name().ok();
            self.bump();
            let table = self.name_after_dot().ok();
            self.at += 2;
            return Some(SelectItemKind::Wildcard { db, table });
        }
        None
    }

    fn group_by(&mut self) -> Result<Option<GroupBy>> {
        let start = self.at;
        if !self.eat_word(Keyword::Group) {
            return Ok(None);
        }
        self.expect_word(Keyword::By)?;
        let rollup_call = self.is(Keyword::Rollup) && self.kind_at(1) == Kind::LParen;
        let items = self.list(Self::order_item)?;
        if !self.is_mariadb() && items.iter().any(|item| item.direction.is_some()) {
            return self.fail();
        }
        let rollup = self.eat_words(&[Keyword::With, Keyword::Rollup]) || rollup_call;
        Ok(Some(GroupBy { span: self.since(start), items, rollup }))
    }

    /// From ORDER on.
    pub(super) fn order_by(&mut self) -> Result<Vec<OrderItem>> {
        self.expect_word(Keyword::Order)?;
        self.expect_word(Keyword::By)?;
        self.list(Self::order_item)
    }

    fn order_item(&mut self) -> Result<OrderItem> {
        let start = self.at;
        let expr = self.expr()?;
        let direction = match self.eat_one_of(&[Keyword::Asc, Keyword::Desc]) {
            Some(Keyword::Asc) => Some(Direction::Asc),
            Some(_) => Some(Direction::Desc),
            None => None,
        };
        Ok(OrderItem { span: self.since(start), expr, direction })
    }

    fn named_window(&mut self) -> Result<NamedWindow> {
        let name = self.name()?;
        self.expect_word(Keyword::As)?;
        Ok(NamedWindow { name, window: self.window()? })
    }

    /// `(…)` of OVER and WINDOW.
    pub(super) fn window(&mut self) -> Result<Window> {
        let start = self.at;
        self.expect(Kind::LParen)?;
        let base = if self.is_name() && !self.starts_frame() { Some(self.name()?) } else { None };
        let partition_by = if self.eat_word(Keyword::Partition) {
            self.expect_word(Keyword::By)?;
            self.exprs()?
        } else {
            Vec::new()
        };
        let order_by = if self.is(Keyword::Order) { self.order_by()? } else { Vec::new() };
        let (mut frame, mut frame_bounds) = (None, Vec::new());
        if self.starts_frame() {
            let from = self.at;
            self.bump();
            if self.eat_word(Keyword::Between) {
                self.frame_bound(&mut frame_bounds)?;
                self.expect_word(Keyword::And)?;
            }
            self.frame_bound(&mut frame_bounds)?;
            if self.eat_word(Keyword::Exclude) {
                self.skip_to_close()?;
            }
            frame = Some(self.since(from));
        }
        self.expect(Kind::RParen)?;
        Ok(Window { span: self.since(start), base, partition_by, order_by, frame, frame_bounds })
    }

    fn starts_frame(&self) -> bool {
        let unit = matches!(self.word(), Keyword::Rows | Keyword::Range | Keyword::Groups);
        // ROWS is a word that may name a window too
        unit && !matches!(self.word_at(1), Keyword::Partition | Keyword::Order) && self.kind_at(1) != Kind::RParen
    }

    fn frame_bound(&mut self, bounds: &mut Vec<Expr>) -> Result<()> {
        if self.eat_words(&[Keyword::Current, Keyword::Row]) {
            return Ok(());
        }
        if self.is(Keyword::Unbounded) && matches!(self.word_at(1), Keyword::Preceding | Keyword::Following) {
            self.at += 2;
            return Ok(());
        }
        bounds.push(self.expr()?);
        match self.eat_one_of(&[Keyword::Preceding, Keyword::Following]) {
            Some(_) => Ok(()),
            None => self.fail(),
        }
    }

    /// LIMIT in all spellings, if one stands here.
    pub(super) fn limit(&mut self) -> Result<Option<Limit>> {
        let start = self.at;
        let mut limit = Limit { span: self.empty(), offset: None, count: None, with_ties: false, rows_examined: None };
        if self.eat_word(Keyword::Limit) {
            if !self.are(&[Keyword::Rows, Keyword::Examined]) {
                limit.count = Some(self.limit_value()?);
                if self.eat(Kind::Comma) {
                    limit.offset = limit.count.take();
                    limit.count = Some(self.limit_value()?);
                } else if self.eat_word(Keyword::Offset) {
                    limit.offset = Some(self.limit_value()?);
                }
            }
            if self.is_mariadb() && self.eat_words(&[Keyword::Rows, Keyword::Examined]) {
                limit.rows_examined = Some(self.limit_value()?);
            }
        } else if self.is_mariadb() && matches!(self.word(), Keyword::Offset | Keyword::Fetch) {
            self.fetch(&mut limit)?;
        } else {
            return Ok(None);
        }
        limit.span = self.since(start);
        Ok(Some(limit))
    }

    /// `[OFFSET n ROWS] [FETCH FIRST n ROWS ONLY]`.
    fn fetch(&mut self, limit: &mut Limit) -> Result<()> {
        if self.eat_word(Keyword::Offset) {
            limit.offset = Some(self.limit_value()?);
            self.eat_one_of(&[Keyword::Row, Keyword::Rows]);
        }
        if self.eat_word(Keyword::Fetch) {
            if self.eat_one_of(&[Keyword::First, Keyword::Next]).is_none() {
                return self.fail();
            }
            if !matches!(self.word(), Keyword::Row | Keyword::Rows) {
                limit.count = Some(self.limit_value()?);
            } else {
                return Err(Error::refused("FETCH without a number is not supported; write FETCH FIRST 1 ROWS ONLY"));
            }
            self.eat_one_of(&[Keyword::Row, Keyword::Rows]);
            limit.with_ties = self.eat_words(&[Keyword::With, Keyword::Ties]);
            if !limit.with_ties {
                self.expect_word(Keyword::Only)?;
            }
        }
        Ok(())
    }

    /// A number, a parameter, or a routine's variable.
    pub(super) fn limit_value(&mut self) -> Result<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            Kind::Int => ExprKind::Literal(Literal::Int),
            Kind::Param => ExprKind::Param,
            _ => {
                let column = self.column_ref()?;
                return Ok(self.node(start, ExprKind::Column(column)));
            }
        };
        self.bump();
        Ok(self.node(start, kind))
    }

    fn locks(&mut self) -> Result<Vec<Lock>> {
        let mut locks = Vec::new();
        loop {
            let start = self.at;
            let strength = if self.eat_words(&[Keyword::For, Keyword::Update]) {
                LockStrength::Update
            } else if (!self.is_mariadb() && self.eat_words(&[Keyword::For, Keyword::Share]))
                || self.eat_words(&[Keyword::Lock, Keyword::In, Keyword::Share, Keyword::Mode])
            {
                LockStrength::Share
            } else {
                return Ok(locks);
            };
            let of = if !self.is_mariadb() && self.eat_word(Keyword::Of) { self.table_names()? } else { Vec::new() };
            if self.eat_word(Keyword::Wait) {
                self.limit_value()?;
            } else if !self.eat_words(&[Keyword::Skip, Keyword::Locked]) {
                self.eat_word(Keyword::Nowait);
            }
            locks.push(Lock { span: self.since(start), strength, of });
        }
    }

    fn into(&mut self) -> Result<Option<Into>> {
        let start = self.at;
        if !self.eat_word(Keyword::Into) {
            return Ok(None);
        }
        let target = if self.eat_word(Keyword::Outfile) {
            self.string()?;
            self.file_options()?;
            IntoTarget::File
        } else if self.eat_word(Keyword::Dumpfile) {
            self.string()?;
            IntoTarget::File
        } else {
            IntoTarget::Variables(self.list(|p| match p.kind() {
                Kind::UserVar => Ok(p.bump()),
                _ => p.name(),
            })?)
        };
        Ok(Some(Into { span: self.since(start), target }))
    }

    /// `[CHARACTER SET x] [FIELDS …] [LINES …]`.
    pub(super) fn file_options(&mut self) -> Result<FileFormat> {
        let mut format = FileFormat::default();
        if self.eat_words(&[Keyword::Character, Keyword::Set]) || self.eat_word(Keyword::Charset) {
            format.charset = Some(self.charset_name()?);
        }
        if self.eat_one_of(&[Keyword::Fields, Keyword::Columns]).is_some() {
            loop {
                let optionally = self.eat_word(Keyword::Optionally);
                let what = match self.word() {
                    Keyword::Terminated => &mut format.fields_terminated,
                    Keyword::Enclosed => &mut format.enclosed,
                    Keyword::Escaped => &mut format.escaped,
                    _ if optionally => return self.fail(),
                    _ => break,
                };
                self.bump();
                *what = Some(self.delimiter()?);
            }
        }
        if self.eat_word(Keyword::Lines) {
            while let Some(word) = self.eat_one_of(&[Keyword::Terminated, Keyword::Starting]) {
                let delimiter = Some(self.delimiter()?);
                match word {
                    Keyword::Starting => format.lines_starting = delimiter,
                    _ => format.lines_terminated = delimiter,
                }
            }
        }
        Ok(format)
    }

    fn delimiter(&mut self) -> Result<Name> {
        self.expect_word(Keyword::By)?;
        match self.kind() {
            Kind::String | Kind::Hex | Kind::Bit => Ok(self.bump()),
            _ => self.fail(),
        }
    }
}

fn body_span(body: &Body) -> Span {
    match body {
        Body::Select(select) => select.span,
        Body::Parens(span, _) | Body::Values(span, _) | Body::Table(span, _) => *span,
        Body::SetOperation(operation) => operation.span,
    }
}
