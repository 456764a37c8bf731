//! The walk through expressions: qualifiers and session functions are cut, subqueries are entered
//! with their scope, and what functions and variables mean for the plan is marked.

use super::scope::Qualified;
use super::{Env, Survey};
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::plan::allow::{Asker, denied};
use crate::plan::function::{Nature, is_aggregate, nature};
use crate::plan::{Patch, SessionValue};
use crate::sql::Span;
use crate::sql::ast::{
    self, ColumnRef, Expr, ExprKind, Function, FunctionForm, Name, OrderItem, Over, Query, Scope, SysVar, Window,
};

impl Survey<'_> {
    pub fn expr(&mut self, expr: &Expr, env: &Env<'_>) -> Result<()> {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Param | ExprKind::Default => Ok(()),
            ExprKind::Column(column) | ExprKind::DefaultOf(column) | ExprKind::ValuesOf(column) => {
                self.column_ref(column, env);
                Ok(())
            }
            ExprKind::UserVar => {
                self.marks.variables = true;
                Ok(())
            }
            ExprKind::SysVar(variable) => {
                self.system_variable(variable, expr.span);
                Ok(())
            }
            ExprKind::Assign(value) => {
                self.assigned(Name(expr.span.start));
                self.expr(value, env)
            }
            ExprKind::Unary(_, inner)
            | ExprKind::Parens(inner)
            | ExprKind::Is { expr: inner, .. }
            | ExprKind::Collate(inner, _)
            | ExprKind::Interval { amount: inner, .. }
            | ExprKind::Odbc(_, inner) => self.expr(inner, env),
            ExprKind::Binary(_, sides) => self.exprs(sides.as_ref(), env),
            ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Row(parts) => self.exprs(parts, env),
            ExprKind::Between { expr, low, high, .. } => {
                self.expr(expr, env)?;
                self.expr(low, env)?;
                self.expr(high, env)
            }
            ExprKind::In { expr, list, .. } => {
                self.expr(expr, env)?;
                self.exprs(list, env)
            }
            ExprKind::InQuery { expr, query, .. } | ExprKind::Quantified { expr, query, .. } => {
                self.expr(expr, env)?;
                self.subquery(query, env)
            }
            ExprKind::Exists(query) | ExprKind::Subquery(query) => self.subquery(query, env),
            ExprKind::Like { expr, pattern, escape, .. } => {
                self.expr(expr, env)?;
                self.expr(pattern, env)?;
                escape.iter().try_for_each(|escape| self.expr(escape, env))
            }
            ExprKind::Regexp { expr, pattern, .. } => {
                self.expr(expr, env)?;
                self.expr(pattern, env)
            }
            ExprKind::Case { operand, branches, otherwise } => {
                operand.iter().try_for_each(|operand| self.expr(operand, env))?;
                for (when, then) in branches {
                    self.expr(when, env)?;
                    self.expr(then, env)?;
                }
                otherwise.iter().try_for_each(|otherwise| self.expr(otherwise, env))
            }
            ExprKind::DateArith { date, amount, .. } => {
                self.expr(date, env)?;
                self.expr(amount, env)
            }
            ExprKind::Function(function) => self.function(function, expr.span, env),
            ExprKind::Match { columns, against, .. } => {
                columns.iter().for_each(|column| self.column_ref(column, env));
                self.expr(against, env)
            }
        }
    }

    pub fn exprs(&mut self, exprs: &[Expr], env: &Env<'_>) -> Result<()> {
        exprs.iter().try_for_each(|expr| self.expr(expr, env))
    }

    pub fn order(&mut self, items: &[OrderItem], env: &Env<'_>) -> Result<()> {
        items.iter().try_for_each(|item| self.expr(&item.expr, env))
    }

    fn subquery(&mut self, query: &Query, env: &Env<'_>) -> Result<()> {
        self.query(query, env).map(drop)
    }

    /// Cuts what stands before a column's name, where the text calls its table otherwise.
    pub fn column_ref(&mut self, column: &ColumnRef, env: &Env<'_>) {
        let Some(table) = column.table else { return };
        match self.qualified(column, env) {
            Qualified::Physical(found) => {
                let start = column.db.unwrap_or(table).0;
                self.cut(Span::new(start, table.0 + 1), Patch::Table { table: found, alias: None });
            }
            Qualified::Alias => {
                if let Some(db) = column.db {
                    self.cut(Span::new(db.0, table.0), Patch::Text([].into()));
                }
            }
            Qualified::Unknown => {}
        }
    }

    /// `@v` that the statement gives a value.
    pub fn assigned(&mut self, variable: Name) {
        let name = self.name(variable).to_lowercase();
        self.marks.variables = true;
        self.marks.assigns.insert(Setting::User(name.into()));
    }

    fn system_variable(&mut self, variable: &SysVar, span: Span) {
        let own = matches!(variable.scope, None | Some(Scope::Session));
        match self.name(variable.name).to_lowercase().as_str() {
            "last_insert_id" | "identity" if own => self.session(span, SessionValue::Identity),
            "pseudo_thread_id" if own => self.session(span, SessionValue::ConnectionId),
            _ => self.marks.variables = true,
        }
    }

    fn session(&mut self, span: Span, value: SessionValue) {
        self.cut(span, Patch::Session(value));
    }

    fn function(&mut self, function: &Function, span: Span, env: &Env<'_>) -> Result<()> {
        self.exprs(&function.args, env)?;
        self.order(&function.order_by, env)?;
        if let Some(Over::Window(window)) = &function.over {
            self.window(window, env)?;
        }
        if let FunctionForm::Sequence(sequence) = function.form {
            return self.sequence(function, &sequence);
        }
        let name = self.source.bytes(function.name.0);
        self.marks.aggregate |= function.form == FunctionForm::Star || is_aggregate(name);
        if function.db.is_some() {
            return self.stored_function(function.db, function.name);
        }
        match nature(name)? {
            Nature::Fixed => {}
            Nature::Clock => self.marks.clock = true,
            Nature::Chance => self.marks.chance = true,
            Nature::Lock => self.marks.named_lock = true,
            Nature::Session => self.session_function(function, span),
            Nature::Stored => return self.stored_function(None, function.name),
        }
        Ok(())
    }

    /// On the home shard of its schema. What LASTVAL gives is the connection's own.
    fn sequence(&mut self, function: &Function, sequence: &ast::TableName) -> Result<()> {
        let word = self.source.bytes(function.name.0);
        if word.eq_ignore_ascii_case(b"LASTVAL") || word.eq_ignore_ascii_case(b"PREVIOUS") {
            return Err(Error::refused(
                "Bifold: the last value of a sequence is not kept from statement to statement; keep what NEXTVAL gave.",
            ));
        }
        let found = self.named(sequence)?;
        self.marks.writes = true;
        self.cut(sequence.span, Patch::Table { table: found, alias: None });
        Ok(())
    }

    fn session_function(&mut self, function: &Function, span: Span) {
        let name = self.source.bytes(function.name.0).to_ascii_uppercase();
        let value = match name.as_slice() {
            b"DATABASE" | b"SCHEMA" => SessionValue::Schema,
            b"USER" | b"SESSION_USER" | b"SYSTEM_USER" => SessionValue::User,
            b"CURRENT_USER" => SessionValue::Account,
            b"CONNECTION_ID" => SessionValue::ConnectionId,
            b"FOUND_ROWS" => SessionValue::FoundRows,
            b"ROW_COUNT" => SessionValue::RowCount,
            b"LAST_INSERT_ID" if function.args.is_empty() => SessionValue::LastInsertId,
            b"LAST_INSERT_ID" => {
                self.marks.assigns.insert(Setting::System("last_insert_id".into()));
                return;
            }
            _ => {
                self.marks.chance = true;
                return;
            }
        };
        self.session(span, value);
    }

    /// `f(…)`, `db.f(…)`: it lives on the schema's home shard, and is called by its full name there.
    fn stored_function(&mut self, db: Option<Name>, name: Name) -> Result<()> {
        if let Some(schema) = db.map(|db| self.name(db)).filter(|schema| !self.scene.may_use(schema)) {
            let asker = Asker { scene: self.scene, flavour: self.source.dialect.flavour };
            return Err(denied::routine(&asker, &schema, &self.name(name)));
        }
        let span = Span::new(db.unwrap_or(name).0, name.0 + 1);
        let found = self.named(&ast::TableName { span, db, name })?;
        self.marks.routine = true;
        self.cut(span, Patch::Table { table: found, alias: None });
        Ok(())
    }

    pub fn window(&mut self, window: &Window, env: &Env<'_>) -> Result<()> {
        self.exprs(&window.partition_by, env)?;
        self.order(&window.order_by, env)?;
        self.exprs(&window.frame_bounds, env)
    }
}
