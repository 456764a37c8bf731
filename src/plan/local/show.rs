//! SHOW: what the proxy knows better than any one server, and what any server knows.

use super::desk::{Desk, is_information_schema};
use super::{Filter, Level, Limit, Local, Show, describe};
use crate::error::{Error, Result};
use crate::plan::allow::denied;
use crate::plan::allow::functions::{Function, function};
use crate::sql::ast::{self, Expr, ExprKind, Literal, ShowFilter, ShowKind};
use crate::sql::{Flavour, Keyword, Kind, Span};

/// `None`: any server answers the text as it is.
pub(super) fn plan(desk: &Desk<'_>, show: &ast::Show) -> Result<Option<Local>> {
    // What it says of itself every server says alike.
    let of = show.db.or(show.table.as_ref().and_then(|table| table.db));
    let is_plain = matches!(show.kind, ShowKind::Tables | ShowKind::Columns);
    if is_plain && of.is_some_and(|db| is_information_schema(&desk.name(db))) {
        filter(desk, show)?;
        return Ok(None);
    }
    let local = match show.kind {
        ShowKind::Databases => Local::Show(Show::Databases(filter(desk, show)?)),
        ShowKind::Tables => {
            if let Some(name) = show.db.map(|db| desk.name(db)).filter(|name| is_unknown(desk, name)) {
                return Err(denied::unknown_schema(&name));
            }
            let (schema, filter) = (desk.schema(show.db)?, filter(desk, show)?);
            Local::Show(Show::Tables { schema, full: show.full, filter })
        }
        ShowKind::TableStatus => {
            let (schema, filter) = (desk.schema(show.db)?, filter(desk, show)?);
            Local::Show(Show::TableStatus { schema, filter })
        }
        ShowKind::Columns | ShowKind::Index => {
            filter(desk, show)?;
            describe::show(desk, show, named(show)?, "SELECT")?
        }
        ShowKind::CreateTable => describe::show(desk, show, named(show)?, "SHOW")?,
        ShowKind::CreateView => describe::view(desk, show, named(show)?)?,
        ShowKind::CreateDatabase => {
            let denied = |name: &String| desk.asker.usable(name).is_none() && !is_information_schema(name);
            if let Some(name) = show.db.map(|db| desk.name(db)).filter(denied) {
                return Err(denied::schema_to_client(&desk.asker, &name));
            }
            describe::schema(desk, show.db, desk.fingerprint.span().start)?
        }
        ShowKind::Triggers => {
            filter(desk, show)?;
            describe::schema(desk, show.db, triggers_word(desk))?
        }
        ShowKind::Warnings => diagnostics(desk, show, Level::Warnings)?,
        ShowKind::Errors => diagnostics(desk, show, Level::Errors)?,
        ShowKind::CountWarnings => Local::Show(Show::DiagnosticsCount(Level::Warnings)),
        ShowKind::CountErrors => Local::Show(Show::DiagnosticsCount(Level::Errors)),
        ShowKind::Grants => Local::Show(Show::Grants),
        ShowKind::Processlist => Local::Show(Show::Processlist { full: show.full }),
        ShowKind::Variables
        | ShowKind::Status
        | ShowKind::Engines
        | ShowKind::Collation
        | ShowKind::CharacterSet
        | ShowKind::Plugins
        | ShowKind::Privileges => {
            filter(desk, show)?;
            return Ok(None);
        }
        // The allow-list lets none of these through.
        ShowKind::OpenTables
        | ShowKind::CreateRoutine
        | ShowKind::CreateUser
        | ShowKind::Events
        | ShowKind::RoutineStatus
        | ShowKind::RoutineCode
        | ShowKind::Engine
        | ShowKind::Profile
        | ShowKind::Profiles
        | ShowKind::Replication
        | ShowKind::Other => return Err(Error::refused("Bifold: this SHOW is not supported.")),
    };
    Ok(Some(local))
}

/// MySQL looks whether there is such a schema first; those of its own are there.
fn is_unknown(desk: &Desk<'_>, name: &str) -> bool {
    let own = ["information_schema", "performance_schema", "mysql", "sys"];
    desk.source.dialect.flavour == Flavour::MySql && desk.asker.usable(name).is_none() && !own.contains(&name)
}

fn named(show: &ast::Show) -> Result<&ast::TableName> {
    show.table.as_ref().ok_or_else(|| Error::proxy("Bifold: a SHOW of a table's parts was read without its table."))
}

/// The first word of `TRIGGERS` in `SHOW [FULL] TRIGGERS`.
fn triggers_word(desk: &Desk<'_>) -> u32 {
    let span = desk.fingerprint.span();
    (span.start..span.end)
        .find(|&token| desk.source.bytes(token).eq_ignore_ascii_case(b"triggers"))
        .unwrap_or(span.start)
}

/// LIKE and WHERE, as text. A condition may use the columns of the SHOW and built-in functions.
fn filter(desk: &Desk<'_>, show: &ast::Show) -> Result<Filter> {
    match &show.filter {
        None => Ok(Filter::All),
        Some(ShowFilter::Like(pattern)) => Ok(Filter::Like(desk.source.span_bytes(pattern.span).into())),
        Some(ShowFilter::Where(condition)) => {
            check(desk, condition.span)?;
            Ok(Filter::Where(desk.source.span_bytes(condition.span).into()))
        }
    }
}

/// By token: a subquery begins with a word of its own, a call is a name before a parenthesis.
fn check(desk: &Desk<'_>, condition: Span) -> Result<()> {
    let source = desk.source;
    for token in condition.tokens() {
        let word = source.keyword(token);
        if matches!(word, Keyword::Select | Keyword::With | Keyword::Table | Keyword::Values) {
            return Err(Error::refused(
                "Bifold: a subquery in the WHERE of a SHOW is not supported; select from the tables themselves.",
            ));
        }
        if source.kind(token) == Kind::Param {
            return Err(Error::refused("Bifold: a parameter in a SHOW is not supported; write the value in the text."));
        }
        let named =
            matches!(source.kind(token), Kind::Word | Kind::QuotedName) && !word.is_reserved(source.dialect.flavour);
        if named && source.kind(token + 1) == Kind::LParen {
            match function(desk.name(ast::Name(token)).as_bytes()) {
                Function::BuiltIn if source.kind(token.wrapping_sub(1)) != Kind::Dot => {}
                Function::Refused(error) => return Err(error),
                Function::BuiltIn | Function::Stored => {
                    return Err(Error::refused("Bifold: a stored function in the WHERE of a SHOW is not supported."));
                }
            }
        }
    }
    Ok(())
}

fn diagnostics(desk: &Desk<'_>, show: &ast::Show, level: Level) -> Result<Local> {
    let limit = match &show.limit {
        None => None,
        Some(limit) => {
            let number = |expr: &Option<Expr>, missing| expr.as_ref().map_or(Ok(missing), |expr| number(desk, expr));
            Some(Limit { offset: number(&limit.offset, 0)?, count: number(&limit.count, u64::MAX)? })
        }
    };
    Ok(Local::Show(Show::Diagnostics { level, limit }))
}

fn number(desk: &Desk<'_>, expr: &Expr) -> Result<u64> {
    let digits = match expr.kind {
        ExprKind::Literal(Literal::Int) => std::str::from_utf8(desk.source.span_bytes(expr.span)).ok(),
        _ => None,
    };
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Error::refused("Bifold: LIMIT in a SHOW takes numbers written in the text only."))
}
