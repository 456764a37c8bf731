//! UPDATE and DELETE with LIMIT over several places: a query finds the rows of each place and locks
//! them, the first of all places' rows are taken, and those are changed by their keys. Both texts
//! are the statement's own, cut otherwise.

use super::image;
use super::order;
use super::survey::{Env, Survey};
use super::{Choice, Cut, Item, Patch, SortKey, Template, ValueSource, Window};
use crate::error::{Error, Result};
use crate::sql::ast::{Expr, Limit, OrderItem};
use crate::sql::{Charset, Keyword, Span};

/// The clauses that say which rows of the one table a statement means.
#[derive(Clone, Copy)]
pub(super) struct Clauses<'q> {
    /// UPDATE or DELETE.
    pub verb: Keyword,
    /// Where the table stands.
    pub table: Span,
    /// What an UPDATE assigns, SET and all.
    pub set: Option<Span>,
    pub filter: Option<&'q Expr>,
    pub order_by: &'q [OrderItem],
    pub limit: Option<&'q Limit>,
}

/// A choice in the making.
pub(super) struct Draft {
    query: Vec<Cut>,
    change: Vec<Cut>,
    keys: Vec<SortKey>,
    window: Window,
    columns: Vec<image::Column>,
    update: bool,
}

impl Clauses<'_> {
    /// What follows the condition, be there one or not.
    pub fn tail(&self) -> Option<u32> {
        // ORDER BY are two tokens.
        let order = self.order_by.first().map(|first| first.span.start - 2);
        order.or(self.limit.map(|limit| limit.span.start))
    }

    /// How the rows are chosen; an error says why they can't be.
    pub fn draft(&self, survey: &Survey<'_>, limit: &Limit, scope: &Env<'_>) -> Result<Draft> {
        let table = &survey.refs[0].table;
        let refused = |why: &str| {
            Error::refused(format!(
                "Bifold: a change to table {table} with LIMIT over several places {why}: add a condition that names one \
                 place, or leave LIMIT out."
            ))
        };
        // 1. What tells a row from others
        let columns = survey.refs[0].def.as_deref().and_then(image::row_key);
        let columns = columns.ok_or_else(|| refused("needs a primary key by which rows are found again"))?;
        let plain = |column: &image::Column| column.name.is_ascii() || survey.source.dialect.charset == Charset::Utf8;
        if !columns.iter().all(plain) {
            return Err(refused("needs names in ASCII, or a session in utf8mb4"));
        }
        // 2. Which rows come first
        let key = |item: &OrderItem| {
            order::plain_key(survey, item, scope)
                .ok_or_else(|| refused("can be ordered by columns that servers compare by value only"))
        };
        let keys = self.order_by.iter().map(key).collect::<Result<Vec<_>>>()?;
        let count = limit.count.as_ref().and_then(|count| survey.constant(count));
        let window = match count {
            Some(count @ ValueSource::One { .. }) if limit.offset.is_none() => Window { offset: None, count },
            _ => return Err(refused("takes a plain number of rows")),
        };
        // 3. The two texts
        let query = self.query(survey, limit, &columns, &keys)?;
        let change = self.change(survey, limit);
        Ok(Draft { query, change, keys, window, columns, update: self.verb == Keyword::Update })
    }

    /// The statement becomes a locking SELECT.
    fn query(
        &self,
        survey: &Survey<'_>,
        limit: &Limit,
        columns: &[image::Column],
        keys: &[SortKey],
    ) -> Result<Vec<Cut>> {
        let verb = (0..self.table.start).rev().find(|token| survey.source.keyword(*token) == self.verb);
        let verb = verb.ok_or_else(|| Error::proxy("Bifold: a statement without its verb."))?;
        let read = columns.iter().map(|column| &column.read).chain(keys.iter().map(|key| &key.expr));
        let mut items: String = read.map(|expr| format!(", {expr}")).collect();
        let from = match self.verb {
            Keyword::Update => {
                items.push_str(" FROM");
                self.table.start
            }
            // DELETE has its own FROM.
            _ => self.table.start - 1,
        };
        let mut cuts = vec![
            replaced(survey, Span::new(verb, from), "SELECT "),
            inserted(survey, from, Patch::Inserted),
            inserted(survey, from, text(&items)),
        ];
        cuts.extend(self.set.map(|set| replaced(survey, set, "")));
        cuts.push(Cut { with: Patch::Limit, ..replaced(survey, limit.span, "") });
        cuts.push(inserted(survey, limit.span.end, text(" FOR UPDATE")));
        Ok(cuts)
    }

    /// The statement names rows by their keys, in the order in which they were to be changed.
    fn change(&self, survey: &Survey<'_>, limit: &Limit) -> Vec<Cut> {
        let condition = match self.filter {
            Some(filter) => {
                let span = Span::new(filter.span.start - 1, filter.span.end);
                Cut { with: Patch::Inserted, ..replaced(survey, span, "") }
            }
            None => inserted(survey, self.tail().unwrap_or(limit.span.start), Patch::Inserted),
        };
        vec![condition, replaced(survey, limit.span, "")]
    }
}

impl Draft {
    /// `plain`: the statement for one place.
    pub fn finish(self, plain: &Template) -> Choice {
        // Chosen rows are the shard's own.
        let is_test = |cut: &Cut| matches!(cut.with, Patch::OwnBefore | Patch::OwnBehind { .. });
        let mut change = recut(plain, self.change);
        change.cuts.retain(|cut| !is_test(cut));
        Choice {
            query: recut(plain, self.query),
            change,
            keys: self.keys,
            window: self.window,
            columns: self.columns,
            update: self.update,
        }
    }
}

/// The template with these cuts instead of all that lie within them.
fn recut(plain: &Template, cuts: Vec<Cut>) -> Template {
    let mut template = plain.clone();
    let is_within = |own: &Cut, other: &Cut| match own.from == own.to {
        true => other.from < own.from && own.to < other.to,
        false => other.from <= own.from && own.to <= other.to,
    };
    template.cuts.retain(|own| !cuts.iter().any(|other| is_within(own, other)));
    for cut in cuts {
        // What is put in stands before what is replaced there.
        let at = template.cuts.partition_point(|other| (other.from, other.to) <= (cut.from, cut.to));
        template.cuts.insert(at, cut);
    }
    template
}

fn replaced(survey: &Survey<'_>, span: Span, with: &str) -> Cut {
    Cut { from: survey.item(span.start), to: Item(survey.item(span.end - 1).0 + 1), with: text(with) }
}

fn inserted(survey: &Survey<'_>, token: u32, with: Patch) -> Cut {
    let at = survey.item(token);
    Cut { from: at, to: at, with }
}

fn text(text: &str) -> Patch {
    Patch::Text(text.as_bytes().into())
}
