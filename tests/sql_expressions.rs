//! Every expression is bound as the servers bind it: the text with each node of its tree put in
//! parentheses gives the same result as the text itself, on each server that this machine has.

use bifold::lab::{Durability, Program, Server};
use bifold::sql::ast::{Expr, ExprKind};
use bifold::sql::visit::{Node, Visitor, walk_statement};
use bifold::sql::{Dialect, Mode, Source, lexer, parser};
use mysql_async::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const ROUNDS: usize = 8_000;

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

const OPERANDS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "NULL",
    "'a'",
    "'1'",
    "'%'",
    "1.5",
    "1e1",
    "TRUE",
    "0x31",
    "b'1'",
    "@v",
    "(1)",
    "(0)",
    "(SELECT 1)",
    "(SELECT NULL)",
    "'2020-01-01'",
    "DATE '2020-02-29'",
    "CASE WHEN 1 THEN 0 END",
    "CASE 2 WHEN 1 THEN 3 ELSE 4 END",
    "IF(0, 1, 2)",
    "MOD(5, 3)",
    "EXISTS (SELECT 1)",
    "'a' 'b'",
    "_latin1'a'",
    "CAST('7' AS UNSIGNED)",
    "LEFT('abc', 2)",
    "REPEAT('1', 2)",
    "INTERVAL(2, 1, 3)",
];

const BETWEEN: &[&str] = &[
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " DIV ",
    " MOD ",
    " ^ ",
    " | ",
    " & ",
    " << ",
    " >> ",
    " || ",
    " && ",
    " AND ",
    " OR ",
    " XOR ",
    " = ",
    " <=> ",
    " < ",
    " <= ",
    " > ",
    " >= ",
    " <> ",
    " != ",
    " LIKE ",
    " NOT LIKE ",
    " REGEXP ",
    " NOT REGEXP ",
    " RLIKE ",
    " IN (1) + ",
    " IN (",
    " NOT IN (",
    " BETWEEN ",
    " NOT BETWEEN ",
    " AND ",
    " AND ",
    " SOUNDS LIKE ",
    " + INTERVAL ",
    " - INTERVAL ",
    " ESCAPE ",
    " = ANY (SELECT 1) = ",
    " COLLATE utf8mb4_bin = ",
    " IS NULL = ",
    " IS NULL AND ",
    " MEMBER OF (",
    "-",
    "+",
];

const BEFORE: &[&str] =
    &["", "", "", "NOT ", "! ", "- ", "+ ", "~ ", "BINARY ", "@v := ", "INTERVAL 1 DAY + ", "NOT NOT ", "- - "];

const AFTER: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    ")",
    " DAY",
    " DAY",
    " IS NULL",
    " IS NOT NULL",
    " IS TRUE",
    " IS NOT FALSE",
    " IS UNKNOWN",
    " IN (1, 2)",
    " NOT IN (0)",
    " COLLATE utf8mb4_bin",
    " IN (SELECT 1)",
    " COLLATE latin1_bin",
];

/// Operands, operators and what may stand around them, in any order: most of it is no expression.
fn soup(rng: &mut StdRng) -> String {
    let mut pick = |from: &[&'static str]| from[rng.random_range(0..from.len())];
    let mut text = String::new();
    loop {
        text.push_str(pick(BEFORE));
        text.push_str(pick(OPERANDS));
        text.push_str(pick(AFTER));
        if text.len() > 20 && pick(&["on", "on", "end"]) == "end" {
            return text;
        }
        text.push_str(pick(BETWEEN));
    }
}

#[tokio::test]
async fn random_expressions_bind_as_the_servers_bind_them() {
    const MODES: &[&str] = &["", "", "PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE"];
    let mut rng = StdRng::seed_from_u64(3);
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let dialect = Dialect::from_server_version(&program.version).expect("a version");
        let mut conn = mysql_async::Conn::new(server.root()).await.expect("a login");
        let (mut wrong, mut compared) = (Vec::new(), 0);
        for round in 0..ROUNDS {
            let mode = MODES[round * MODES.len() / ROUNDS];
            conn.query_drop(format!("SET sql_mode = '{mode}', @v = 7")).await.expect("a mode");
            let dialect = Dialect { mode: Mode::from_sql_mode(mode), ..dialect };
            let select = format!("SELECT {} AS x", soup(&mut rng));
            let Ok(plain) = value(&mut conn, &select).await else { continue };
            compared += 1;
            let Some(text) = parenthesised(&select, dialect) else {
                wrong.push(format!("{mode} {select}: does not parse"));
                continue;
            };
            conn.query_drop("SET @v = 7").await.expect("a variable");
            let through = value(&mut conn, &text).await;
            if through.as_ref() != Ok(&plain) {
                wrong.push(format!("{mode} {select}: {plain:?}, but {text}: {through:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} on {}:\n{}", wrong.len(), program.version, wrong.join("\n"));
        assert!(compared > ROUNDS / 10, "only {compared} of {ROUNDS} ran on {}", program.version);
    }
}
