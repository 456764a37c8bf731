//! What statements that share a plan have in common: the text with its literals taken out, as the
//! key of the plan cache, and the way from a place in that key to the token of this statement.
//!
//! - Words stay as written (names and column titles depend on their case); comments go.
//! - Literals are taken out in predicates (WHERE, ON), SET and LIMIT, each leaving its type:
//!   `?i` int, `?d` decimal, `?f` float, `?s` string, `?n` national string, `?x` hex, `?b` bit. They stay in
//!   the select list with everything nested in it (titles), in GROUP BY, HAVING, ORDER BY, INTERVAL,
//!   hints, and in all statements but queries, DML and SET. `?` is a parameter; NULL, TRUE and FALSE
//!   stay words.
//! - `IN (1, 2, 3)` of plain values is *one* item `(?i)*`, whatever its length; several types make a
//!   form of their own by first appearance, `(?is)*`. So are lists of rows, `IN ((1, 'a'), (2, 'b'))`.
//! - The rows of VALUES in INSERT and REPLACE are one item too, if in each column either all values
//!   are plain (a literal of any type, signed or not, a parameter, NULL, TRUE, FALSE, DEFAULT: `?v`)
//!   or all are the same expression. A row with a subquery keeps the rows apart. The types of plain
//!   values are *not* in the key: they are looked at row by row when the statement is routed.
//!
//! An *item* is a token of the key, or one list. `SELECT a FROM t WHERE k IN (7, 8) AND d = 'x'` has
//! the key `SELECT a FROM t WHERE k IN (?i)* AND d = ?s` and the items
//!
//! ```text
//! item   0      1 2    3 4     5 6  7          8   9 10 11
//! text   SELECT a FROM t WHERE k IN (7 , 8)    AND d =  'x'
//! token  0      1 2    3 4     5 6  7 8 9 10 11 12 13 14 15
//! ```
//!
//! A plan says "item 11"; `token_of(11)` is 15 here, and 17 in the statement with three values.

use super::{Keyword, Kind, Source, Span};

/// The key and the items of one statement. Reusable: `take` keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    key: Vec<u8>,
    lists: Vec<List>,
    span: Option<Span>,
    states: Vec<State>,
    elements: Vec<Element>,
}

/// A run of tokens that is one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub item: u32,
    pub kind: ListKind,
    /// From the first parenthesis to the last.
    pub span: Span,
    /// Values, or rows; 1 or more.
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `(1, 2)` behind IN.
    Values,
    /// `((1, 2), (3, 4))` behind IN.
    ValueRows,
    /// `(1, 2), (3, 4)` behind VALUES.
    InsertRows,
}

#[derive(Clone, Copy, Debug)]
struct State {
    clause: Clause,
    /// Inside parentheses of a select list: no word changes the clause.
    pinned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clause {
    /// Literals and the space between tokens stay: they make column titles.
    SelectList,
    /// Literals stay.
    Keep,
    /// Literals are taken out.
    Take,
}

/// A value of the first row of VALUES.
#[derive(Clone, Copy, Debug)]
struct Element {
    span: Span,
    plain: bool,
}

impl Fingerprint {
    pub fn new() -> Fingerprint {
        Fingerprint::default()
    }

    /// Reads the statement that starts at token `from`; gives the token after its last, which is a
    /// `;` or the end.
    pub fn take(&mut self, source: &Source, from: u32) -> u32 {
        self.key.clear();
        self.lists.clear();
        self.states.clear();
        let (takes, inserts) = statement_family(source, from);
        let mut pass = Pass {
            source,
            takes,
            rows_expected: inserts,
            state: State { clause: Clause::Keep, pinned: false },
            in_interval: false,
            removed: 0,
            from,
            out: self,
        };
        let end = pass.run();
        self.span = Some(Span::new(from, end));
        end
    }

    /// The key. Two statements with equal keys (read in one dialect) have the same items.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The tokens of the statement.
    pub fn span(&self) -> Span {
        self.span.unwrap_or(Span::new(0, 0))
    }

    pub fn item_count(&self) -> u32 {
        let span = self.span();
        self.lists.iter().fold(span.end - span.start, |n, l| n - (l.span.end - l.span.start - 1))
    }

    /// The token that an item is, the first one of a list.
    pub fn token_of(&self, item: u32) -> u32 {
        let mut token = self.span().start + item;
        for list in &self.lists {
            if list.item >= item {
                break;
            }
            token += list.span.end - list.span.start - 1;
        }
        token
    }

    /// The item that a token is, or the list that it lies in.
    pub fn item_of(&self, token: u32) -> u32 {
        let mut item = token - self.span().start;
        for list in &self.lists {
            if token < list.span.start {
                break;
            }
            item -= token.min(list.span.end - 1) - list.span.start;
        }
        item
    }

    /// The tokens of the items `from..to`.
    pub fn tokens(&self, from: u32, to: u32) -> Span {
        let last = self.token_of(to - 1);
        let end = self.list(to - 1).map_or(last + 1, |list| list.span.end);
        Span::new(self.token_of(from), end)
    }

    pub fn lists(&self) -> &[List] {
        &self.lists
    }

    /// The list that is this item.
    pub fn list(&self, item: u32) -> Option<&List> {
        self.lists.iter().find(|l| l.item == item)
    }
}

/// The values of `(a, b, c)`: each a span, the parentheses and commas left out.
pub fn values<'a>(source: &'a Source<'a>, parenthesised: Span) -> Values<'a> {
    Values { source, at: parenthesised.start + 1, end: parenthesised.end - 1 }
}

/// The rows of `(…), (…)` with their parentheses: a `List` of kind `InsertRows`, or the span of
/// `InsertSource::Values`. For `ValueRows` give the span without the outer parentheses.
pub fn rows<'a>(source: &'a Source<'a>, span: Span) -> Values<'a> {
    Values { source, at: span.start, end: span.end }
}

/// Spans between the commas that stand outside parentheses.
pub struct Values<'a> {
    source: &'a Source<'a>,
    at: u32,
    end: u32,
}

impl Iterator for Values<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        if self.at >= self.end {
            return None;
        }
        let (start, mut depth) = (self.at, 0u32);
        while self.at < self.end {
            match self.source.kind(self.at) {
                Kind::LParen => depth += 1,
                Kind::RParen => depth = depth.saturating_sub(1),
                Kind::Comma if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        self.at += 1;
        Some(span)
    }
}

/// Whether literals may be taken out at all, and whether VALUES has rows to insert.
fn statement_family(source: &Source, from: u32) -> (bool, bool) {
    let mut first = from;
    while source.kind(first) == Kind::LParen {
        first += 1;
    }
    match source.keyword(first) {
        Keyword::Insert | Keyword::Replace => (true, true),
        Keyword::Select
        | Keyword::With
        | Keyword::Update
        | Keyword::Delete
        | Keyword::Set
        | Keyword::Values
        | Keyword::Table
        | Keyword::Explain
        | Keyword::Describe
        | Keyword::Desc
        | Keyword::Analyze => (true, false),
        _ => (false, false),
    }
}

struct Pass<'s, 'a> {
    source: &'s Source<'a>,
    takes: bool,
    rows_expected: bool,
    state: State,
    in_interval: bool,
    /// Tokens that lists have swallowed so far.
    removed: u32,
    from: u32,
    out: &'s mut Fingerprint,
}

impl Pass<'_, '_> {
    fn run(&mut self) -> u32 {
        let mut at = self.from;
        let mut before = Kind::End;
        while let Some(token) = self.source.tokens.get(at as usize) {
            if token.kind == Kind::Semicolon {
                break;
            }
            self.gap(at, token.kind);
            match token.kind {
                Kind::LParen => {
                    self.out.states.push(self.state);
                    self.state.pinned |= self.state.clause == Clause::SelectList;
                    self.out.key.push(b'(');
                }
                Kind::RParen => {
                    self.state = self.out.states.pop().unwrap_or(self.state);
                    self.out.key.push(b')');
                }
                Kind::Comma => {
                    self.in_interval = false;
                    self.out.key.push(b',');
                }
                Kind::Int | Kind::Decimal | Kind::Float | Kind::String | Kind::NString | Kind::Hex | Kind::Bit
                    if self.takes && self.state.clause == Clause::Take && !self.in_interval =>
                {
                    self.out.key.extend_from_slice(&[b'?', letter(token.kind)]);
                }
                _ => {
                    if token.kind == Kind::Bad {
                        self.out.key.push(0); // its text may be empty
                    }
                    self.out.key.extend_from_slice(&self.source.text[token.range()]);
                    if token.keyword != Keyword::None && before != Kind::Dot {
                        self.word(token.keyword);
                        if let Some(end) = self.list_behind(token.keyword, at) {
                            at = end;
                            before = Kind::RParen;
                            continue;
                        }
                    }
                }
            }
            before = token.kind;
            at += 1;
        }
        at
    }

    /// What stands in the key between this token and the one before it.
    fn gap(&mut self, at: u32, kind: Kind) {
        if at == self.from {
            return;
        }
        if self.state.clause != Clause::SelectList {
            if kind != Kind::LParen || !self.source.is_adjacent(at) {
                self.out.key.push(b' ');
            }
            return;
        }
        let before = self.source.tokens[at as usize - 1];
        let edge = matches!(before.keyword, Keyword::Select | Keyword::Returning)
            || matches!(before.kind, Kind::Comma | Kind::Hint);
        if !self.state.pinned && (edge || kind == Kind::Comma || self.source.keyword(at) == Keyword::From) {
            self.out.key.push(b' ');
        } else {
            let start = self.source.tokens[at as usize].start as usize;
            self.out.key.extend_from_slice(&self.source.text[before.end()..start]);
        }
    }

    fn word(&mut self, word: Keyword) {
        if self.state.pinned {
            return;
        }
        let clause = &mut self.state.clause;
        match word {
            Keyword::Select | Keyword::Returning => *clause = Clause::SelectList,
            Keyword::From
            | Keyword::Union
            | Keyword::Intersect
            | Keyword::Except
            | Keyword::Group
            | Keyword::Having
            | Keyword::Order => *clause = Clause::Keep,
            Keyword::Where | Keyword::On | Keyword::Limit => *clause = Clause::Take,
            // from here on words that may be names: in a select list they change nothing
            Keyword::Join
            | Keyword::StraightJoin
            | Keyword::Partition
            | Keyword::Window
            | Keyword::Qualify
            | Keyword::JsonTable
                if *clause == Clause::Take =>
            {
                *clause = Clause::Keep;
            }
            Keyword::Set | Keyword::Offset | Keyword::Fetch if *clause == Clause::Keep => *clause = Clause::Take,
            Keyword::Interval => self.in_interval = true,
            word if self.in_interval && is_interval_unit(word) => self.in_interval = false,
            _ => {}
        }
    }

    /// If a list that is one item stands behind this word: writes its form, gives the token after it.
    fn list_behind(&mut self, word: Keyword, at: u32) -> Option<u32> {
        let next = at + 1;
        if !self.takes || self.source.kind(next) != Kind::LParen {
            return None;
        }
        match word {
            Keyword::Values | Keyword::Value
                if self.rows_expected && self.out.states.is_empty() && self.ends_target(at) =>
            {
                self.rows_expected = false;
                self.state.clause = Clause::Take;
                self.insert_rows(next)
            }
            Keyword::In if self.state.clause == Clause::Take && !self.in_interval => self.in_list(next),
            _ => None,
        }
    }

    /// Whether the table or the column list of an INSERT ends before `at`: `value` may be its name.
    fn ends_target(&self, at: u32) -> bool {
        match self.source.kind(at - 1) {
            Kind::RParen | Kind::QuotedName => true,
            Kind::Word => !matches!(
                self.source.keyword(at - 1),
                Keyword::Insert
                    | Keyword::Replace
                    | Keyword::LowPriority
                    | Keyword::Delayed
                    | Keyword::HighPriority
                    | Keyword::Ignore
                    | Keyword::Into
            ),
            _ => false,
        }
    }

    fn push_list(&mut self, kind: ListKind, span: Span, count: u32) -> u32 {
        let item = span.start - self.from - self.removed;
        self.removed += span.end - span.start - 1;
        self.out.lists.push(List { item, kind, span, count });
        span.end
    }

    fn in_list(&mut self, open: u32) -> Option<u32> {
        let key_length = self.out.key.len();
        self.out.key.extend_from_slice(b" (?");
        let found = match self.source.kind(open + 1) {
            Kind::LParen => self.in_rows(open),
            _ => self.in_values(open, true),
        };
        match found {
            Some((end, count)) => {
                self.out.key.extend_from_slice(b")*");
                let rows = self.source.kind(open + 1) == Kind::LParen;
                let kind = if rows { ListKind::ValueRows } else { ListKind::Values };
                Some(self.push_list(kind, Span::new(open, end), count))
            }
            None => {
                self.out.key.truncate(key_length);
                None
            }
        }
    }

    /// `(1, 'a', …)`: the token after it and the number of values; writes their types, each once
    /// (`once`) or all.
    fn in_values(&mut self, open: u32, once: bool) -> Option<(u32, u32)> {
        let types_from = self.out.key.len();
        let (mut at, mut count) = (open + 1, 0);
        loop {
            let (kind, end) = plain_value(self.source, at)?;
            if kind == b'D' {
                return None; // DEFAULT is no value here
            }
            if !once || !self.out.key[types_from..].contains(&kind) {
                self.out.key.push(kind);
            }
            count += 1;
            at = end + 1;
            match self.source.kind(end) {
                Kind::Comma => {}
                Kind::RParen => return Some((at, count)),
                _ => return None,
            }
        }
    }

    /// `((1, 'a'), (2, 'b'))`: all rows of the same types.
    fn in_rows(&mut self, open: u32) -> Option<(u32, u32)> {
        let first_from = self.out.key.len();
        let (mut at, mut count) = (open + 1, 0);
        loop {
            let row_from = self.out.key.len();
            if self.source.kind(at) != Kind::LParen {
                return None;
            }
            self.out.key.push(b'(');
            let (end, _) = self.in_values(at, false)?;
            if count > 0 {
                let (first, row) = self.out.key[first_from..].split_at(row_from - first_from);
                if first != row {
                    return None;
                }
                self.out.key.truncate(row_from);
            }
            count += 1;
            at = end + 1;
            match self.source.kind(end) {
                Kind::Comma => {}
                Kind::RParen => return Some((at, count)),
                _ => return None,
            }
        }
    }

    fn insert_rows(&mut self, open: u32) -> Option<u32> {
        let mut end = self.first_row(open)?;
        let mut count = 1;
        while self.source.kind(end) == Kind::Comma && self.source.kind(end + 1) == Kind::LParen {
            end = self.same_row(end + 1)?;
            count += 1;
        }
        self.out.key.extend_from_slice(b" (");
        for n in 0..self.out.elements.len() {
            let element = self.out.elements[n];
            match element.plain {
                true => self.out.key.extend_from_slice(b"?v"),
                false => self.expression(element.span),
            }
            self.out.key.push(b',');
        }
        self.out.key.extend_from_slice(b")*");
        Some(self.push_list(ListKind::InsertRows, Span::new(open, end), count))
    }

    /// Fills `elements` with the values of the row at `open`; gives the token after the row.
    fn first_row(&mut self, open: u32) -> Option<u32> {
        self.out.elements.clear();
        let mut at = open + 1;
        if self.source.kind(at) == Kind::RParen {
            return Some(at + 1);
        }
        loop {
            let (element, end) = self.element(at)?;
            self.out.elements.push(element);
            match self.source.kind(end) {
                Kind::Comma => at = end + 1,
                _ => return Some(end + 1),
            }
        }
    }

    /// Whether the row at `open` has the form of the first: the token after it.
    fn same_row(&mut self, open: u32) -> Option<u32> {
        let mut at = open + 1;
        if self.out.elements.is_empty() {
            return (self.source.kind(at) == Kind::RParen).then_some(at + 1);
        }
        for n in 0..self.out.elements.len() {
            let first = self.out.elements[n];
            let (element, end) = self.element(at)?;
            if element.plain != first.plain || !(element.plain || self.same_form(element.span, first.span)) {
                return None;
            }
            let last = n + 1 == self.out.elements.len();
            if (self.source.kind(end) == Kind::RParen) != last {
                return None;
            }
            at = end + 1;
        }
        Some(at)
    }

    /// The value at `at` up to its comma or parenthesis; `None` where rows must stay apart.
    fn element(&self, at: u32) -> Option<(Element, u32)> {
        if let Some((_, end)) = plain_value(self.source, at)
            && matches!(self.source.kind(end), Kind::Comma | Kind::RParen)
        {
            return Some((Element { span: Span::new(at, end), plain: true }, end));
        }
        let (mut end, mut depth) = (at, 0u32);
        loop {
            match self.source.kind(end) {
                Kind::LParen => depth += 1,
                Kind::Comma | Kind::RParen if depth == 0 => break,
                Kind::RParen => depth -= 1,
                Kind::Semicolon | Kind::Bad | Kind::End => return None,
                _ if is_query_word(self.source.keyword(end)) => return None,
                _ => {}
            }
            end += 1;
        }
        (end > at).then_some((Element { span: Span::new(at, end), plain: false }, end))
    }

    fn same_form(&self, a: Span, b: Span) -> bool {
        a.end - a.start == b.end - b.start
            && a.tokens().zip(b.tokens()).all(|(x, y)| {
                let kind = self.source.kind(x);
                let adjacent = |at, first: u32| at != first && self.source.is_adjacent(at);
                kind == self.source.kind(y)
                    && (kind.is_literal() || self.source.bytes(x) == self.source.bytes(y))
                    && (kind != Kind::LParen || adjacent(x, a.start) == adjacent(y, b.start))
            })
    }

    fn expression(&mut self, span: Span) {
        for at in span.tokens() {
            let kind = self.source.kind(at);
            if at > span.start && (kind != Kind::LParen || !self.source.is_adjacent(at)) {
                self.out.key.push(b' ');
            }
            match kind.is_literal() {
                true => self.out.key.extend_from_slice(&[b'?', letter(kind)]),
                false => self.out.key.extend_from_slice(self.source.bytes(at)),
            }
        }
    }
}

/// The value at `at`, if it is a literal of any type, signed or not, a parameter, NULL, TRUE, FALSE
/// or DEFAULT: a letter for its type and the token after it.
fn plain_value(source: &Source, at: u32) -> Option<(u8, u32)> {
    let strings_end = |mut at: u32| {
        while source.kind(at) == Kind::String {
            at += 1;
        }
        at
    };
    match source.kind(at) {
        kind @ (Kind::Int | Kind::Decimal | Kind::Float | Kind::Hex | Kind::Bit) => Some((letter(kind), at + 1)),
        Kind::Minus | Kind::Plus => match source.kind(at + 1) {
            kind @ (Kind::Int | Kind::Decimal | Kind::Float) => Some((letter(kind), at + 2)),
            _ => None,
        },
        kind @ (Kind::String | Kind::NString) => Some((letter(kind), strings_end(at + 1))),
        Kind::Param => Some((b'p', at + 1)),
        Kind::Introducer => match source.kind(at + 1) {
            Kind::String => Some((b'c', strings_end(at + 2))),
            Kind::Hex | Kind::Bit => Some((b'c', at + 2)),
            _ => None,
        },
        Kind::Word => match source.keyword(at) {
            Keyword::Null => Some((b'N', at + 1)),
            Keyword::True | Keyword::False => Some((b't', at + 1)),
            Keyword::Default => Some((b'D', at + 1)),
            _ => None,
        },
        _ => None,
    }
}

fn letter(kind: Kind) -> u8 {
    match kind {
        Kind::Int => b'i',
        Kind::Decimal => b'd',
        Kind::Float => b'f',
        Kind::String => b's',
        Kind::NString => b'n',
        Kind::Hex => b'x',
        Kind::Bit => b'b',
        _ => b'?', // no literal
    }
}

fn is_query_word(word: Keyword) -> bool {
    matches!(word, Keyword::Select | Keyword::With | Keyword::Table)
}

/// `DAY`, `HOUR_MINUTE` and the others.
pub(crate) fn is_interval_unit(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Microsecond
            | Keyword::Second
            | Keyword::Minute
            | Keyword::Hour
            | Keyword::Day
            | Keyword::Week
            | Keyword::Month
            | Keyword::Quarter
            | Keyword::Year
            | Keyword::SecondMicrosecond
            | Keyword::MinuteMicrosecond
            | Keyword::MinuteSecond
            | Keyword::HourMicrosecond
            | Keyword::HourSecond
            | Keyword::HourMinute
            | Keyword::DayMicrosecond
            | Keyword::DaySecond
            | Keyword::DayMinute
            | Keyword::DayHour
            | Keyword::YearMonth
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Dialect, Flavour, Token, lexer};

    fn dialect() -> Dialect {
        Dialect::new(Flavour::MySql, 90704)
    }

    fn lexed(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        lexer::lex(text.as_bytes(), &dialect(), &mut tokens);
        tokens
    }

    fn key(text: &str) -> String {
        let tokens = lexed(text);
        let mut fingerprint = Fingerprint::new();
        fingerprint.take(&Source::new(text.as_bytes(), &tokens, dialect()), 0);
        String::from_utf8_lossy(fingerprint.key()).into_owned()
    }

    #[test]
    fn literals_go_where_they_only_choose_rows() {
        for (text, expected) in [
            ("SELECT a, 1 FROM t WHERE b=5 AND c = 'x'", "SELECT a , 1 FROM t WHERE b = ?i AND c = ?s"),
            ("select 1 +1 from t limit 5,10", "select 1 +1 from t limit ?i , ?i"),
            ("SELECT a FROM t WHERE x=1.5 OR y=1e3 GROUP BY 1", "SELECT a FROM t WHERE x = ?d OR y = ?f GROUP BY 1"),
            ("SELECT f(a,1) FROM t HAVING a>1 ORDER BY 2", "SELECT f(a,1) FROM t HAVING a > 1 ORDER BY 2"),
            (
                "SELECT a FROM t WHERE d > NOW() - INTERVAL 1 DAY AND e=1",
                "SELECT a FROM t WHERE d > NOW( ) - INTERVAL 1 DAY AND e = ?i",
            ),
            ("UPDATE t SET a=1,b=NULL WHERE c=0x1f", "UPDATE t SET a = ?i , b = NULL WHERE c = ?x"),
            ("SELECT /*+ H(1) */ 1 -- c\n", "SELECT /*+ H(1) */ 1"),
            (
                "SELECT a FROM t JOIN u ON t.x=5 AND u.y='a' JOIN v",
                "SELECT a FROM t JOIN u ON t . x = ?i AND u . y = ?s JOIN v",
            ),
            (
                "SELECT (SELECT 1 FROM t WHERE x=5) FROM u WHERE y=6",
                "SELECT (SELECT 1 FROM t WHERE x=5) FROM u WHERE y = ?i",
            ),
            (
                "SELECT a FROM (SELECT 1 FROM t WHERE x=5) u WHERE EXISTS (SELECT 1 FROM v WHERE z=7)",
                "SELECT a FROM ( SELECT 1 FROM t WHERE x = ?i ) u WHERE EXISTS ( SELECT 1 FROM v WHERE z = ?i )",
            ),
            ("CREATE TABLE t (a INT DEFAULT 5) COMMENT 'x'", "CREATE TABLE t ( a INT DEFAULT 5 ) COMMENT 'x'"),
            ("SELECT a FROM t WHERE b = ? AND c = TRUE;SELECT 2", "SELECT a FROM t WHERE b = ? AND c = TRUE"),
        ] {
            assert_eq!(key(text), expected, "{text}");
        }
    }

    #[test]
    fn lists_of_any_length_share_a_form() {
        assert_eq!(key("SELECT a FROM t WHERE k IN (7)"), "SELECT a FROM t WHERE k IN (?i)*");
        assert_eq!(key("SELECT a FROM t WHERE k IN (7,-8,9)"), key("SELECT a FROM t WHERE k IN (1)"));
        assert_eq!(key("SELECT a FROM t WHERE k IN ('a',1,'b',2)"), key("SELECT a FROM t WHERE k IN ('a',1)"));
        assert_ne!(key("SELECT a FROM t WHERE k IN (1,'a')"), key("SELECT a FROM t WHERE k IN ('a',1)"));
        assert_eq!(key("SELECT a FROM t WHERE k IN (1, x)"), "SELECT a FROM t WHERE k IN ( ?i , x )");
        assert_eq!(
            key("SELECT a FROM t WHERE (a,b) IN ((1,'x'),(2,'y'))"),
            "SELECT a FROM t WHERE ( a , b ) IN (?(is)*"
        );
        assert_eq!(
            key("INSERT INTO t (a,b) VALUES (1,NOW()),(-2.5,NOW())"),
            "INSERT INTO t ( a , b ) VALUES (?v,NOW( ),)*"
        );
        assert_eq!(key("INSERT INTO t VALUES (1,'a'),(NULL,DEFAULT),(?,0x1f)"), key("INSERT INTO t VALUES (1,2)"));
        assert_eq!(key("INSERT INTO t VALUES (),()"), key("INSERT INTO t VALUES ()"));
        assert_ne!(key("INSERT INTO t VALUES (1,2)"), key("INSERT INTO t VALUES (1)"));
        assert_ne!(key("INSERT INTO t VALUES (1,a),(2,b)"), key("INSERT INTO t VALUES (1,a),(2,a)"));
        assert!(key("INSERT INTO t VALUES (1,(SELECT 2)),(3,4)").contains("VALUES ( ?i ,( SELECT 2"));
        assert!(key("INSERT INTO value (a) VALUES (1)").ends_with("( a ) VALUES (?v,)*"));
        assert!(
            key("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a=VALUES(a)+5").ends_with("a = VALUES( a ) + ?i")
        );
    }

    #[test]
    fn items_lead_to_tokens_and_back() {
        let text = "SELECT a FROM t WHERE k IN (7, 8) AND d = 'x'";
        let tokens = lexed(text);
        let source = Source::new(text.as_bytes(), &tokens, dialect());
        let mut fingerprint = Fingerprint::new();
        assert_eq!(fingerprint.take(&source, 0), 16);
        assert_eq!(fingerprint.item_count(), 12);
        assert_eq!((fingerprint.token_of(7), fingerprint.token_of(8), fingerprint.token_of(11)), (7, 12, 15));
        assert_eq!((7..12).map(|t| fingerprint.item_of(t)).collect::<Vec<_>>(), [7; 5]);
        assert_eq!((fingerprint.item_of(6), fingerprint.item_of(12), fingerprint.item_of(15)), (6, 8, 11));
        let list = *fingerprint.list(7).expect("a list");
        assert_eq!((list.kind, list.count), (ListKind::Values, 2));
        let spans: Vec<_> = values(&source, list.span).map(|s| source.span_bytes(s)).collect();
        assert_eq!(spans, [b"7", b"8"]);
    }

    #[test]
    fn rows_split_into_values() {
        let text = "INSERT INTO t VALUES (1, f(2, 3)), (-4, f(5, 6)) ON DUPLICATE KEY UPDATE a = 1";
        let tokens = lexed(text);
        let source = Source::new(text.as_bytes(), &tokens, dialect());
        let mut fingerprint = Fingerprint::new();
        fingerprint.take(&source, 0);
        let list = fingerprint.lists()[0];
        assert_eq!((list.kind, list.count), (ListKind::InsertRows, 2));
        let rows: Vec<Vec<_>> =
            rows(&source, list.span).map(|row| values(&source, row).map(|v| source.span_bytes(v)).collect()).collect();
        assert_eq!(rows, [[&b"1"[..], b"f(2, 3)"], [b"-4", b"f(5, 6)"]]);
        assert_eq!(source.bytes(fingerprint.token_of(list.item + 1)), b"ON");
    }
}
