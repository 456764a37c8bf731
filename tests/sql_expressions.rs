//! Every expression is bound as the servers bind it: the text with each node of its tree put in
//! parentheses gives the same result as the text itself, on each server that this machine has.

use bifold::lab::{Durability, Program, Server};
use bifold::sql::ast::{Expr, ExprKind};
use bifold::sql::visit::{Node, Visitor, walk_statement};
use bifold::sql::{Dialect, Mode, Source, lexer, parser};
use mysql_async::prelude::Queryable;

/// Where parentheses go: byte position, 0 for a closing one, and which.
#[derive(Default)]
struct Parentheses<'a> {
    source: Option<Source<'a>>,
    marks: Vec<(usize, u8, char)>,
}

/// Nodes that are no operand by themselves, or whose place takes no parentheses.
fn stays_bare(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Row(_) | ExprKind::Default | ExprKind::Interval { .. } | ExprKind::Subquery(_) | ExprKind::Parens(_)
    )
}

impl<'a> Visitor<'a> for Parentheses<'a> {
    fn enter(&mut self, node: Node<'a>) -> bool {
        if let (Node::Expr(expr), Some(source)) = (node, self.source)
            && !stays_bare(expr)
        {
            self.marks.push((source.byte_range(expr.span).start, 1, '('));
        }
        true
    }

    fn leave(&mut self, node: Node<'a>) {
        if let (Node::Expr(expr), Some(source)) = (node, self.source)
            && !stays_bare(expr)
        {
            self.marks.push((source.byte_range(expr.span).end, 0, ')'));
        }
    }
}

/// The statement with every expression in parentheses; `None` when it does not parse.
fn parenthesised(text: &str, dialect: Dialect) -> Option<String> {
    let mut tokens = Vec::new();
    lexer::lex(text.as_bytes(), &dialect, &mut tokens);
    let source = Source::new(text.as_bytes(), &tokens, dialect);
    let (statement, _) = parser::parse(&source, 0).ok()?;
    let mut marks = Parentheses { source: Some(source), ..Parentheses::default() };
    walk_statement(&statement, &mut marks);
    marks.marks.sort_by_key(|&(at, order, _)| (at, order));
    let (mut out, mut from) = (String::new(), 0);
    for (at, _, mark) in marks.marks {
        out.push_str(&text[from..at]);
        out.push(mark);
        from = at;
    }
    Some(out + &text[from..])
}

fn cases() -> Vec<(&'static str, &'static str)> {
    let mut mode = "";
    let mut cases = Vec::new();
    for line in include_str!("sql/expressions.txt").lines().chain(include_str!("sql/more_expressions.txt").lines()) {
        match line.strip_prefix("# sql_mode:") {
            Some(name) => mode = name.trim(),
            None => cases.push((mode, line)),
        }
    }
    cases
}

async fn value(conn: &mut mysql_async::Conn, sql: &str) -> Result<Option<Vec<u8>>, String> {
    let row: Result<Option<mysql_async::Row>, _> = conn.query_first(sql).await;
    match row {
        Ok(row) => Ok(row.and_then(|mut r| r.take::<Option<Vec<u8>>, _>(0)).flatten()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn trees_bind_as_the_servers_do() {
    let programs = Program::all();
    assert!(!programs.is_empty(), "no server on this machine");
    for program in programs {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let dialect = Dialect::from_server_version(&program.version).expect("a version");
        let mut conn = mysql_async::Conn::new(server.root()).await.expect("a login");
        let (mut wrong, mut compared) = (Vec::new(), 0);
        for (mode, expression) in cases() {
            conn.query_drop(format!("SET sql_mode = '{mode}'")).await.expect("a mode");
            let dialect = Dialect { mode: Mode::from_sql_mode(mode), ..dialect };
            let select = format!("SELECT {expression} AS x");
            let Ok(plain) = value(&mut conn, &select).await else { continue };
            compared += 1;
            match parenthesised(&select, dialect) {
                None => wrong.push(format!("{expression}: does not parse")),
                Some(text) => {
                    let through = value(&mut conn, &text).await;
                    if through.as_ref() != Ok(&plain) {
                        wrong.push(format!("{expression}: {plain:?}, but {text}: {through:?}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", program.version, wrong.join("\n"));
        assert!(compared > 120, "only {compared} of the expressions ran on {}", program.version);
    }
}
