//! The walk itself: every node once, in the order of the text as far as scopes allow.

use super::super::ast::*;
use super::{Node, Role, TableUse, Visitor};

pub fn walk_statement<'a>(statement: &'a Statement, visitor: &mut dyn Visitor<'a>) {
    Walk { visitor }.statement(&statement.kind);
}

pub fn walk_query<'a>(query: &'a Query, visitor: &mut dyn Visitor<'a>) {
    Walk { visitor }.query(query);
}

pub fn walk_table_ref<'a>(table: &'a TableRef, visitor: &mut dyn Visitor<'a>) {
    Walk { visitor }.table_ref(table, Role::From);
}

pub fn walk_expr<'a>(expr: &'a Expr, visitor: &mut dyn Visitor<'a>) {
    Walk { visitor }.expr(expr);
}

struct Walk<'v, 'a> {
    visitor: &'v mut dyn Visitor<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn inside(&mut self, node: Node<'a>, walk: impl FnOnce(&mut Self)) {
        if self.visitor.enter(node) {
            walk(self);
            self.visitor.leave(node);
        }
    }

    fn leaf(&mut self, node: Node<'a>) {
        self.inside(node, |_| {});
    }

    fn named(&mut self, table: TableName, role: Role) {
        self.leaf(Node::Table(TableUse { table, alias: None, role, factor: None }));
    }

    fn all_named(&mut self, tables: &[TableName], role: Role) {
        tables.iter().for_each(|&t| self.named(t, role));
    }

    fn statement(&mut self, kind: &'a StatementKind) {
        match kind {
            StatementKind::Query(query) => self.query(query),
            StatementKind::Insert(insert) => self.insert(insert),
            StatementKind::Update(update) => self.update(update),
            StatementKind::Delete(delete) => self.delete(delete),
            StatementKind::LoadData(load) => self.load(load),
            StatementKind::CreateTable(create) => self.create_table(create),
            StatementKind::AlterTable(alter) => self.alter_table(alter),
            StatementKind::DropTable(drop) => self.all_named(&drop.tables, Role::Define),
            StatementKind::Truncate(table) => self.named(*table, Role::Define),
            StatementKind::RenameTable(pairs) => pairs.iter().for_each(|pair| {
                self.named(pair.from, Role::Define);
                self.named(pair.to, Role::Define);
            }),
            StatementKind::CreateIndex(create) => {
                self.named(create.table, Role::Define);
                self.key(&create.key);
            }
            StatementKind::DropIndex(drop) => self.named(drop.table, Role::Define),
            StatementKind::Object(object) => {
                self.all_named(&object.names, Role::Define);
                if let Some(table) = object.table {
                    self.named(table, Role::Define);
                }
                if let Some(view) = &object.view {
                    self.query(&view.query);
                }
            }
            StatementKind::Set(assignments) => self.assignments(assignments),
            StatementKind::SetStatement { assignments, body } => {
                self.assignments(assignments);
                self.statement(&body.kind);
            }
            StatementKind::Show(show) => {
                if let Some(table) = show.table {
                    self.named(table, Role::Show);
                }
                match &show.filter {
                    Some(ShowFilter::Like(expr) | ShowFilter::Where(expr)) => self.expr(expr),
                    None => {}
                }
            }
            StatementKind::Describe { table, .. } => self.named(*table, Role::Show),
            StatementKind::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(statement) => self.statement(&statement.kind),
                ExplainTarget::Connection(expr) => self.expr(expr),
            },
            StatementKind::LockTables(tables) => tables.iter().for_each(|lock| {
                let (table, alias) = (lock.table, lock.alias);
                self.leaf(Node::Table(TableUse { table, alias, role: Role::Lock, factor: None }));
            }),
            StatementKind::Flush(flush) => self.all_named(&flush.tables, Role::Maintain),
            StatementKind::Kill(kill) => self.exprs(&kill.thread),
            StatementKind::Call { args, .. } => self.exprs(args),
            StatementKind::Do(exprs) => self.exprs(exprs),
            StatementKind::Handler { table, .. } => self.named(*table, Role::Maintain),
            StatementKind::Execute { using, .. } => self.exprs(using),
            StatementKind::ExecuteImmediate { text, using } => {
                self.expr(text);
                self.exprs(using);
            }
            StatementKind::Maintain(maintain) => self.all_named(&maintain.tables, Role::Maintain),
            StatementKind::Database(_)
            | StatementKind::Use(_)
            | StatementKind::Transaction(_)
            | StatementKind::Xa(_)
            | StatementKind::UnlockTables
            | StatementKind::Prepare { .. }
            | StatementKind::Deallocate(_)
            | StatementKind::Other(_) => {}
        }
    }

    fn assignments(&mut self, assignments: &'a [Assignment]) {
        for assignment in assignments {
            match &assignment.kind {
                AssignmentKind::UserVar { value, .. } | AssignmentKind::SysVar { value, .. } => self.expr(value),
                AssignmentKind::Names { .. }
                | AssignmentKind::CharacterSet(_)
                | AssignmentKind::Transaction { .. }
                | AssignmentKind::Password
                | AssignmentKind::Role
                | AssignmentKind::ResourceGroup => {}
            }
        }
    }

    fn query(&mut self, query: &'a Query) {
        self.inside(Node::Query(query), |walk| {
            walk.with(&query.with);
            match &query.body {
                Body::Select(select) => walk.select(select, Some(query)),
                body => {
                    walk.body(body);
                    walk.query_end(query);
                }
            }
        });
    }

    fn query_end(&mut self, query: &'a Query) {
        self.order_by(&query.order_by);
        self.limit(&query.limit);
        for lock in &query.locks {
            lock.of.iter().for_each(|&table| self.leaf(Node::Mention(table)));
        }
    }

    fn with(&mut self, with: &'a Option<With>) {
        let Some(with) = with else { return };
        self.inside(Node::With(with), |walk| {
            for table in &with.tables {
                walk.inside(Node::CommonTable(table), |walk| walk.query(&table.query));
            }
        });
    }

    fn body(&mut self, body: &'a Body) {
        match body {
            Body::Select(select) => self.select(select, None),
            Body::Parens(_, query) => self.query(query),
            Body::SetOperation(operation) => {
                self.body(&operation.first);
                operation.rest.iter().for_each(|arm| self.body(&arm.body));
            }
            Body::Values(_, rows) => rows.iter().for_each(|row| self.exprs(&row.values)),
            Body::Table(_, table) => self.named(*table, Role::From),
        }
    }

    fn select(&mut self, select: &'a Select, query: Option<&'a Query>) {
        self.inside(Node::Select(select), |walk| {
            walk.table_refs(&select.from, Role::From);
            walk.select_items(&select.items);
            walk.exprs(&select.filter);
            if let Some(group_by) = &select.group_by {
                walk.order_by(&group_by.items);
            }
            walk.exprs(&select.having);
            select.windows.iter().for_each(|named| walk.window(&named.window));
            walk.exprs(&select.qualify);
            if let Some(query) = query {
                walk.query_end(query);
            }
        });
    }

    fn select_items(&mut self, items: &'a [SelectItem]) {
        for item in items {
            match &item.kind {
                SelectItemKind::Wildcard { .. } => self.leaf(Node::Wildcard(item)),
                SelectItemKind::Expr { expr, .. } => self.expr(expr),
            }
        }
    }

    fn table_refs(&mut self, tables: &'a [TableRef], role: Role) {
        tables.iter().for_each(|table| self.table_ref(table, role));
    }

    fn table_ref(&mut self, table: &'a TableRef, role: Role) {
        self.inside(Node::TableRef(table), |walk| match &table.kind {
            TableRefKind::Table(factor) => {
                let (table, alias) = (factor.table, factor.alias);
                walk.leaf(Node::Table(TableUse { table, alias, role, factor: Some(factor) }));
            }
            TableRefKind::Derived { query, .. } => walk.query(query),
            TableRefKind::JsonTable { document, .. } => walk.expr(document),
            TableRefKind::Join(join) => {
                walk.table_ref(&join.left, role);
                walk.table_ref(&join.right, role);
                match &join.condition {
                    JoinCondition::On(expr) => walk.expr(expr),
                    JoinCondition::None | JoinCondition::Using(_) => {}
                }
            }
            TableRefKind::Parens(tables) => walk.table_refs(tables, role),
        });
    }

    fn order_by(&mut self, items: &'a [OrderItem]) {
        items.iter().for_each(|item| self.expr(&item.expr));
    }

    fn limit(&mut self, limit: &'a Option<Limit>) {
        if let Some(limit) = limit {
            self.exprs(&limit.count);
            self.exprs(&limit.offset);
            self.exprs(&limit.rows_examined);
        }
    }

    fn window(&mut self, window: &'a Window) {
        self.exprs(&window.partition_by);
        self.order_by(&window.order_by);
        self.exprs(&window.frame_bounds);
    }

    fn insert(&mut self, insert: &'a Insert) {
        self.named(insert.table, Role::Insert);
        self.columns(&insert.columns);
        match &insert.source {
            InsertSource::Values { rows, .. } => rows.iter().for_each(|row| self.exprs(&row.values)),
            InsertSource::Set { assignments, .. } => self.column_assignments(assignments),
            InsertSource::Query(query) => self.query(query),
        }
        if let Some(on_duplicate) = &insert.on_duplicate {
            self.column_assignments(&on_duplicate.assignments);
        }
        self.returning(&insert.returning);
    }

    fn update(&mut self, update: &'a Update) {
        self.with(&update.with);
        self.table_refs(&update.tables, Role::Update);
        self.column_assignments(&update.assignments);
        self.exprs(&update.filter);
        self.order_by(&update.order_by);
        self.limit(&update.limit);
    }

    fn delete(&mut self, delete: &'a Delete) {
        self.with(&delete.with);
        match &delete.form {
            DeleteForm::Single { table, alias, .. } => {
                let (table, alias) = (*table, *alias);
                self.leaf(Node::Table(TableUse { table, alias, role: Role::Delete, factor: None }));
            }
            DeleteForm::Multi { targets, from } => {
                targets.iter().for_each(|target| self.leaf(Node::Mention(target.table)));
                self.table_refs(from, Role::From);
            }
        }
        self.exprs(&delete.filter);
        self.order_by(&delete.order_by);
        self.limit(&delete.limit);
        self.returning(&delete.returning);
    }

    fn load(&mut self, load: &'a LoadData) {
        self.named(load.table, Role::Load);
        self.exprs(&load.columns);
        self.column_assignments(&load.assignments);
    }

    fn column_assignments(&mut self, assignments: &'a [ColumnAssignment]) {
        for assignment in assignments {
            self.leaf(Node::Column(assignment.column));
            self.expr(&assignment.value);
        }
    }

    fn returning(&mut self, returning: &'a Option<Returning>) {
        if let Some(returning) = returning {
            self.select_items(&returning.items);
        }
    }

    fn columns(&mut self, columns: &[ColumnRef]) {
        columns.iter().for_each(|&column| self.leaf(Node::Column(column)));
    }

    fn create_table(&mut self, create: &'a CreateTable) {
        self.named(create.table, Role::Define);
        if let Some(like) = create.like {
            self.named(like, Role::Like);
        }
        create.elements.iter().for_each(|element| self.element(element));
        if let Some(query) = &create.query {
            self.query(query);
        }
    }

    fn element(&mut self, element: &'a TableElement) {
        match element {
            TableElement::Column(column) => self.column_def(column),
            TableElement::Key(key) => self.key(key),
            TableElement::Check(check) => self.expr(&check.expr),
            TableElement::Period(_) => {}
        }
    }

    fn column_def(&mut self, column: &'a ColumnDef) {
        for attribute in &column.attributes {
            match &attribute.kind {
                ColumnAttributeKind::Default(expr) => self.expr(expr),
                ColumnAttributeKind::Generated { expr, .. } => self.exprs(expr),
                ColumnAttributeKind::Check(check) => self.expr(&check.expr),
                ColumnAttributeKind::References(table) => self.named(*table, Role::Reference),
                ColumnAttributeKind::Null
                | ColumnAttributeKind::NotNull
                | ColumnAttributeKind::OnUpdate
                | ColumnAttributeKind::AutoIncrement
                | ColumnAttributeKind::PrimaryKey
                | ColumnAttributeKind::Unique
                | ColumnAttributeKind::Comment(_)
                | ColumnAttributeKind::Collate(_)
                | ColumnAttributeKind::Invisible
                | ColumnAttributeKind::Visible
                | ColumnAttributeKind::Other => {}
            }
        }
    }

    fn key(&mut self, key: &'a KeyDef) {
        for part in &key.parts {
            match &part.kind {
                KeyPartKind::Expr(expr) => self.expr(expr),
                KeyPartKind::Column { .. } => {}
            }
        }
        if let Some(references) = &key.references {
            self.named(references.table, Role::Reference);
        }
    }

    fn alter_table(&mut self, alter: &'a AlterTable) {
        self.named(alter.table, Role::Define);
        for spec in &alter.specs {
            match &spec.kind {
                AlterSpecKind::AddColumns(elements) => elements.iter().for_each(|element| self.element(element)),
                AlterSpecKind::AddKey(key) => self.key(key),
                AlterSpecKind::AddCheck(check) => self.expr(&check.expr),
                AlterSpecKind::Modify(column) | AlterSpecKind::Change { to: column, .. } => self.column_def(column),
                AlterSpecKind::AlterColumn { default, .. } => self.exprs(default),
                AlterSpecKind::RenameTable(table) | AlterSpecKind::Partition { exchange: Some(table) } => {
                    self.named(*table, Role::Define);
                }
                AlterSpecKind::DropColumn(_)
                | AlterSpecKind::DropPrimaryKey
                | AlterSpecKind::DropKey(_)
                | AlterSpecKind::DropForeignKey(_)
                | AlterSpecKind::DropConstraint(_)
                | AlterSpecKind::RenameColumn { .. }
                | AlterSpecKind::RenameKey { .. }
                | AlterSpecKind::AlterKey(_)
                | AlterSpecKind::Option(_)
                | AlterSpecKind::ConvertCharset
                | AlterSpecKind::Execution
                | AlterSpecKind::OrderBy
                | AlterSpecKind::Partition { exchange: None }
                | AlterSpecKind::Tablespace
                | AlterSpecKind::Versioning => {}
            }
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'a Expr) {
        self.inside(Node::Expr(expr), |walk| walk.expr_inside(&expr.kind));
    }

    fn expr_inside(&mut self, kind: &'a ExprKind) {
        match kind {
            ExprKind::Literal(_) | ExprKind::Param | ExprKind::UserVar | ExprKind::SysVar(_) | ExprKind::Default => {}
            ExprKind::Column(column) | ExprKind::DefaultOf(column) | ExprKind::ValuesOf(column) => {
                self.leaf(Node::Column(*column));
            }
            ExprKind::Assign(e)
            | ExprKind::Unary(_, e)
            | ExprKind::Parens(e)
            | ExprKind::Collate(e, _)
            | ExprKind::Odbc(_, e)
            | ExprKind::Is { expr: e, .. }
            | ExprKind::Interval { amount: e, .. } => self.expr(e),
            ExprKind::Binary(_, both) => self.exprs(both.iter()),
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Row(list) => self.exprs(list),
            ExprKind::Between { expr, low, high, .. } => self.exprs([&**expr, low, high]),
            ExprKind::In { expr, list, .. } => {
                self.expr(expr);
                self.exprs(list);
            }
            ExprKind::InQuery { expr, query, .. } | ExprKind::Quantified { expr, query, .. } => {
                self.expr(expr);
                self.query(query);
            }
            ExprKind::Like { expr, pattern, escape, .. } => {
                self.exprs([&**expr, pattern]);
                self.exprs(escape.as_deref());
            }
            ExprKind::Regexp { expr, pattern, .. } => self.exprs([&**expr, pattern]),
            ExprKind::Exists(query) | ExprKind::Subquery(query) => self.query(query),
            ExprKind::Case { operand, branches, otherwise } => {
                self.exprs(operand.as_deref());
                branches.iter().for_each(|(when, then)| self.exprs([when, then]));
                self.exprs(otherwise.as_deref());
            }
            ExprKind::DateArith { date, amount, .. } => self.exprs([&**date, amount]),
            ExprKind::Function(call) => self.call(call),
            ExprKind::Match { columns, against, .. } => {
                self.columns(columns);
                self.expr(against);
            }
        }
    }

    fn call(&mut self, call: &'a Function) {
        self.exprs(&call.args);
        self.order_by(&call.order_by);
        if let FunctionForm::Sequence(table) = call.form {
            self.named(table, Role::Sequence);
        }
        match &call.over {
            Some(Over::Window(window)) => self.window(window),
            Some(Over::Name(_)) | None => {}
        }
    }
}
