//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::{Error, Result};

impl Parser<'_, '_> {
    pub(super) fn insert(&mut self) -> Result<Insert> {
        let replace = self.is(Keyword::Replace);
        self.bump();
        self.eat_hint();
        let priority =
            matches!(self.word(), Keyword::LowPriority | Keyword::Delayed | Keyword::HighPriority).then(|| self.bump());
        let ignore = self.eat_word(Keyword::Ignore);
        self.eat_word(Keyword::Into);
        let table = self.table_name()?;
        let partition = self.partition_list()?;
        let (columns_span, columns) = self.insert_columns()?;
        let source = self.insert_source()?;
        let row_alias = self.row_alias()?;
        let on_duplicate = self.on_duplicate()?;
        let returning = self.returning()?;
        Ok(Insert {
            replace,
            priority,
            ignore,
            table,
            partition,
            columns_span,
            columns,
            source,
            row_alias,
            on_duplicate,
            returning,
        })
    }

    fn insert_columns(&mut self) -> Result<(Option<super::super::Span>, Vec<ColumnRef>)> {
        let start = self.at;
        if self.kind() != Kind::LParen || self.starts_query_at(1) || self.kind_at(1) == Kind::LParen {
            return Ok((None, Vec::new()));
        }
        self.bump();
        let columns = if self.kind() == Kind::RParen { Vec::new() } else { self.list(Self::column_ref)? };
        self.expect(Kind::RParen)?;
        Ok((Some(self.since(start)), columns))
    }

    fn insert_source(&mut self) -> Result<InsertSource> {
        let rows = matches!(self.word(), Keyword::Values | Keyword::Value) && self.kind_at(1) == Kind::LParen;
        if rows {
            let keyword = self.bump();
            let start = self.at;
            let rows = self.list(|p| p.row_values(p.at))?;
            return Ok(InsertSource::Values { keyword, span: self.since(start), rows });
        }
        if self.eat_word(Keyword::Set) {
            let start = self.at;
            let assignments = self.list(Self::column_assignment)?;
            return Ok(InsertSource::Set { span: self.since(start), assignments });
        }
        self.query().map(|q| InsertSource::Query(Box::new(q)))
    }

    fn row_alias(&mut self) -> Result<Option<RowAlias>> {
        let start = self.at;
        if self.is_mariadb() || !self.eat_word(Keyword::As) {
            return Ok(None);
        }
        let name = self.name()?;
        let columns = self.optional_names()?;
        Ok(Some(RowAlias { span: self.since(start), name, columns }))
    }

    fn on_duplicate(&mut self) -> Result<Option<OnDuplicate>> {
        let start = self.at;
        if !self.eat_words(&[Keyword::On, Keyword::Duplicate, Keyword::Key, Keyword::Update]) {
            return Ok(None);
        }
        let assignments = self.list(Self::column_assignment)?;
        Ok(Some(OnDuplicate { span: self.since(start), assignments }))
    }

    fn returning(&mut self) -> Result<Option<Returning>> {
        let start = self.at;
        if !self.is_mariadb() || !self.eat_word(Keyword::Returning) {
            return Ok(None);
        }
        let items = self.list(Self::select_item)?;
        Ok(Some(Returning { span: self.since(start), items }))
    }

    pub(super) fn column_assignment(&mut self) -> Result<ColumnAssignment> {
        let start = self.at;
        let column = self.column_ref()?;
        if !self.eat(Kind::Eq) && !self.eat(Kind::Assign) {
            return self.fail();
        }
        let value = self.expr()?;
        Ok(ColumnAssignment { span: self.since(start), column, value })
    }

    pub(super) fn update(&mut self, with: Option<With>) -> Result<Update> {
        self.expect_word(Keyword::Update)?;
        self.eat_hint();
        let low_priority = self.eat_word(Keyword::LowPriority);
        let ignore = self.eat_word(Keyword::Ignore);
        let tables = self.table_refs()?;
        self.refuse_portion()?;
        self.expect_word(Keyword::Set)?;
        let assignments = self.list(Self::column_assignment)?;
        let filter = if self.eat_word(Keyword::Where) { Some(self.expr()?) } else { None };
        let order_by = if self.is(Keyword::Order) { self.order_by()? } else { Vec::new() };
        let limit = self.limit()?;
        Ok(Update { with, low_priority, ignore, tables, assignments, filter, order_by, limit })
    }

    fn refuse_portion(&self) -> Result<()> {
        if self.are(&[Keyword::For, Keyword::Portion]) {
            return Err(Error::refused("FOR PORTION OF is not supported; write the periods' rows yourself"));
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, with: Option<With>) -> Result<Delete> {
        self.expect_word(Keyword::Delete)?;
        self.eat_hint();
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        loop {
            match self.word() {
                Keyword::LowPriority => low_priority = true,
                Keyword::Quick if !self.is_target_behind() => quick = true,
                Keyword::Ignore => ignore = true,
                _ => break,
            }
            self.bump();
        }
        let form = self.delete_form()?;
        let filter = if self.eat_word(Keyword::Where) { Some(self.expr()?) } else { None };
        let order_by = if self.is(Keyword::Order) { self.order_by()? } else { Vec::new() };
        let limit = self.limit()?;
        let returning = self.returning()?;
        Ok(Delete { with, low_priority, quick, ignore, form, filter, order_by, limit, returning })
    }

    /// QUICK is the name of a table: `DELETE quick FROM …`, `DELETE quick, t FROM …`.
    fn is_target_behind(&self) -> bool {
        matches!(self.kind_at(1), Kind::Comma | Kind::Dot)
    }

    fn delete_form(&mut self) -> Result<DeleteForm> {
        if !self.eat_word(Keyword::From) {
            let targets = self.list(Self::delete_target)?;
            self.expect_word(Keyword::From)?;
            return Ok(DeleteForm::Multi { targets, from: self.table_refs()? });
        }
        let targets = self.list(Self::delete_target)?;
        if self.eat_word(Keyword::Using) {
            return Ok(DeleteForm::Multi { targets, from: self.table_refs()? });
        }
        let [DeleteTarget { span, table }] = *targets.as_slice() else { return self.fail() };
        if span != table.span {
            return self.fail(); // `t.*` needs USING
        }
        self.refuse_portion()?;
        let mut partition = self.partition_list()?;
        let alias = if self.is_mariadb() { None } else { self.table_alias()? };
        if partition.is_none() {
            partition = self.partition_list()?;
        }
        Ok(DeleteForm::Single { table, alias, partition })
    }

    fn delete_target(&mut self) -> Result<DeleteTarget> {
        let start = self.at;
        let table = self.table_name()?;
        if self.eat(Kind::Dot) {
            self.expect(Kind::Star)?;
        }
        Ok(DeleteTarget { span: self.since(start), table })
    }

    pub(super) fn load_data(&mut self) -> Result<LoadData> {
        self.expect_word(Keyword::Load)?;
        let xml = self.eat_word(Keyword::Xml);
        if !xml {
            self.expect_word(Keyword::Data)?;
        }
        self.eat_one_of(&[Keyword::LowPriority, Keyword::Concurrent]);
        let local = self.eat_word(Keyword::Local);
        self.expect_word(Keyword::Infile)?;
        let file = self.string()?;
        let replace = self.eat_word(Keyword::Replace);
        let ignore = !replace && self.eat_word(Keyword::Ignore);
        self.expect_word(Keyword::Into)?;
        self.expect_word(Keyword::Table)?;
        let table = self.table_name()?;
        let partition = self.partition_list()?;
        let options = self.at;
        let format = self.file_options()?;
        let tagged = self.eat_words(&[Keyword::Rows, Keyword::Identified]);
        if tagged {
            self.expect_word(Keyword::By)?;
            self.string()?;
        }
        let skip_start = self.at;
        let mut skip = None;
        if self.eat_word(Keyword::Ignore) {
            let number = self.limit_value()?.span;
            if self.eat_one_of(&[Keyword::Lines, Keyword::Rows]).is_none() {
                return self.fail();
            }
            skip = Some((self.since(skip_start), number));
        }
        let options = self.since(options);
        let columns_start = self.at;
        let columns = match self.kind() == Kind::LParen && self.kind_at(1) != Kind::RParen {
            true => self.parenthesised(Self::load_target)?,
            false => {
                if self.eat(Kind::LParen) {
                    self.expect(Kind::RParen)?;
                }
                Vec::new()
            }
        };
        let columns_span = (self.at > columns_start).then(|| self.since(columns_start));
        let assignments = if self.eat_word(Keyword::Set) { self.list(Self::column_assignment)? } else { Vec::new() };
        Ok(LoadData {
            xml,
            local,
            file,
            replace,
            ignore,
            table,
            partition,
            options,
            format,
            tagged,
            skip,
            columns_span,
            columns,
            assignments,
        })
    }

    fn load_target(&mut self) -> Result<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            Kind::UserVar => {
                self.bump();
                ExprKind::UserVar
            }
            _ => ExprKind::Column(self.column_ref()?),
        };
        Ok(self.node(start, kind))
    }
}
