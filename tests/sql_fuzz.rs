//! Broken texts: whatever the bytes are, reading them ends, never panics, and what is said about a
//! text holds: tokens lie apart in order, items lead to tokens and back, equal fingerprints mean
//! equal shapes, and every node of a tree lies inside the node around it. Seeded, so that a failure
//! comes again.

use std::collections::HashMap;

use bifold::sql::fingerprint::{self, Fingerprint, ListKind};
use bifold::sql::visit::{Node, Visitor, walk_statement};
use bifold::sql::{Charset, Dialect, Flavour, Kind, Mode, Source, Span, lexer, parser};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const ROUNDS: usize = 60_000;

fn corpus() -> Vec<&'static [u8]> {
    let statements = include_str!("sql/statements.txt").lines().chain(include_str!("sql/more_statements.txt").lines());
    statements.map(str::as_bytes).collect()
}

fn pick<'a, T>(rng: &mut StdRng, from: &'a [T]) -> &'a T {
    &from[rng.random_range(0..from.len())]
}

fn random_dialect(rng: &mut StdRng) -> Dialect {
    let charsets = [Charset::Utf8, Charset::Utf8, Charset::Latin1, Charset::Gbk, Charset::Sjis, Charset::Gb18030];
    let mut dialect = match rng.random_bool(0.5) {
        true => Dialect::new(Flavour::MySql, 90704),
        false => Dialect::new(Flavour::MariaDb, 101119),
    };
    dialect.charset = *pick(rng, &charsets);
    if rng.random_bool(0.2) {
        dialect.mode = Mode {
            ansi_quotes: rng.random(),
            no_backslash_escapes: rng.random(),
            pipes_as_concat: rng.random(),
            ignore_space: rng.random(),
            high_not_precedence: rng.random(),
        };
    }
    dialect
}

const BITS: &[&[u8]] = &[
    b"(",
    b")",
    b",",
    b"'",
    b"\"",
    b"`",
    b"\\",
    b"/*",
    b"*/",
    b"/*!",
    b"--",
    b"#",
    b";",
    b"?",
    b" IN (1,2) ",
    b" NOT ",
    b" SELECT ",
    b" VALUES (1,'a'),(2,NULL) ",
    b" UNION ",
    b" FROM ",
    b"((((((",
    b"@",
    b"@@",
    b"0x",
    b"1e",
    b".",
    b"\0",
    b"\xbf",
    b"\xff",
    b" INTERVAL ",
    b" AS ",
    b" WITH ",
    b" CASE ",
    b" BETWEEN ",
    b"5",
    b"'x'",
    b":=",
    b"{",
    b"}",
    b"_utf8",
];

fn mutate(rng: &mut StdRng, corpus: &[&[u8]]) -> Vec<u8> {
    let mut text = pick(rng, corpus).to_vec();
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..=text.len());
        let end = rng.random_range(at..=text.len().min(at + 12));
        match rng.random_range(0..6) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, pick(rng, BITS).iter().copied())),
            2 => drop(text.splice(at..at, pick(rng, BITS).iter().copied())),
            3 => {
                let piece = text[at..end].to_vec();
                let to = rng.random_range(0..=text.len());
                text.splice(to..to, piece);
            }
            4 => {
                let other = pick(rng, corpus);
                let from = rng.random_range(0..=other.len());
                text.truncate(at);
                text.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = rng.random();
                }
            }
        }
    }
    text
}

fn check_tokens(source: &Source) {
    let mut end = 0;
    for (n, token) in source.tokens.iter().enumerate() {
        assert!(end <= token.start as usize && token.end() <= source.text.len());
        assert!(token.kind != Kind::Bad || n + 1 == source.tokens.len());
        assert!(token.kind != Kind::End);
        end = token.end();
    }
}

fn check_items(source: &Source, print: &Fingerprint) {
    let span = print.span();
    for item in 0..print.item_count() {
        assert_eq!(print.item_of(print.token_of(item)), item);
    }
    let lists: u32 = print.lists().iter().map(|l| l.span.end - l.span.start - 1).sum();
    assert_eq!(print.item_count() + lists, span.end - span.start);
    for list in print.lists() {
        assert_eq!(print.token_of(list.item), list.span.start);
        let pieces = match list.kind {
            ListKind::Values => fingerprint::values(source, list.span).count(),
            ListKind::InsertRows => fingerprint::rows(source, list.span).count(),
            ListKind::ValueRows => fingerprint::rows(source, Span::new(list.span.start + 1, list.span.end - 1)).count(),
        };
        assert_eq!(pieces, list.count as usize);
    }
}

/// What equal keys must have in common, and a text that has it.
type Shape = (Vec<(Kind, Option<ListKind>)>, Vec<u8>);

/// The kind of each item, lists marked.
fn shape(source: &Source, print: &Fingerprint) -> Vec<(Kind, Option<ListKind>)> {
    let one = |item| {
        let list = print.list(item).map(|l| l.kind);
        // a list stands for values of several kinds
        (source.kind(print.token_of(item)), list)
    };
    (0..print.item_count()).map(one).collect()
}

/// Spans of the open nodes.
#[derive(Default)]
struct Nesting(Vec<Span>);

impl Nesting {
    fn span(node: Node) -> Option<Span> {
        match node {
            Node::Expr(expr) => Some(expr.span),
            Node::Query(query) => Some(query.span),
            Node::With(with) => Some(with.span),
            Node::CommonTable(table) => Some(table.span),
            Node::TableRef(table) => Some(table.span),
            // ORDER BY of a query is walked inside its only SELECT
            Node::Select(_) => None,
            Node::Table(table) => Some(table.table.span),
            Node::Wildcard(item) => Some(item.span),
            Node::Column(column) => Some(column.span),
            Node::Mention(table) => Some(table.span),
        }
    }
}

impl<'a> Visitor<'a> for Nesting {
    fn enter(&mut self, node: Node<'a>) -> bool {
        if let Some(span) = Self::span(node) {
            assert!(!span.is_empty(), "{node:?}");
            if let Some(outer) = self.0.last() {
                assert!(outer.start <= span.start && span.end <= outer.end, "{span:?} in {outer:?}: {node:?}");
            }
            self.0.push(span);
        }
        true
    }
    fn leave(&mut self, node: Node<'a>) {
        if Self::span(node).is_some() {
            self.0.pop();
        }
    }
}

fn check_statement(source: &Source, from: u32) -> Option<u32> {
    let (statement, end) = parser::parse(source, from).ok()?;
    assert!(end > from && matches!(source.kind(end), Kind::Semicolon | Kind::End));
    assert_eq!(statement.span, Span::new(from, end));
    walk_statement(&statement, &mut Nesting(vec![statement.span]));
    Some(end)
}

#[test]
fn broken_texts_are_read_to_their_end() {
    let corpus = corpus();
    let mut rng = StdRng::seed_from_u64(20);
    let (mut tokens, mut print) = (Vec::new(), Fingerprint::new());
    let mut shapes: HashMap<(Dialect, Vec<u8>), Shape> = HashMap::new();
    let mut parsed = 0;
    for _ in 0..ROUNDS {
        let text = mutate(&mut rng, &corpus);
        let dialect = random_dialect(&mut rng);
        lexer::lex(&text, &dialect, &mut tokens);
        let source = Source::new(&text, &tokens, dialect);
        check_tokens(&source);
        let mut from = 0;
        loop {
            let end = print.take(&source, from);
            check_items(&source, &print);
            let shape = shape(&source, &print);
            let known = shapes.entry((dialect, print.key().to_vec())).or_insert((shape.clone(), text.clone()));
            assert_eq!(
                known.0,
                shape,
                "{} and {} share a key",
                String::from_utf8_lossy(&known.1),
                String::from_utf8_lossy(&text)
            );
            parsed += usize::from(check_statement(&source, from).is_some());
            match parser::next_statement(&source, end) {
                Some(next) => from = next,
                None => break,
            }
        }
    }
    assert!(parsed > ROUNDS / 10, "only {parsed} texts still parsed");
}

/// Texts that nest or chain without end must not exhaust the stack of a small thread.
#[test]
fn depth_is_bounded() {
    let dialect = Dialect::new(Flavour::MySql, 90704);
    let nested = |open: &str, middle: &str, close: &str, n: usize| {
        // what stands before a `|` is not repeated
        let (before, open) = open.split_once('|').unwrap_or(("", open));
        format!("SELECT {before}{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    let checks = move || {
        for n in [10, 50, 60, 70, 200, 20_000] {
            for text in [
                nested("(", "1", ")", n),
                nested("- ", "1", "", n),
                nested("NOT ", "1", "", n),
                nested("f(", "1", ")", n),
                nested("(SELECT ", "1", ")", n),
                nested("1 BETWEEN 0 AND ", "1", "", n),
                nested("CASE WHEN ", "1", " THEN 1 END", n),
                nested("@a := ", "1", "", n),
                nested("INTERVAL 1 DAY + ", "1", "", n),
                nested("1 IN (", "1", ")", n),
                nested("", "1", " + 1", n),
                nested("", "1", " IS NULL", n),
                nested("", "1", " COLLATE a", n),
                nested("", "1", " XOR 1", n),
                nested("", "1", " OR 1", n),
                nested("", "1", " UNION SELECT 1", n),
                nested("1 FROM |", "t", " JOIN t", n),
                nested("1 FROM |", "t", " JOIN t ON 1", n),
                nested("1 FROM |(", "t", ")", n),
                nested("1 FROM |(SELECT * FROM ", "t", ") t", n),
                nested("", "1", ", 1", n),
            ] {
                let mut tokens = Vec::new();
                lexer::lex(text.as_bytes(), &dialect, &mut tokens);
                let source = Source::new(text.as_bytes(), &tokens, dialect);
                Fingerprint::new().take(&source, 0);
                let parsed = check_statement(&source, 0);
                let flat = [" OR 1", " UNION SELECT 1", ", 1"].iter().any(|end| text.ends_with(end));
                assert!(!flat || parsed.is_some(), "a flat list of {n} is refused: {}", &text[..30]);
                assert!(n > 10 || parsed.is_some(), "{text}");
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(checks).expect("a thread").join().expect("no overflow");
}
