//! The walk through queries: each SELECT makes a scope, its joins and its WHERE pin the tables in
//! it, and subqueries inherit what holds for the rows around them.

use std::sync::Arc;

use super::scope::{Common, Env};
use super::tables::Spot;
use super::{Defined, Export, FoundKind, Origin, Outermost, Survey, Use};
use crate::error::{Error, Result};
use crate::plan::allow::denied;
use crate::plan::predicate::{self, Column, Fact, SourceNo};
use crate::plan::{KeyColumn, KeyMatch, Patch, ValueSource};
use crate::sql::ast::{
    self, Body, Expr, Into, IntoTarget, JoinCondition, JoinKind, Query, Select, SelectItem, SelectItemKind,
    TableFactor, TableRef, TableRefKind, With,
};
use crate::sql::{Flavour, Span};

/// The columns of a derived table; `None`: not known.
type Exports = Option<Arc<[Export]>>;

/// FROM before its scope is complete.
pub(super) enum Tree<'q> {
    Leaf(SourceNo),
    Cross(Box<Tree<'q>>, Box<Tree<'q>>),
    Join(&'q ast::Join, Box<Tree<'q>>, Box<Tree<'q>>),
}

/// What can only be walked when the whole FROM is known.
enum Later<'q> {
    Lateral(&'q Query),
    Expr(&'q Expr),
}

/// A FROM in the making.
#[derive(Default)]
struct Building<'q> {
    sources: Vec<SourceNo>,
    later: Vec<Later<'q>>,
    right_joins: bool,
    merged: bool,
}

impl Survey<'_> {
    pub fn query(&mut self, query: &Query, env: &Env<'_>) -> Result<Exports> {
        let common = self.with(query.with.as_ref(), env)?;
        for lock in &query.locks {
            self.marks.locks_rows = true;
            for table in &lock.of {
                if let Some(db) = table.db {
                    self.cut(Span::new(db.0, table.name.0), Patch::Text([].into()));
                }
            }
        }
        self.into(query.into.as_ref())?;
        match &query.body {
            Body::Select(select) => self.select(select, Some(query), &common),
            body => {
                let exports = self.body(body, &common)?;
                self.order(&query.order_by, &common)?;
                self.limit(query.limit.as_ref(), &common)?;
                Ok(exports)
            }
        }
    }

    fn body(&mut self, body: &Body, env: &Env<'_>) -> Result<Exports> {
        match body {
            Body::Select(select) => self.select(select, None, env),
            Body::Parens(_, query) => self.query(query, env),
            Body::SetOperation(operation) => {
                let first = self.body(&operation.first, env)?;
                for arm in &operation.rest {
                    self.body(&arm.body, env)?;
                }
                let nameless = |export: &Export| Export {
                    name: export.name.clone(),
                    column: None,
                    constant: false,
                    values: Vec::new(),
                };
                Ok(first.map(|first| first.iter().map(nameless).collect()))
            }
            Body::Values(_, rows) => {
                rows.iter().try_for_each(|row| self.exprs(&row.values, env))?;
                Ok(None)
            }
            Body::Table(_, table) => {
                match env.common(&self.name(table.name)).filter(|_| table.db.is_none()).map(|common| common.number) {
                    None => drop(self.table(table, Spot::Bare)?),
                    Some(common) => self.uses.push(Use { common, name: table.name, span: table.span, alias: false }),
                }
                Ok(None)
            }
        }
    }

    /// The scope with the common tables of WITH.
    pub fn with<'e>(&mut self, with: Option<&With>, env: &'e Env<'e>) -> Result<Env<'e>> {
        let mut common = Env::below(env);
        let Some(with) = with else { return Ok(common) };
        for table in &with.tables {
            let name: Box<str> = self.name(table.name).into();
            let (number, first) = (self.commons.len(), self.refs.len());
            self.commons.push(Defined { span: table.span, refs: first..first });
            if with.recursive {
                common.common.push(Common { name: name.clone(), columns: None, number });
            }
            let exports = self.query(&table.query, &common)?;
            let columns = self.renamed(exports, &table.columns);
            if with.recursive {
                common.common.pop();
            }
            self.commons[number].refs.end = self.refs.len();
            common.common.push(Common { name, columns, number });
        }
        Ok(common)
    }

    fn renamed(&self, exports: Exports, columns: &[ast::Name]) -> Exports {
        if columns.is_empty() {
            return exports;
        }
        let names = columns.iter().map(|column| self.name(*column).to_lowercase().into());
        match exports {
            Some(exports) if exports.len() == columns.len() => {
                Some(exports.iter().zip(names).map(|(export, name)| Export { name, ..export.clone() }).collect())
            }
            Some(_) | None => {
                Some(names.map(|name| Export { name, column: None, constant: false, values: Vec::new() }).collect())
            }
        }
    }

    fn select(&mut self, select: &Select, query: Option<&Query>, env: &Env<'_>) -> Result<Exports> {
        self.marks.calc_found_rows |= select.options.calc_found_rows;
        self.into(select.into.as_ref())?;
        let scope = self.scope(&select.from, select.filter.as_ref(), env)?;
        self.items(&select.items, &scope)?;
        if let Some(group) = &select.group_by {
            self.order(&group.items, &scope)?;
        }
        for expr in select.having.iter().chain(&select.qualify) {
            self.expr(expr, &scope)?;
        }
        for window in &select.windows {
            self.window(&window.window, &scope)?;
        }
        if let Some(query) = query {
            self.order(&query.order_by, &scope)?;
            self.limit(query.limit.as_ref(), &scope)?;
        }
        self.outermost = Outermost { sources: scope.sources.clone(), right_joins: scope.right_joins };
        Ok(self.exports(&select.items, &scope))
    }

    /// Select items: each keeps the title that it would have uncut.
    pub fn items(&mut self, items: &[SelectItem], scope: &Env<'_>) -> Result<()> {
        for item in items {
            match &item.kind {
                SelectItemKind::Wildcard { db, table: Some(table) } => {
                    let column = ast::ColumnRef { span: item.span, db: *db, table: Some(*table), column: *table };
                    self.column_ref(&column, scope);
                }
                SelectItemKind::Wildcard { table: None, .. } => {}
                SelectItemKind::Expr { expr, alias } => {
                    self.expr(expr, scope)?;
                    let is_column = matches!(super::facts::bare(expr).kind, ast::ExprKind::Column(_));
                    if alias.is_none() && !is_column && (self.is_cut(item.span) || self.may_be_renamed(item.span)) {
                        self.title(item.span);
                    }
                }
            }
        }
        Ok(())
    }

    /// A common table that is named in there may have to be written again under another name.
    fn may_be_renamed(&self, span: Span) -> bool {
        self.source.dialect.flavour == Flavour::MySql
            && self.uses.iter().any(|used| span.start <= used.span.start && used.span.end <= span.end)
    }

    /// Puts the item's own text behind it as its alias.
    fn title(&mut self, item: Span) {
        // A server cuts longer titles itself, but takes no longer aliases.
        const LONGEST: usize = 256;
        let (bytes, charset) = (self.source.span_bytes(item), self.source.dialect.charset);
        let mut alias = b" AS `".to_vec();
        let (mut at, mut length) = (0, 0);
        while at < bytes.len() && length < LONGEST {
            let step = charset.step(&bytes[at..]);
            alias.extend_from_slice(&bytes[at..at + step]);
            if bytes[at] == b'`' {
                alias.push(b'`');
            }
            // The later bytes of an utf8 character count with the first.
            length += usize::from(bytes[at] & 0xC0 != 0x80);
            at += step;
        }
        alias.push(b'`');
        self.cut(Span::new(item.end, item.end), Patch::Text(alias.into()));
    }

    pub fn limit(&mut self, limit: Option<&ast::Limit>, env: &Env<'_>) -> Result<()> {
        let Some(limit) = limit else { return Ok(()) };
        let parts = [&limit.offset, &limit.count, &limit.rows_examined];
        parts.into_iter().flatten().try_for_each(|expr| self.expr(expr, env))
    }

    fn into(&mut self, into: Option<&Into>) -> Result<()> {
        match into.map(|into| &into.target) {
            None => {}
            Some(IntoTarget::Variables(variables)) => variables.iter().for_each(|variable| self.assigned(*variable)),
            // On a server's disk.
            Some(IntoTarget::File) => return Err(denied::privilege("FILE")),
        }
        Ok(())
    }

    /// The scope of FROM and WHERE: its tables are pinned, ON and WHERE are walked.
    pub fn scope<'e>(&mut self, from: &[TableRef], filter: Option<&Expr>, env: &'e Env<'e>) -> Result<Env<'e>> {
        let mut building = Building::default();
        let tree = self.from(from, env, &mut building)?;
        let Building { sources, later, right_joins, merged } = building;
        let mut scope = Env { sources, right_joins, merged, ..Env::below(env) };
        if let Some(tree) = &tree {
            self.note_filters(tree, filter, &scope);
        }
        let join = tree.map(|tree| self.join(tree, &scope));
        let mut facts = std::mem::take(&mut scope.facts);
        if let Some(filter) = filter {
            self.facts(filter, &scope, &mut facts);
        }
        facts.extend(scope.sources.iter().flat_map(|source| self.derived_facts(*source)));
        facts.extend(scope.sources.iter().filter_map(|source| self.driven(*source)));
        let above: Vec<&Fact> = facts.iter().collect();
        let mut holding = above.clone();
        if let Some(join) = &join {
            join.pins(&above, &mut |source, facts| self.pin(source, facts));
            join.facts(&above, &mut holding);
        }
        scope.facts = holding.into_iter().cloned().collect();
        for later in later {
            match later {
                Later::Lateral(query) => drop(self.query(query, &scope)?),
                Later::Expr(expr) => self.expr(expr, &scope)?,
            }
        }
        filter.iter().try_for_each(|filter| self.expr(filter, &scope))?;
        Ok(scope)
    }

    /// The scope of a single table that takes no alias, and a WHERE.
    pub fn bare_scope<'e>(&mut self, source: SourceNo, filter: Option<&Expr>, env: &'e Env<'e>) -> Result<Env<'e>> {
        let mut scope = Env { sources: vec![source], ..Env::below(env) };
        let mut facts = std::mem::take(&mut scope.facts);
        if let Some(filter) = filter {
            self.facts(filter, &scope, &mut facts);
        }
        let above: Vec<&Fact> = facts.iter().collect();
        self.pin(source, &above);
        scope.facts = facts;
        filter.iter().try_for_each(|filter| self.expr(filter, &scope))?;
        Ok(scope)
    }

    /// The driving table's key, as if it were a constant.
    fn driven(&self, source: SourceNo) -> Option<Fact> {
        let Origin::Table { found, .. } = self.origin(source) else { return None };
        let FoundKind::Sharded(rule) = &self.refs[usize::from(found.0)].kind else { return None };
        let key = rule.sharded().filter(|_| self.driver == Some(*found))?.key.to_lowercase();
        let column = Column { source, name: key.into() };
        Some(Fact::Among { column, values: vec![ValueSource::Driver], null_safe: false })
    }

    /// Notes what pins a sharded table.
    fn pin(&mut self, source: SourceNo, facts: &[&Fact]) {
        let Origin::Table { found, .. } = self.origin(source) else { return };
        let found = usize::from(found.0);
        let FoundKind::Sharded(rule) = self.refs[found].kind.clone() else { return };
        let Some(sharded) = rule.sharded() else { return };
        let mut keys = self.matches(source, &sharded.key, KeyColumn::Key, facts);
        if let Some(id) = sharded.id.as_ref().filter(|id| id.layout.carries.is_some()) {
            keys.extend(self.matches(source, &id.column, KeyColumn::Id, facts));
        }
        self.refs[found].keys = keys;
    }

    fn matches(&self, source: SourceNo, name: &str, column: KeyColumn, facts: &[&Fact]) -> Vec<KeyMatch> {
        let own = Column { source, name: name.to_lowercase().into() };
        predicate::values(&own, facts)
            .into_iter()
            .map(|(values, null_safe)| KeyMatch { column, values: values.to_vec(), null_safe })
            .collect()
    }

    fn from<'q>(
        &mut self,
        tables: &'q [TableRef],
        env: &Env<'_>,
        building: &mut Building<'q>,
    ) -> Result<Option<Tree<'q>>> {
        let mut all = None;
        for table in tables {
            let tree = self.source(table, env, building)?;
            all = Some(match all {
                None => tree,
                Some(left) => Tree::Cross(Box::new(left), Box::new(tree)),
            });
        }
        Ok(all)
    }

    fn source<'q>(&mut self, table: &'q TableRef, env: &Env<'_>, building: &mut Building<'q>) -> Result<Tree<'q>> {
        match &table.kind {
            TableRefKind::Table(factor) => {
                let source = self.factor(factor, env)?;
                building.sources.push(source);
                Ok(Tree::Leaf(source))
            }
            TableRefKind::Derived { query, lateral, alias, columns } => {
                let exports = if *lateral {
                    building.later.push(Later::Lateral(query));
                    None
                } else {
                    self.query(query, env)?
                };
                let columns = self.renamed(exports, columns);
                Ok(self.derived(*alias, columns, building))
            }
            TableRefKind::JsonTable { document, alias } => {
                building.later.push(Later::Expr(document));
                Ok(self.derived(*alias, None, building))
            }
            TableRefKind::Join(join) => {
                let left = self.source(&join.left, env, building)?;
                let right = self.source(&join.right, env, building)?;
                building.right_joins |= join.kind == JoinKind::Right;
                building.merged |= join.natural || matches!(join.condition, JoinCondition::Using(_));
                if let JoinCondition::On(on) = &join.condition {
                    building.later.push(Later::Expr(on));
                }
                Ok(Tree::Join(join, Box::new(left), Box::new(right)))
            }
            TableRefKind::Parens(tables) => {
                let tree = self.from(tables, env, building)?;
                tree.ok_or_else(|| Error::proxy("parentheses in FROM without a table"))
            }
        }
    }

    fn derived<'q>(&mut self, alias: Option<ast::Name>, columns: Exports, building: &mut Building<'q>) -> Tree<'q> {
        let name = alias.map(|alias| self.name(alias)).unwrap_or_default().into();
        let source = self.add(Origin::Derived { name, columns });
        building.sources.push(source);
        Tree::Leaf(source)
    }

    fn factor(&mut self, factor: &TableFactor, env: &Env<'_>) -> Result<SourceNo> {
        let name = self.name(factor.table.name);
        if factor.table.db.is_none()
            && let Some(Common { columns, number, .. }) = env.common(&name).cloned()
        {
            let (span, alias) = (factor.table.span, factor.alias.is_none());
            self.uses.push(Use { common: number, name: factor.table.name, span, alias });
            let name = factor.alias.map_or(name, |alias| self.name(alias)).into();
            return Ok(self.add(Origin::Derived { name, columns }));
        }
        let end = [Some(factor.table.span), factor.partition, factor.system_time];
        let before = end.into_iter().flatten().map(|span| span.end).max().unwrap_or(factor.table.span.end);
        self.marks.hinted |= factor.partition.is_some() || factor.index_hints.is_some();
        self.table(&factor.table, Spot::Aliased { alias: factor.alias, before })
    }

    /// The tree with its conditions as facts.
    fn join(&self, tree: Tree<'_>, scope: &Env<'_>) -> predicate::Join {
        match tree {
            Tree::Leaf(source) => predicate::Join::Leaf(source),
            Tree::Cross(left, right) => {
                let (left, right) = (Box::new(self.join(*left, scope)), Box::new(self.join(*right, scope)));
                predicate::Join::Inner { left, right, on: Vec::new() }
            }
            Tree::Join(join, left, right) => {
                let (left, right) = (Box::new(self.join(*left, scope)), Box::new(self.join(*right, scope)));
                let on = self.on(join, &left, &right, scope);
                match join.kind {
                    JoinKind::Inner | JoinKind::Straight => predicate::Join::Inner { left, right, on },
                    JoinKind::Left => predicate::Join::Outer { kept: left, nullable: right, on },
                    JoinKind::Right => predicate::Join::Outer { kept: right, nullable: left, on },
                }
            }
        }
    }

    fn on(&self, join: &ast::Join, left: &predicate::Join, right: &predicate::Join, scope: &Env<'_>) -> Vec<Fact> {
        let mut facts = Vec::new();
        match &join.condition {
            JoinCondition::On(condition) => self.facts(condition, scope, &mut facts),
            JoinCondition::Using(columns) => {
                for column in columns {
                    let name = self.name(*column).to_lowercase();
                    self.shared(&name, left, right, scope, &mut facts);
                }
            }
            JoinCondition::None if join.natural => {
                for name in self.common_names(left, right, scope) {
                    self.shared(&name, left, right, scope, &mut facts);
                }
            }
            JoinCondition::None => {}
        }
        facts
    }

    /// Both sides have this column, and it is equal in both.
    fn shared(
        &self,
        name: &str,
        left: &predicate::Join,
        right: &predicate::Join,
        scope: &Env<'_>,
        out: &mut Vec<Fact>,
    ) {
        let side = |join: &predicate::Join| {
            let sources: Vec<SourceNo> = scope.sources.iter().copied().filter(|source| join.has(*source)).collect();
            // With a RIGHT JOIN below, the joined column is not the leftmost one.
            (!scope.right_joins || sources.len() == 1).then(|| self.holder(&sources, name)).flatten()
        };
        if let (Some(a), Some(b)) = (side(left), side(right)) {
            self.equal(a, b, out);
        }
    }

    fn common_names(&self, left: &predicate::Join, right: &predicate::Join, scope: &Env<'_>) -> Vec<Box<str>> {
        let names = |join: &predicate::Join| -> Option<Vec<Box<str>>> {
            let sources = scope.sources.iter().filter(|source| join.has(**source));
            let lists: Option<Vec<_>> = sources.map(|source| self.column_names(*source)).collect();
            lists.map(|lists| lists.concat())
        };
        match (names(left), names(right)) {
            (Some(left), Some(right)) => left.into_iter().filter(|name| right.contains(name)).collect(),
            (_, _) => Vec::new(),
        }
    }

    /// What the rows of a derived table have in its columns; or NULL.
    fn derived_facts(&self, source: SourceNo) -> Vec<Fact> {
        let Origin::Derived { columns: Some(columns), .. } = self.origin(source) else { return Vec::new() };
        columns
            .iter()
            .flat_map(|export| export.values.iter().map(|values| (export.name.clone(), values.clone())))
            .map(|(name, values)| Fact::Among { column: Column { source, name }, values, null_safe: true })
            .collect()
    }

    fn exports(&self, items: &[SelectItem], scope: &Env<'_>) -> Exports {
        let facts: Vec<&Fact> = scope.facts.iter().collect();
        let of = |name: Box<str>, column: Option<Column>| {
            let values = column.as_ref().map_or(Vec::new(), |column| {
                let lists = predicate::values(column, &facts).into_iter().filter(|(_, null_safe)| !null_safe);
                lists.map(|(values, _)| values.to_vec()).collect()
            });
            Export { name, column, constant: false, values }
        };
        let mut exports = Vec::new();
        for item in items {
            match &item.kind {
                // The places of its columns are not those of the tables' columns.
                SelectItemKind::Wildcard { table: None, .. } if scope.merged => return None,
                SelectItemKind::Wildcard { table, .. } => {
                    for source in &scope.sources {
                        let wanted = table.is_none_or(|table| self.is_named(*source, &self.name(table)));
                        if !wanted {
                            continue;
                        }
                        for name in self.column_names(*source)? {
                            exports.push(of(name.clone(), Some(Column { source: *source, name })));
                        }
                    }
                }
                SelectItemKind::Expr { expr, alias } => {
                    let column = self.column(expr, scope);
                    let name = match (alias, &super::facts::bare(expr).kind) {
                        (Some(alias), _) => self.name(*alias),
                        (None, ast::ExprKind::Column(column)) => self.name(column.column),
                        (None, _) => String::from_utf8_lossy(self.source.span_bytes(item.span)).into_owned(),
                    };
                    let mut export = of(name.to_lowercase().into(), column);
                    if let Some(value) = self.constant(expr) {
                        (export.constant, export.values) = (true, vec![vec![value]]);
                    }
                    exports.push(export);
                }
            }
        }
        Some(exports.into())
    }
}
