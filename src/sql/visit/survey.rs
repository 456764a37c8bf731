//! A statement looked over once: its scopes, with the tables and columns in each, and its calls.

use super::super::ast::*;
use super::super::{Kind, Source, Span, literal};
use super::{Node, Role, TableUse, Visitor, walk_statement};

/// What a statement holds, flat, in the order of the walk.
#[derive(Debug, Default)]
pub struct Survey<'a> {
    pub scopes: Vec<Scope<'a>>,
    pub tables: Vec<TableInScope<'a>>,
    pub columns: Vec<ColumnUse>,
    pub wildcards: Vec<(ScopeNo, &'a SelectItem)>,
    /// Calls of functions, aggregates and windows among them, with their expressions' spans.
    pub calls: Vec<(ScopeNo, Span, &'a Function)>,
    /// Tables and aliases named again: targets of DELETE, FOR UPDATE OF.
    pub mentions: Vec<(ScopeNo, TableName)>,
    pub user_variables: Vec<Name>,
    pub system_variables: Vec<SysVar>,
    /// Tokens of `?`.
    pub params: Vec<u32>,
    /// `@v := e` stands somewhere.
    pub assigns_variables: bool,
}

/// Number of a scope in `Survey::scopes`; 0 is the statement's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeNo(pub u32);

/// Where a set of tables is seen: the statement itself, or one SELECT.
#[derive(Debug)]
pub struct Scope<'a> {
    /// Where a column is looked for when no table here has it. A derived table that isn't LATERAL
    /// does not see the tables beside it.
    pub outer: Option<ScopeNo>,
    pub select: Option<&'a Select>,
}

#[derive(Clone, Copy, Debug)]
pub struct TableInScope<'a> {
    pub scope: ScopeNo,
    pub table: TableUse<'a>,
    /// It is the name of a common table of a WITH, not of a table.
    pub common: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct ColumnUse {
    pub scope: ScopeNo,
    pub column: ColumnRef,
}

impl<'a> Survey<'a> {
    pub fn of(source: &'a Source<'a>, statement: &'a Statement) -> Survey<'a> {
        let mut surveyor = Surveyor {
            source,
            survey: Survey { scopes: vec![Scope { outer: None, select: None }], ..Survey::default() },
            scopes: vec![ScopeNo(0)],
            common: Vec::new(),
            queries: Vec::new(),
            beside: Vec::new(),
        };
        walk_statement(statement, &mut surveyor);
        surveyor.survey
    }

    /// The tables themselves: common tables left out.
    pub fn real_tables(&self) -> impl Iterator<Item = &TableInScope<'a>> {
        self.tables.iter().filter(|t| !t.common)
    }

    /// Whether `inner` is `outer` or lies in it.
    pub fn is_within(&self, inner: ScopeNo, outer: ScopeNo) -> bool {
        let mut at = Some(inner);
        while let Some(scope) = at {
            if scope == outer {
                return true;
            }
            at = self.scopes[scope.0 as usize].outer;
        }
        false
    }
}

struct Surveyor<'a> {
    source: &'a Source<'a>,
    survey: Survey<'a>,
    /// The open scopes, the innermost last.
    scopes: Vec<ScopeNo>,
    /// Names of common tables that are visible now.
    common: Vec<Name>,
    /// How many were visible before each open query.
    queries: Vec<usize>,
    /// For each open scope that a derived table or common table hides from its query.
    beside: Vec<ScopeNo>,
}

impl<'a> Surveyor<'a> {
    fn scope(&self) -> ScopeNo {
        self.scopes.last().copied().unwrap_or(ScopeNo(0))
    }

    /// The scope that a new one looks out to.
    fn outer(&self) -> Option<ScopeNo> {
        let mut outer = self.scope();
        while self.beside.contains(&outer) {
            outer = self.survey.scopes[outer.0 as usize].outer?;
        }
        Some(outer)
    }

    fn is_common(&self, table: &TableUse) -> bool {
        let reads = matches!(table.role, Role::From | Role::Update);
        reads && table.table.db.is_none() && self.common.iter().any(|&name| self.same_name(name, table.table.name))
    }

    fn same_name(&self, a: Name, b: Name) -> bool {
        literal::name(self.source, a) == literal::name(self.source, b)
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Function(call) => self.survey.calls.push((self.scope(), expr.span, call)),
            ExprKind::UserVar => self.survey.user_variables.push(Name(expr.span.start)),
            ExprKind::Assign(_) => {
                self.survey.user_variables.push(Name(expr.span.start));
                self.survey.assigns_variables = true;
            }
            ExprKind::SysVar(variable) => self.survey.system_variables.push(*variable),
            ExprKind::Param => self.survey.params.push(expr.span.start),
            _ => debug_assert!(self.source.kind(expr.span.start) != Kind::End),
        }
    }
}

/// A derived table whose query doesn't see the tables beside it.
fn hides_scope(table: &TableRef) -> bool {
    matches!(table.kind, TableRefKind::Derived { lateral: false, .. })
}

impl<'a> Visitor<'a> for Surveyor<'a> {
    fn enter(&mut self, node: Node<'a>) -> bool {
        let scope = self.scope();
        match node {
            Node::Query(_) => self.queries.push(self.common.len()),
            Node::Select(select) => {
                let number = ScopeNo(self.survey.scopes.len() as u32); // far fewer than tokens
                self.survey.scopes.push(Scope { outer: self.outer(), select: Some(select) });
                self.scopes.push(number);
            }
            Node::With(with) => {
                if with.recursive {
                    self.common.extend(with.tables.iter().map(|t| t.name));
                }
            }
            Node::CommonTable(_) => self.beside.push(scope),
            Node::TableRef(table) if hides_scope(table) => self.beside.push(scope),
            Node::TableRef(_) => {}
            Node::Expr(expr) => self.expr(expr),
            Node::Table(table) => {
                let common = self.is_common(&table);
                self.survey.tables.push(TableInScope { scope, table, common });
            }
            Node::Wildcard(item) => self.survey.wildcards.push((scope, item)),
            Node::Column(column) => self.survey.columns.push(ColumnUse { scope, column }),
            Node::Mention(table) => self.survey.mentions.push((scope, table)),
        }
        true
    }

    fn leave(&mut self, node: Node<'a>) {
        match node {
            Node::Query(_) => {
                let visible = self.queries.pop().unwrap_or(0);
                self.common.truncate(visible);
            }
            Node::Select(_) => {
                self.scopes.pop();
            }
            Node::CommonTable(table) => {
                self.beside.pop();
                self.common.push(table.name);
            }
            Node::TableRef(table) if hides_scope(table) => {
                self.beside.pop();
            }
            Node::With(_)
            | Node::TableRef(_)
            | Node::Expr(_)
            | Node::Table(_)
            | Node::Wildcard(_)
            | Node::Column(_)
            | Node::Mention(_) => {}
        }
    }
}
