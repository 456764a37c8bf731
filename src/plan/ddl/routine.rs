//! CREATE and DROP of procedures, functions and triggers of unsharded tables: they live in the home
//! shard's database. A routine runs with the rights of the proxy's own account, so all that its body
//! names is looked at here as if the user had written it in a statement.

use std::sync::Arc;

use super::edits::Edits;
use super::planner::{Named, Planner, at_home_of};
use super::text::Piece;
use super::{Action, Ddl, HomeEffect, Reach};
use crate::definition::identifier;
use crate::error::{Error, Result};
use crate::plan::allow::{Asker, denied};
use crate::plan::function::{Nature, nature};
use crate::sql::ast::{
    self, AssignmentKind, ExprKind, Function, FunctionForm, IntoTarget, Name, ObjectDdl, ObjectKind, OtherKind,
    Routine, SelectItemKind, Statement, StatementKind, TableName,
};
use crate::sql::visit::{Node, Role, TableUse, Visitor, walk_expr, walk_query, walk_statement};
use crate::sql::{Keyword, Span};
use crate::topology::Schema;

impl Planner<'_> {
    pub(super) fn routine(&self, object: &ObjectDdl, start: u32) -> Result<Ddl> {
        let mut edits = Edits::new(self.source);
        let [name] = object.names.as_slice() else {
            return Err(Error::proxy("Bifold: a routine was read without its name."));
        };
        // A trigger belongs to its table's schema, whatever stands before its own name.
        let named = self.new_name(name)?;
        let schema = named.schema.clone();
        edits.table(name, at_home_of(&schema, &named)?);
        if object.action == ast::Action::Create {
            self.no_definer(start, name)?;
            if let Some(table) = &object.table {
                self.triggered(&mut edits, &schema, table)?;
            }
            let routine = object.routine.as_ref().ok_or_else(unread)?;
            Reader::new(self, &schema, &mut edits, object.kind).read(routine)?;
        }
        let action = Action::Home { targets: vec![named.target], text: edits.text(), effect: HomeEffect::Commits };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    /// `DEFINER = account` before the name: accounts of the servers are no affair of users.
    pub(super) fn no_definer(&self, start: u32, name: &TableName) -> Result<()> {
        let Some(word) = (start..name.span.start).find(|&token| self.source.keyword(token) == Keyword::Definer) else {
            return Ok(());
        };
        match self.source.keyword(word + 2) == Keyword::CurrentUser {
            true => Ok(()),
            false => Err(Error::refused(
                "Bifold: DEFINER = an account is not supported: all routines are the proxy's own account's. Leave it out.",
            )),
        }
    }

    fn triggered(&self, edits: &mut Edits<'_>, schema: &Schema, table: &TableName) -> Result<()> {
        let on = self.standing(table, "TRIGGER")?;
        if !matches!(on.target.reach, Reach::Home) {
            return Err(Error::refused(format!(
                "Bifold: a trigger on `{}`, which lives in many places, is not supported. Let the application write what it would.",
                on.target.table
            )));
        }
        if on.schema.name != schema.name {
            return Err(Error::client((1435, b"HY000"), "Trigger in wrong schema"));
        }
        edits.table(table, at_home_of(schema, &on)?);
        Ok(())
    }
}

/// Looks at a body, and puts the names of databases and of functions right.
pub(super) struct Reader<'r, 'e> {
    planner: &'r Planner<'r>,
    /// What unqualified names in the body mean.
    schema: &'r Arc<Schema>,
    edits: &'r mut Edits<'e>,
    kind: ObjectKind,
    failed: Option<Error>,
}

impl<'r, 'e> Reader<'r, 'e> {
    pub fn new(planner: &'r Planner<'r>, schema: &'r Arc<Schema>, edits: &'r mut Edits<'e>, kind: ObjectKind) -> Self {
        Reader { planner, schema, edits, kind, failed: None }
    }

    /// A view's.
    pub fn query(mut self, query: &ast::Query) -> Result<()> {
        walk_query(query, &mut self);
        self.failed.map_or(Ok(()), Err)
    }

    fn read(mut self, routine: &Routine) -> Result<()> {
        let locals: Vec<String> =
            routine.locals.iter().map(|name| self.planner.text_of(*name).to_lowercase()).collect();
        for statement in &routine.statements {
            self.statement(statement, &locals)?;
            walk_statement(statement, &mut self);
        }
        for expr in &routine.exprs {
            walk_expr(expr, &mut self);
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn statement(&mut self, statement: &Statement, locals: &[String]) -> Result<()> {
        match &statement.kind {
            StatementKind::Query(_)
            | StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Do(_) => Ok(()),
            StatementKind::Call { routine, .. } => match routine.db {
                Some(db) => {
                    let name = self.planner.text_of(routine.name);
                    self.qualifier(db, |asker, schema| denied::routine(asker, schema, &name))
                }
                None => Ok(()),
            },
            StatementKind::Set(assignments) => {
                assignments.iter().try_for_each(|assignment| self.assignment(&assignment.kind, locals))
            }
            StatementKind::Other(other) if other.kind == OtherKind::Diagnostics => Ok(()),
            _ => {
                let text = self.planner.source.span_bytes(statement.span);
                let word = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
                Err(Error::refused(format!(
                    "Bifold: {} within a routine is not supported; queries, INSERT, UPDATE, DELETE, CALL and SET of its own variables are.",
                    String::from_utf8_lossy(word).to_ascii_uppercase()
                )))
            }
        }
    }

    /// Variables of the routine, columns of NEW, and what the user may SET anyway.
    fn assignment(&self, assignment: &AssignmentKind, locals: &[String]) -> Result<()> {
        match assignment {
            AssignmentKind::SysVar { scope: None, qualifier: Some(row), .. }
                if self.kind == ObjectKind::Trigger && self.planner.text_of(*row).eq_ignore_ascii_case("new") =>
            {
                Ok(())
            }
            AssignmentKind::SysVar { scope: None, qualifier: None, name, .. }
                if locals.contains(&self.planner.text_of(*name).to_lowercase()) =>
            {
                Ok(())
            }
            // Who calls it keeps the connection, and with it what the variable is.
            AssignmentKind::UserVar { .. } if self.kind != ObjectKind::Trigger => Ok(()),
            AssignmentKind::UserVar { .. }
            | AssignmentKind::SysVar { .. }
            | AssignmentKind::Names { .. }
            | AssignmentKind::CharacterSet(_)
            | AssignmentKind::Transaction { .. }
            | AssignmentKind::Password
            | AssignmentKind::Role
            | AssignmentKind::ResourceGroup => Err(Error::refused(
                "Bifold: a routine that SETs a variable of the session is not supported; DECLARE one of its own.",
            )),
        }
    }

    /// The database of a schema of the user's, in place of its name.
    fn qualifier(&mut self, db: Name, denial: impl Fn(&Asker<'_>, &str) -> Error) -> Result<()> {
        let name = self.planner.text_of(db);
        let asker = Asker { scene: self.planner.scene, flavour: self.planner.source.dialect.flavour };
        let Some(schema) = asker.usable(&name) else { return Err(denial(&asker, &name)) };
        if schema.home().server != self.schema.home().server {
            return Err(Error::refused(format!(
                "Bifold: schema `{}` lives on another server than the routine. Leave the statement to the application.",
                schema.name
            )));
        }
        self.edits.name(db, Piece::Bytes(identifier(&schema.home().database).into_bytes()));
        Ok(())
    }

    fn table(&mut self, table: &TableUse<'_>) -> Result<()> {
        let TableUse { table: name, role, .. } = table;
        let planner = self.planner;
        let target = match name.db {
            Some(db) => {
                let Named { target, .. } = planner.standing(name, verb(*role))?;
                self.qualifier(db, denied::schema)?;
                target
            }
            None => planner.beside_of(self.schema, name)?,
        };
        match (&target.reach, role) {
            (Reach::Home, _) | (Reach::Shards(_), Role::From) => Ok(()),
            _ if self.kind == ObjectKind::View => Err(super::view::apart(&target.table)),
            (Reach::Shards(_) | Reach::Places(_), _) => Err(Error::refused(format!(
                "Bifold: a routine lives on the home shard and cannot reach `{}`, which lives in many places. Leave the statement to the application.",
                target.table
            ))),
        }
    }

    fn function(&mut self, function: &Function) -> Result<()> {
        if let FunctionForm::Sequence(_) = function.form {
            return Ok(());
        }
        let planner = self.planner;
        let word = planner.source.bytes(function.name.0);
        if let Some(db) = function.db {
            return self.qualifier(db, |asker, schema| denied::routine(asker, schema, &String::from_utf8_lossy(word)));
        }
        let upper = String::from_utf8_lossy(word).to_ascii_uppercase();
        match nature(word)? {
            Nature::Fixed | Nature::Clock | Nature::Chance => Ok(()),
            // A function of the server's machine of this name would come first.
            Nature::Stored => {
                let at = Span::new(function.name.0, function.name.0);
                let database = format!("{}.", identifier(&self.schema.home().database));
                self.edits.span(at, Piece::Bytes(database.into_bytes()));
                Ok(())
            }
            Nature::Session if matches!(upper.as_str(), "LAST_INSERT_ID" | "ROW_COUNT" | "FOUND_ROWS") => Ok(()),
            Nature::Session | Nature::Lock => Err(Error::refused(format!(
                "Bifold: {upper}() within a routine is not supported: it would tell of the proxy's own connection. Give it as a parameter."
            ))),
        }
    }
}

impl<'t> Visitor<'t> for Reader<'_, '_> {
    fn enter(&mut self, node: Node<'t>) -> bool {
        let looked = match node {
            Node::Table(table) => self.table(&table),
            Node::Expr(expr) => match &expr.kind {
                ExprKind::Function(function) => self.function(function),
                ExprKind::Assign(_) if self.kind == ObjectKind::Trigger => Err(Error::refused(
                    "Bifold: a trigger that assigns a variable of the session is not supported; DECLARE one of its own.",
                )),
                _ => Ok(()),
            },
            Node::Query(query) if query.into.as_ref().is_some_and(|into| matches!(into.target, IntoTarget::File)) => {
                Err(denied::privilege("FILE"))
            }
            Node::Select(select)
                if select.into.as_ref().is_some_and(|into| matches!(into.target, IntoTarget::File)) =>
            {
                Err(denied::privilege("FILE"))
            }
            Node::Column(column) => column.db.map_or(Ok(()), |db| self.qualifier(db, denied::schema)),
            Node::Mention(table) => table.db.map_or(Ok(()), |db| self.qualifier(db, denied::schema)),
            Node::Query(_) | Node::Select(_) | Node::With(_) | Node::CommonTable(_) | Node::TableRef(_) => Ok(()),
            Node::Wildcard(item) => match item.kind {
                SelectItemKind::Wildcard { db: Some(db), .. } => self.qualifier(db, denied::schema),
                SelectItemKind::Wildcard { db: None, .. } | SelectItemKind::Expr { .. } => Ok(()),
            },
        };
        if let Err(error) = looked {
            self.failed.get_or_insert(error);
        }
        self.failed.is_none()
    }
}

/// The right that a denial names.
fn verb(role: Role) -> &'static str {
    match role {
        Role::Insert | Role::Load => "INSERT",
        Role::Update => "UPDATE",
        Role::Delete => "DELETE",
        Role::From
        | Role::Lock
        | Role::Define
        | Role::Reference
        | Role::Like
        | Role::Show
        | Role::Maintain
        | Role::Sequence => "SELECT",
    }
}

fn unread() -> Error {
    Error::refused(
        "Bifold: the body of this routine could not be read, and so not be proved to stay within the schema; ask a DBA to make it on the home shard's server.",
    )
}
