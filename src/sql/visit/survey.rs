//! A statement looked over once: its scopes, with the tables and columns in each, and its calls.

use super::super::ast::*;
use super::super::{Source, Span, literal};
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
        if let ExprKind::Function(call) = &expr.kind {
            self.survey.calls.push((self.scope(), expr.span, call));
        } else if let ExprKind::SysVar(variable) = &expr.kind {
            self.survey.system_variables.push(*variable);
        } else if matches!(expr.kind, ExprKind::Param) {
            self.survey.params.push(expr.span.start);
        } else if matches!(expr.kind, ExprKind::UserVar | ExprKind::Assign(_)) {
            self.survey.user_variables.push(Name(expr.span.start));
            self.survey.assigns_variables |= matches!(expr.kind, ExprKind::Assign(_));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Dialect, Flavour, lexer, parser};

    /// Tables, columns and calls as `name@scope`, in the order of the walk; `outer` of each scope.
    fn survey(text: &str) -> [String; 4] {
        let dialect = Dialect::new(Flavour::MySql, 90704);
        let mut tokens = Vec::new();
        lexer::lex(text.as_bytes(), &dialect, &mut tokens);
        let source = Source::new(text.as_bytes(), &tokens, dialect);
        let (statement, _) = parser::parse(&source, 0).expect("a statement");
        let survey = Survey::of(&source, &statement);
        let shown = |span| String::from_utf8_lossy(source.span_bytes(span)).into_owned();
        let tables = survey.tables.iter().map(|t| {
            let common = if t.common { "=with" } else { "" };
            let alias = t.table.alias.map_or(String::new(), |a| format!(" {}", literal::name(&source, a)));
            format!("{:?} {}{alias}{common}@{}", t.table.role, shown(t.table.table.span), t.scope.0)
        });
        let columns = survey.columns.iter().map(|c| format!("{}@{}", shown(c.column.span), c.scope.0));
        let calls = survey.calls.iter().map(|(scope, span, _)| format!("{}@{}", shown(*span), scope.0));
        let outers = survey.scopes.iter().map(|s| s.outer.map_or("-".to_string(), |o| o.0.to_string()));
        [
            tables.collect::<Vec<_>>().join(", "),
            columns.collect::<Vec<_>>().join(", "),
            calls.collect::<Vec<_>>().join(", "),
            outers.collect::<Vec<_>>().join(" "),
        ]
    }

    #[test]
    fn subqueries_have_scopes_of_their_own() {
        let [tables, columns, calls, outers] = survey(
            "SELECT a.x, DATABASE() FROM t a JOIN db.u ON a.x = u.y WHERE EXISTS (SELECT 1 FROM v WHERE v.z = a.x) \
             ORDER BY f(a.w) LIMIT 1",
        );
        assert_eq!(tables, "From t a@1, From db.u@1, From v@2");
        assert_eq!(columns, "a.x@1, u.y@1, a.x@1, v.z@2, a.x@2, a.w@1");
        assert_eq!(calls, "DATABASE()@1, f(a.w)@1");
        assert_eq!(outers, "- 0 1");
    }

    #[test]
    fn a_derived_table_does_not_see_the_tables_beside_it() {
        let [tables, _, _, outers] =
            survey("SELECT * FROM t, (SELECT y FROM u) d, LATERAL (SELECT z FROM v WHERE v.k = t.k) e");
        assert_eq!(tables, "From t@1, From u@2, From v@3");
        assert_eq!(outers, "- 0 0 1");
        let [_, _, _, outers] = survey("SELECT 1 FROM t WHERE a IN (SELECT b FROM u, (SELECT c FROM v) d)");
        assert_eq!(outers, "- 0 1 1");
    }

    #[test]
    fn common_tables_are_no_tables_where_they_are_visible() {
        let [tables, ..] = survey("WITH c AS (SELECT 1 FROM c), d AS (SELECT 1 FROM c) SELECT * FROM c, d, db.c, e");
        assert_eq!(tables, "From c@1, From c=with@2, From c=with@3, From d=with@3, From db.c@3, From e@3");
        let [tables, ..] = survey("WITH RECURSIVE c AS (SELECT 1 UNION SELECT n FROM c) SELECT * FROM c");
        assert_eq!(tables, "From c=with@2, From c=with@3");
        let [tables, ..] = survey("SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c) x, c");
        assert_eq!(tables, "From c=with@3, From c@1");
    }

    #[test]
    fn writes_name_their_tables_by_role() {
        let tables = |text| survey(text)[0].clone();
        assert_eq!(tables("INSERT INTO t (a) SELECT b FROM u"), "Insert t@0, From u@1");
        assert_eq!(tables("UPDATE t a JOIN u SET a.x = 1"), "Update t a@0, Update u@0");
        assert_eq!(tables("DELETE FROM t AS a WHERE x IN (SELECT 1 FROM u)"), "Delete t a@0, From u@1");
        assert_eq!(tables("DELETE a FROM t a, u"), "From t a@0, From u@0");
        assert_eq!(tables("LOCK TABLES t a READ, u WRITE"), "Lock t a@0, Lock u@0");
        assert_eq!(tables("RENAME TABLE t TO u"), "Define t@0, Define u@0");
        assert_eq!(tables("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES u (a))"), "Define t@0, Reference u@0");
        assert_eq!(tables("EXPLAIN SELECT 1 FROM t"), "From t@1");
    }
}
