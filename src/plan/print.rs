//! A plan as text: what EXPLAIN ROUTE and `bifold route` show, and what the plan cases hold. One
//! line says how the statement runs, one line for each table says how it is found, and the last
//! is the text with what routing puts in, in angle brackets.

use std::fmt::Write;

use super::gather::Gather;
use super::load::Load;
use super::local::{Characteristic, Filter, Local, Operand, Show, Step, Transaction};
use super::{
    Bind, Cell, Cut, Effect, Fold, GroupOrder, Grouping, Item, KeyColumn, Over, Patch, Plan, Planned, Recipe, RefKind,
    SessionValue, Single, SortKey, TableRef, Template, ValueSource, Wide,
};
use crate::context::Setting;
use crate::sql::Source;
use crate::sql::fingerprint::Fingerprint;
use crate::topology::TableRule;

/// The statement that a plan was made of, for the texts of its items.
#[derive(Clone, Copy)]
pub struct Printed<'a> {
    pub source: &'a Source<'a>,
    pub fingerprint: &'a Fingerprint,
}

/// In one or two words: `single`, `insert`, `write scatter`, …
pub fn name(plan: &Plan) -> &'static str {
    match plan {
        Plan::Local(_) => "local",
        Plan::Single(_) => "single",
        Plan::Scatter(_) => "scatter",
        Plan::Gather(_) => "gather",
        Plan::InsertSelect(_) => "insert from query",
        Plan::Insert(_) => "insert",
        Plan::WriteScatter(_) => "write scatter",
        Plan::Load(_) => "load",
        Plan::Ddl(_) => "ddl",
        Plan::Refusal(_) => "refusal",
    }
}

/// All of it, a line for each thing.
pub fn print(planned: &Planned, of: Printed<'_>) -> String {
    let mut out = String::new();
    plan(&mut out, &planned.plan, of);
    if !planned.assigns.is_empty() {
        let names: Vec<String> = planned.assigns.iter().map(setting).collect();
        line(&mut out, format_args!("sets {}", names.join(", ")));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = writeln!(out, "{text}");
}

fn plan(out: &mut String, plan: &Plan, of: Printed<'_>) {
    match plan {
        Plan::Local(what) => local(out, what, of),
        Plan::Single(what) => single(out, what, of),
        Plan::Scatter(scatter) => {
            line(out, format_args!("scatter: {}", recipe(&scatter.wide, of)));
            template(out, &scatter.wide.template, of);
        }
        Plan::InsertSelect(insert) => {
            if let Some(direct) = &insert.direct {
                self::plan(out, &direct.plan, of);
                line(out, format_args!("or, where the rows are of other places:"));
            }
            line(out, format_args!("insert from query: its rows are kept, then inserted in one transaction"));
            line(out, format_args!("  query {}", items(insert.query.0, insert.query.1, of)));
        }
        Plan::Gather(gather) => {
            line(out, format_args!("gather: the statement runs over rows collected on one server"));
            gathered(out, gather, of);
            line(out, format_args!("  text {}", text(&gather.template, of).trim_start()));
        }
        Plan::Insert(insert) => {
            let id = match &insert.id {
                None => String::new(),
                Some(id) => match id.position {
                    Some(position) => format!(", ids where value {position} lacks one"),
                    None => ", ids added".into(),
                },
            };
            let key = insert.key.map_or("the added id".to_owned(), |key| format!("value {key}"));
            line(out, format_args!("insert: rows split by {key}{id}"));
            template(out, &insert.template, of);
        }
        Plan::WriteScatter(write) => {
            let over = match write.over {
                Over::Places => "places",
                Over::Shards => "shards",
            };
            line(out, format_args!("write scatter over {over}"));
            template(out, &write.template, of);
            if let Some(choice) = &write.choice {
                let by =
                    choice.keys.iter().map(|key| format!("{}{}", key.expr, if key.descending { " DESC" } else { "" }));
                let by: Vec<String> = by.collect();
                let order =
                    if by.is_empty() { "in the order of places".into() } else { format!("by {}", by.join(", ")) };
                let count = value_text(&choice.window.count, of);
                line(
                    out,
                    format_args!("  rows in several places: {count} are chosen {order}, then changed by their keys"),
                );
            }
            if let Some(copy) = &write.from_home {
                let when = if copy.always { "" } else { ", where rows leave out what each shard would count up" };
                line(out, format_args!("  on the home shard, and copied from there{when}"));
            }
            if let Some(moves) = &write.moves {
                let key = &moves.columns[moves.key_column].name;
                line(out, format_args!("  rows whose {key} names another place go there"));
            }
        }
        Plan::Load(what) => match &**what {
            Load::Whole(what) => {
                line(out, format_args!("load: the home shard's server reads the file"));
                template(out, &what.template, of);
            }
            Load::ByLine(by_line) => {
                let how = match (by_line.over, by_line.key) {
                    (Over::Shards, _) => "to every shard".to_owned(),
                    (Over::Places, Some(key)) => format!("parted by field {key}"),
                    (Over::Places, None) => "parted by the added id".to_owned(),
                };
                line(out, format_args!("load: lines {how}"));
                template(out, &by_line.template, of);
            }
        },
        Plan::Ddl(ddl) => line(out, format_args!("{ddl}")),
        Plan::Refusal(error) => line(
            out,
            format_args!(
                "refusal: {} ({}) {}",
                error.code(),
                String::from_utf8_lossy(error.state()),
                String::from_utf8_lossy(error.text())
            ),
        ),
    }
}

fn single(out: &mut String, single: &Single, of: Printed<'_>) {
    let effect = match single.effect {
        Effect::Read => "read",
        Effect::Lock => "locking read",
        Effect::Write => "write",
    };
    let server = if single.template.refs.is_empty() { ", any server" } else { "" };
    let bind = match single.bind {
        None => "",
        Some(Bind::NamedLock) => ", binds the connection (named lock)",
        Some(Bind::TemporaryTable) => ", binds the connection (temporary table)",
        Some(Bind::LockTables) => ", binds the connection (locked tables)",
        Some(Bind::Routine) => ", binds the connection (routine)",
    };
    let schema = if single.needs_schema { ", in the home shard's database" } else { "" };
    line(out, format_args!("single: {effect}{server}{bind}{schema}"));
    template(out, &single.template, of);
    if let Some(wide) = &single.wide {
        line(out, format_args!("  values in several places: scatter, {}", recipe(wide, of)));
    } else if let Some(gather) = &single.gather {
        line(out, format_args!("  values in several places: gather"));
        gathered(out, gather, of);
    }
}

/// What is collected of each reference.
fn gathered(out: &mut String, gather: &Gather, of: Printed<'_>) {
    for (table, collected) in gather.template.refs.iter().zip(&gather.tables) {
        reference(out, table, of);
        let (all, needed) = (collected.columns.len(), collected.columns.iter().filter(|column| column.needed));
        let names: Vec<&str> = needed.map(|column| &*column.name).collect();
        let columns = if names.len() == all { "all columns".to_owned() } else { names.join(", ") };
        let filters: Vec<String> = collected.filters.iter().map(|(from, to)| items(*from, *to, of)).collect();
        let rows = if filters.is_empty() { String::new() } else { format!(" of rows where {}", filters.join(" AND ")) };
        line(out, format_args!("    as {}: {columns}{rows}", collected.alias));
    }
}

/// How the rows of several places become one result.
pub fn recipe(wide: &Wide, of: Printed<'_>) -> String {
    let mut how = match &wide.recipe {
        Recipe::Chain => "rows in the order of places".to_owned(),
        Recipe::Sort(keys) => {
            let key = |key: &SortKey| format!("{}{}", key.expr, direction(key.descending));
            format!("rows sorted by {}", keys.iter().map(key).collect::<Vec<_>>().join(", "))
        }
        Recipe::Group(groups) => grouping(groups),
    };
    if let Some(window) = &wide.window {
        if let Some(offset) = &window.offset {
            let _ = write!(how, ", {} skipped", value_text(offset, of));
        }
        let _ = write!(how, ", {} taken", value_text(&window.count, of));
    }
    if wide.clock {
        how.push_str(", at one instant");
    }
    match wide.alone {
        None => how.push_str("; places share texts"),
        Some(why) => {
            let _ = write!(how, "; a text for each place, since {why}");
        }
    }
    how
}

fn direction(descending: bool) -> &'static str {
    if descending { " DESC" } else { "" }
}

fn grouping(groups: &Grouping) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Visible(at) => format!("column {}", at + 1),
        Cell::Hidden(at) => groups.hidden[usize::from(*at)].expr.to_string(),
    };
    let mut how = match (groups.keys, groups.distinct) {
        (0, false) => "one row".to_owned(),
        (0, true) => "one of all rows".to_owned(),
        (keys, _) => {
            let keys: Vec<&str> = groups.hidden[..keys].iter().map(|key| &*key.expr).collect();
            format!("one row for each {}", keys.join(", "))
        }
    };
    for (of, fold) in &groups.folds {
        let fold = match fold {
            Fold::Count | Fold::Sum => "added",
            Fold::Least(_) => "least",
            Fold::Greatest(_) => "greatest",
            Fold::Average { .. } => "sum by count",
        };
        let _ = write!(how, ", {} {fold}", cell(of));
    }
    let by = |by: &GroupOrder| format!("{}{}", cell(&by.by), direction(by.descending));
    if !groups.order.is_empty() {
        let _ = write!(how, ", sorted by {}", groups.order.iter().map(by).collect::<Vec<_>>().join(", "));
    }
    how
}

fn template(out: &mut String, template: &Template, of: Printed<'_>) {
    for table in &template.refs {
        reference(out, table, of);
    }
    line(out, format_args!("  text {}", text(template, of).trim_start()));
}

fn reference(out: &mut String, table: &TableRef, of: Printed<'_>) {
    let name = format!("{}.{}", table.schema.name, table.table);
    match &table.kind {
        RefKind::Unsharded => line(out, format_args!("  {name}: unsharded, on the home shard")),
        RefKind::Reference => line(out, format_args!("  {name}: reference")),
        RefKind::Sharded(located) if located.keys.is_empty() => {
            line(out, format_args!("  {name}: sharded, every place"));
        }
        RefKind::Sharded(located) => {
            for key in &located.keys {
                let values: Vec<String> = key.values.iter().map(|value| value_text(value, of)).collect();
                let (column, how) = key_column(&key.column, &located.rule);
                let operator = if key.null_safe { " (NULL-safe)" } else { "" };
                line(out, format_args!("  {name}: sharded, {column} {how} {}{operator}", values.join(" or ")));
            }
        }
    }
}

fn key_column(column: &KeyColumn, rule: &TableRule) -> (String, &'static str) {
    let sharded = rule.sharded().expect("a located table is sharded");
    match column {
        KeyColumn::Key => (sharded.key.clone(), "is"),
        KeyColumn::Stored => (sharded.key.clone(), "will be"),
        KeyColumn::Id => {
            let id = sharded.id.as_ref().map_or("the id", |id| &id.column);
            (id.to_owned(), "carries the place:")
        }
    }
}

fn value_text(value: &ValueSource, of: Printed<'_>) -> String {
    match value {
        ValueSource::One { from, to } => items(*from, *to, of),
        ValueSource::List(item) => format!("one of {}", items(*item, Item(item.0 + 1), of)),
        ValueSource::LastInsertId => "LAST_INSERT_ID()".into(),
        ValueSource::Driver => "the driving table's".into(),
        ValueSource::Rows { item, value } => {
            format!("one of {}, value {value} of each", items(*item, Item(item.0 + 1), of))
        }
    }
}

/// The text of the items `from..to`.
fn items(from: Item, to: Item, of: Printed<'_>) -> String {
    let start = of.source.byte_range(span_from(of, from)).start;
    String::from_utf8_lossy(&of.source.text[start..end_of(of, Item(to.0 - 1))]).into_owned()
}

/// The statement's text, what routing puts in in angle brackets.
pub fn text(template: &Template, of: Printed<'_>) -> String {
    String::from_utf8_lossy(&spliced(template, of)).into_owned()
}

/// The same as bytes: the text to send where all cuts put text in.
pub fn spliced(template: &Template, of: Printed<'_>) -> Vec<u8> {
    let start = |item: Item| of.source.byte_range(span_from(of, item)).start;
    let whole = of.source.byte_range(of.fingerprint.span());
    let (mut out, mut at) = (Vec::new(), whole.start);
    for cut in &template.cuts {
        // An empty cut stands behind the item before it.
        let from = match cut.from == cut.to && cut.from.0 > 0 {
            true => end_of(of, Item(cut.from.0 - 1)),
            false => start(cut.from).min(whole.end),
        };
        out.extend_from_slice(&of.source.text[at..from]);
        patch(&mut out, cut, template);
        at = if cut.from == cut.to { from } else { end_of(of, Item(cut.to.0 - 1)) };
    }
    out.extend_from_slice(&of.source.text[at..whole.end.max(at)]);
    out
}

fn span_from(of: Printed<'_>, item: Item) -> crate::sql::Span {
    let token = of.fingerprint.token_of(item.0);
    crate::sql::Span::new(token, token)
}

/// Where an item's text ends.
fn end_of(of: Printed<'_>, item: Item) -> usize {
    let token = of.fingerprint.token_of(item.0);
    let end = of.fingerprint.list(item.0).map_or(token + 1, |list| list.span.end);
    of.source.byte_range(crate::sql::Span::new(token, end)).end
}

fn patch(out: &mut Vec<u8>, cut: &Cut, template: &Template) {
    match &cut.with {
        Patch::Table { table, alias } => {
            out.push(b'<');
            out.extend_from_slice(template.refs[usize::from(table.0)].table.as_bytes());
            out.push(b'>');
            if let Some(alias) = alias {
                out.extend_from_slice(b" AS ");
                out.extend_from_slice(alias);
            }
        }
        Patch::Text(text) => out.extend_from_slice(text),
        Patch::OwnBefore => out.extend_from_slice(b"<("),
        Patch::OwnBehind { .. } => out.extend_from_slice(b") AND OWN>"),
        Patch::Share(_) => out.extend_from_slice(b"(<keys of the place>)"),
        Patch::Limit => out.extend_from_slice(b"<LIMIT>"),
        Patch::Again(_) => out.extend_from_slice(b"<the same again>"),
        Patch::Inserted => out.extend_from_slice(b"<rows>"),
        Patch::Session(value) => {
            out.push(b'<');
            out.extend_from_slice(session_value(*value).as_bytes());
            out.push(b'>');
        }
    }
}

fn session_value(value: SessionValue) -> &'static str {
    match value {
        SessionValue::Schema => "DATABASE()",
        SessionValue::User => "USER()",
        SessionValue::Account => "CURRENT_USER()",
        SessionValue::ConnectionId => "CONNECTION_ID()",
        SessionValue::LastInsertId => "LAST_INSERT_ID()",
        SessionValue::Identity => "@@identity",
        SessionValue::RowCount => "ROW_COUNT()",
        SessionValue::FoundRows => "FOUND_ROWS()",
    }
}

fn setting(setting: &Setting) -> String {
    match setting {
        Setting::System(name) => name.to_string(),
        Setting::User(name) => format!("@{name}"),
    }
}

fn local(out: &mut String, what: &Local, of: Printed<'_>) {
    match what {
        Local::Transaction(what) => line(out, format_args!("local: {}", transaction(what))),
        Local::Set(steps) => {
            line(out, format_args!("local: set"));
            steps.iter().for_each(|step| set_step(out, step, of));
        }
        Local::Follow(planned) => plan(out, &planned.plan, of),
        Local::Use(schema) => line(out, format_args!("local: use {}", schema.name)),
        Local::Show(what) => line(out, format_args!("local: {}", show(what))),
        Local::Describe(what) => {
            line(out, format_args!("local: one physical table answers"));
            line(out, format_args!("  text {}", text(&what.text, of)));
        }
        Local::Maintain(what) => {
            line(out, format_args!("local: each of {} tables in all its places", what.tables.len()));
            line(out, format_args!("  text {}", text(&what.text, of)));
        }
        Local::Explain(planned) => {
            line(out, format_args!("local: explain"));
            plan(out, &planned.plan, of);
        }
        Local::Route(planned) => plan(out, &planned.plan, of),
        Local::Lock(what) => {
            line(out, format_args!("local: lock tables"));
            plan(out, &what.plan, of);
        }
        Local::Unlock => line(out, format_args!("local: unlock tables")),
        Local::Prepare { name, .. } => line(out, format_args!("local: prepare {name}")),
        Local::Execute { name, .. } => line(out, format_args!("local: execute {name}")),
        Local::ExecuteImmediate { .. } => line(out, format_args!("local: execute a text")),
        Local::Deallocate { name } => line(out, format_args!("local: deallocate {name}")),
        Local::Catalogue(catalogue) => {
            let views: Vec<&str> = catalogue.views.iter().map(|view| view.name).collect();
            line(out, format_args!("local: over made rows of {}", views.join(", ")));
            plan(out, &catalogue.planned.plan, of);
        }
        Local::Kill { query_only, thread } => {
            let what = if *query_only { "the statement of session" } else { "session" };
            line(out, format_args!("local: kill {what} {}", operand(thread, of)));
        }
    }
}

fn transaction(what: &Transaction) -> String {
    match what {
        Transaction::Begin { snapshot, access } => {
            let snapshot = if *snapshot { " with consistent snapshot" } else { "" };
            let access = match access {
                None => "",
                Some(super::local::Access::ReadOnly) => " read only",
                Some(super::local::Access::ReadWrite) => " read write",
            };
            format!("begin{snapshot}{access}")
        }
        Transaction::Commit(how) => format!("commit{}", completion(how)),
        Transaction::Rollback(how) => format!("rollback{}", completion(how)),
        Transaction::Savepoint(name) => format!("savepoint {}", name.0),
        Transaction::RollbackTo(name) => format!("rollback to {}", name.0),
        Transaction::Release(name) => format!("release {}", name.0),
    }
}

fn completion(how: &super::local::Completion) -> String {
    format!("{}{}", if how.chain { " and chain" } else { "" }, if how.release { " release" } else { "" })
}

fn set_step(out: &mut String, step: &Step, of: Printed<'_>) {
    match step {
        Step::Server(planned) => {
            line(out, format_args!("  a server sets"));
            plan(out, &planned.plan, of);
        }
        Step::Check { variable, .. } => line(out, format_args!("  {variable} is checked")),
        Step::Default(what) => line(out, format_args!("  {} as it was at first", setting(what))),
        Step::DefaultIfZero { setting: what, .. } => {
            line(out, format_args!("  {} as it was at first if 0", setting(what)))
        }
        Step::Autocommit(value) => line(out, format_args!("  autocommit {}", operand(value, of))),
        Step::NextTransaction(Characteristic::Isolation(value)) => {
            line(out, format_args!("  isolation of the next transaction {}", operand(value, of)));
        }
        Step::NextTransaction(Characteristic::ReadOnly(value)) => {
            line(out, format_args!("  next transaction read only {}", operand(value, of)));
        }
        Step::LastInsertId(value) => line(out, format_args!("  last insert id {}", operand(value, of))),
    }
}

fn operand(value: &Operand, of: Printed<'_>) -> String {
    match value {
        Operand::Word(word) => word.to_string(),
        Operand::Literal { from, to } => items(*from, *to, of),
        Operand::Default => "DEFAULT".into(),
        Operand::Ask(_) => "as a server computes it".into(),
    }
}

fn show(what: &Show) -> String {
    let filtered = |filter: &Filter| match filter {
        Filter::All => "",
        Filter::Like(_) | Filter::Where(_) => ", filtered",
    };
    match what {
        Show::Databases(filter) => format!("show databases{}", filtered(filter)),
        Show::Tables { schema, filter, .. } => format!("show tables of {}{}", schema.name, filtered(filter)),
        Show::TableStatus { schema, filter } => format!("show table status of {}{}", schema.name, filtered(filter)),
        Show::Grants => "show grants".into(),
        Show::Processlist { .. } => "show sessions of this proxy".into(),
        Show::Diagnostics { .. } => "show diagnostics".into(),
        Show::DiagnosticsCount(_) => "show count of diagnostics".into(),
    }
}
