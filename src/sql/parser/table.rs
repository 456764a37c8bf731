//! Tables and joins in FROM, UPDATE and DELETE.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::{Error, Result};

impl Parser<'_, '_> {
    /// What stands behind FROM; DUAL is no table.
    pub(super) fn from(&mut self) -> Result<Vec<TableRef>> {
        if self.eat_word(Keyword::Dual) { Ok(Vec::new()) } else { self.table_refs() }
    }

    pub(super) fn table_refs(&mut self) -> Result<Vec<TableRef>> {
        self.list(Self::table_ref)
    }

    /// A table with the joins behind it. An ON belongs to the nearest JOIN that has none, so
    /// `a JOIN b JOIN c ON x ON y` joins b and c first; a join without condition goes left.
    fn table_ref(&mut self) -> Result<TableRef> {
        self.nested(|p| p.joins())
    }

    fn joins(&mut self) -> Result<TableRef> {
        let start = self.at;
        let mut left = self.table_factor()?;
        while let Some((kind, natural)) = self.eat_join()? {
            self.grow()?;
            if natural {
                let right = self.table_factor()?;
                left = self.join(start, kind, true, left, right, JoinCondition::None);
                continue;
            }
            let right = self.table_ref()?;
            let condition = if self.eat_word(Keyword::On) {
                JoinCondition::On(self.expr()?)
            } else if self.eat_word(Keyword::Using) {
                JoinCondition::Using(self.parenthesised(Self::name)?)
            } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
                return self.fail();
            } else {
                left = join_leftmost(kind, left, right);
                continue;
            };
            left = self.join(start, kind, false, left, right, condition);
        }
        Ok(left)
    }

    fn join(
        &self,
        start: u32,
        kind: JoinKind,
        natural: bool,
        left: TableRef,
        right: TableRef,
        condition: JoinCondition,
    ) -> TableRef {
        let join = Box::new(Join { kind, natural, left, right, condition });
        TableRef { span: self.since(start), kind: TableRefKind::Join(join) }
    }

    /// The words of a join, and whether NATURAL is one of them.
    fn eat_join(&mut self) -> Result<Option<(JoinKind, bool)>> {
        let natural = self.eat_word(Keyword::Natural);
        let kind = match self.word() {
            Keyword::Join => JoinKind::Inner,
            Keyword::StraightJoin if !natural => JoinKind::Straight,
            Keyword::Inner => {
                self.bump();
                JoinKind::Inner
            }
            Keyword::Cross if !natural => {
                self.bump();
                JoinKind::Inner
            }
            Keyword::Left | Keyword::Right => {
                let kind = if self.is(Keyword::Left) { JoinKind::Left } else { JoinKind::Right };
                self.bump();
                self.eat_word(Keyword::Outer);
                kind
            }
            _ if natural => return self.fail(),
            _ => return Ok(None),
        };
        if kind == JoinKind::Straight {
            self.bump();
        } else {
            self.expect_word(Keyword::Join)?;
        }
        Ok(Some((kind, natural)))
    }

    fn table_factor(&mut self) -> Result<TableRef> {
        let start = self.at;
        let kind = match self.kind() {
            Kind::LParen => return self.parenthesised_factor(),
            Kind::LBrace => {
                self.bump();
                self.expect_word(Keyword::Oj)?;
                let inner = self.table_ref()?;
                self.expect(Kind::RBrace)?;
                TableRefKind::Parens(vec![inner])
            }
            _ => match self.word() {
                Keyword::Lateral if !self.is_mariadb() && self.kind_at(1) == Kind::LParen => {
                    self.bump();
                    let query = Box::new(self.parenthesised_query()?);
                    self.derived(query, true)?
                }
                Keyword::JsonTable if self.kind_at(1) == Kind::LParen => self.json_table()?,
                _ => TableRefKind::Table(self.plain_table()?),
            },
        };
        Ok(TableRef { span: self.since(start), kind })
    }

    /// `(query) alias`, `(a, b)`, `(a JOIN b …)`.
    fn parenthesised_factor(&mut self) -> Result<TableRef> {
        let start = self.at;
        if self.starts_query_at(1) {
            let query = Box::new(self.parenthesised_query()?);
            let kind = self.derived(query, false)?;
            return Ok(TableRef { span: self.since(start), kind });
        }
        self.expect(Kind::LParen)?;
        let mut inner = self.table_refs()?;
        if let [TableRef { kind: TableRefKind::Derived { alias: None, lateral: false, .. }, span }] = inner.as_slice() {
            let span = *span;
            if let Some(TableRef { kind: TableRefKind::Derived { query, .. }, .. }) = inner.pop() {
                // `((SELECT …) UNION …) alias`, `((SELECT …)) alias`
                let first = Body::Parens(span, query);
                let query = self.nested(|p| p.query_behind(first))?;
                self.expect(Kind::RParen)?;
                let kind = self.derived(Box::new(query), false)?;
                return Ok(TableRef { span: self.since(start), kind });
            }
        }
        self.expect(Kind::RParen)?;
        Ok(TableRef { span: self.since(start), kind: TableRefKind::Parens(inner) })
    }

    /// Behind the query of a derived table. Without an alias it can only be a part of a query in
    /// parentheses; the servers refuse the rest.
    fn derived(&mut self, query: Box<Query>, lateral: bool) -> Result<TableRefKind> {
        let alias = self.table_alias()?;
        let columns = if alias.is_some() { self.optional_names()? } else { Vec::new() };
        Ok(TableRefKind::Derived { query, lateral, alias, columns })
    }

    fn json_table(&mut self) -> Result<TableRefKind> {
        self.bump();
        self.expect(Kind::LParen)?;
        let document = self.boxed()?;
        self.skip_to_close()?;
        self.expect(Kind::RParen)?;
        Ok(TableRefKind::JsonTable { document, alias: self.table_alias()? })
    }

    fn plain_table(&mut self) -> Result<TableFactor> {
        let table = self.table_name()?;
        let partition = self.partition_list()?;
        let system_time = self.system_time()?;
        let alias = self.table_alias()?;
        let index_hints = self.index_hints()?;
        Ok(TableFactor { table, partition, system_time, alias, index_hints })
    }

    /// `PARTITION (p0, p1)`.
    pub(super) fn partition_list(&mut self) -> Result<Option<super::super::Span>> {
        let start = self.at;
        if !self.eat_word(Keyword::Partition) {
            return Ok(None);
        }
        self.parenthesised(Self::name)?;
        Ok(Some(self.since(start)))
    }

    fn system_time(&mut self) -> Result<Option<super::super::Span>> {
        if self.is_mariadb() && self.are(&[Keyword::For, Keyword::SystemTime]) {
            return Err(Error::refused(
                "FOR SYSTEM_TIME is not supported; ask the server of an unsharded table itself",
            ));
        }
        Ok(None)
    }

    pub(super) fn table_alias(&mut self) -> Result<Option<Name>> {
        if self.eat_word(Keyword::As) {
            return self.name().map(Some);
        }
        let clause = self.is(Keyword::Window) || self.is_join_word();
        if self.is_name() && !clause { self.name().map(Some) } else { Ok(None) }
    }

    fn is_join_word(&self) -> bool {
        self.is(Keyword::Offset) && self.is_mariadb()
    }

    fn index_hints(&mut self) -> Result<Option<super::super::Span>> {
        let start = self.at;
        while matches!(self.word(), Keyword::Use | Keyword::Force | Keyword::Ignore)
            && matches!(self.word_at(1), Keyword::Index | Keyword::Key)
        {
            self.at += 2;
            if self.eat_word(Keyword::For) {
                match self.eat_one_of(&[Keyword::Join, Keyword::Order, Keyword::Group]) {
                    Some(Keyword::Join) => {}
                    Some(_) => self.expect_word(Keyword::By)?,
                    None => return self.fail(),
                }
            }
            self.skip_parens()?;
        }
        Ok((self.at > start).then(|| self.since(start)))
    }
}

/// `left kind right` where `right` may be joins: `a JOIN b LEFT JOIN c ON x` is `(a JOIN b) LEFT JOIN c`,
/// so `left` is joined with the leftmost table of `right`.
fn join_leftmost(kind: JoinKind, left: TableRef, right: TableRef) -> TableRef {
    let (start, end) = (left.span.start, right.span.end);
    let joined = match right.kind {
        TableRefKind::Join(mut inner) => {
            inner.left = join_leftmost(kind, left, inner.left);
            TableRefKind::Join(inner)
        }
        other => {
            let right = TableRef { span: right.span, kind: other };
            TableRefKind::Join(Box::new(Join { kind, natural: false, left, right, condition: JoinCondition::None }))
        }
    };
    TableRef { span: super::super::Span::new(start, end), kind: joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Dialect, Flavour, Source, lexer, parser};

    fn shape(table: &TableRef, source: &Source) -> String {
        let list = |tables: &[TableRef]| tables.iter().map(|t| shape(t, source)).collect::<Vec<_>>().join(", ");
        match &table.kind {
            TableRefKind::Table(factor) => String::from_utf8_lossy(source.bytes(factor.table.name.0)).into_owned(),
            TableRefKind::Derived { .. } => "derived".to_string(),
            TableRefKind::JsonTable { .. } => "json".to_string(),
            TableRefKind::Parens(tables) => format!("<{}>", list(tables)),
            TableRefKind::Join(join) => {
                let condition = match &join.condition {
                    JoinCondition::None => "",
                    JoinCondition::On(_) => " on",
                    JoinCondition::Using(_) => " using",
                };
                let natural = if join.natural { "Natural" } else { "" };
                let (left, right) = (shape(&join.left, source), shape(&join.right, source));
                format!("({left} {natural}{:?} {right}{condition})", join.kind)
            }
        }
    }

    fn from(text: &str) -> String {
        let text = format!("SELECT 1 FROM {text}");
        let dialect = Dialect::new(Flavour::MySql, 90704);
        let mut tokens = Vec::new();
        lexer::lex(text.as_bytes(), &dialect, &mut tokens);
        let source = Source::new(text.as_bytes(), &tokens, dialect);
        let (statement, _) = parser::parse(&source, 0).expect("a statement");
        let StatementKind::Query(query) = &statement.kind else { panic!("no query") };
        let Body::Select(select) = &query.body else { panic!("no SELECT") };
        select.from.iter().map(|t| shape(t, &source)).collect::<Vec<_>>().join(", ")
    }

    /// As the servers resolve it: a column of a is known in the condition of the last join.
    #[test]
    fn joins_lean_as_in_mysql() {
        for (text, expected) in [
            ("a JOIN b ON 1 JOIN c ON 1", "((a Inner b on) Inner c on)"),
            ("a JOIN b JOIN c ON 1 ON 1", "(a Inner (b Inner c on) on)"),
            ("a JOIN b JOIN c ON 1", "((a Inner b) Inner c on)"),
            ("a JOIN b LEFT JOIN c ON 1", "((a Inner b) Left c on)"),
            ("a LEFT JOIN b JOIN c ON 1 ON 1", "(a Left (b Inner c on) on)"),
            ("a JOIN b JOIN c JOIN d ON 1", "(((a Inner b) Inner c) Inner d on)"),
            ("a JOIN b NATURAL LEFT JOIN c", "((a Inner b) NaturalLeft c)"),
            ("a LEFT JOIN (b, c) ON 1, d", "(a Left <b, c> on), d"),
            ("a JOIN (b JOIN c) USING (x)", "(a Inner <(b Inner c)> using)"),
            ("{ OJ a LEFT JOIN b ON 1 }", "<(a Left b on)>"),
            ("((SELECT 1) UNION (SELECT 2)) x STRAIGHT_JOIN b", "(derived Straight b)"),
        ] {
            assert_eq!(from(text), expected, "{text}");
        }
    }
}
