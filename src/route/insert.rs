//! INSERT of rows into a sharded table: each row's key says its place, rows of one place go in one
//! text, ids are put in where they are missing. Only tokens are walked; nothing is parsed.

use std::collections::HashMap;
use std::io::Write;

use super::text::Copier;
use super::value::{Said, sharded};
use super::{Arg, Name, Part, RouteError, Routed, Work};
use crate::config::{GeneratedBatch, IdRule};
use crate::error::{Error, code};
use crate::plan::{Insert, InsertId, Located, RefKind, RowCut, Rows, TableRef};
use crate::snowflake::{Carried, Format};
use crate::sql::{Keyword, Span, fingerprint};
use crate::topology::key::{Canonical, Key, Purpose};
use crate::topology::{KeyHash, Place, ShardNo, Sharded, SubtableNo};

/// A row, and what is to be done with it.
#[derive(Debug)]
struct Row {
    /// In the client's text, from 1.
    number: u32,
    /// With its parentheses; of SET: all assignments.
    span: Span,
    /// The key's hash; none where the id is the key.
    hash: Option<KeyHash>,
    place: Place,
    id: RowId,
    /// Where the id's value stands, if it does.
    id_span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowId {
    /// As the row says.
    Given,
    Wanted,
    Made(u64),
}

/// The parts of a plan that all rows are looked at with.
struct Target<'p> {
    plan: &'p Insert,
    table: &'p TableRef,
    located: &'p Located,
    sharded: &'p Sharded,
    id: Option<(&'p InsertId, &'p IdRule)>,
}

impl Work<'_> {
    pub fn insert(&self, plan: &Insert, out: &mut Routed) -> Result<(), RouteError> {
        // 1. What the rows are
        let target = Target::of(plan)?;
        let mut rows = self.rows(&target, out)?;
        // 2. Their ids and places
        if !self.sample {
            self.make_ids(&target, &mut rows, out)?;
        }
        // 3. A text for each place, in the order in which the rows name them
        // What is only prepared is described whole: all of its parameters.
        if self.sample || rows.iter().all(|row| row.place == rows[0].place) {
            self.text(&target, &rows.iter().collect::<Vec<_>>(), false, out);
            return Ok(());
        }
        if plan.returning {
            return Err(Error::refused(
                "Bifold: RETURNING of rows that lie in several places is not supported: insert rows of one sharding key \
                 at a time.",
            )
            .into());
        }
        let mut order: HashMap<Place, usize> = HashMap::new();
        let mut by_place: Vec<Vec<&Row>> = Vec::new();
        for row in &rows {
            let at = *order.entry(row.place).or_insert(by_place.len());
            match by_place.get_mut(at) {
                Some(rows) => rows.push(row),
                None => by_place.push(vec![row]),
            }
        }
        by_place.iter().for_each(|rows| self.text(&target, rows, true, out));
        Ok(())
    }

    fn rows(&self, target: &Target<'_>, out: &mut Routed) -> Result<Vec<Row>, RouteError> {
        let plan = target.plan;
        let mut rows = Vec::new();
        let mut scratch = std::mem::take(&mut out.scratch);
        match &plan.rows {
            Rows::Set { values, .. } => {
                let spans: Vec<Span> = values.iter().map(|(from, to)| self.span(*from, *to)).collect();
                let whole = Span::new(spans[0].start, spans[spans.len() - 1].end);
                rows.push(self.row(target, whole, 1, spans.into_iter(), &mut scratch, out)?);
            }
            Rows::Values { from, to, .. } => {
                let source = self.statement.source;
                for (number, span) in (1..).zip(fingerprint::rows(&source, self.span(*from, *to))) {
                    let values = fingerprint::values(&source, span);
                    rows.push(self.row(target, span, number, values, &mut scratch, out)?);
                }
            }
        }
        out.scratch = scratch;
        match rows.is_empty() {
            true => Err(Error::proxy("Bifold: an INSERT without rows.").into()),
            false => Ok(rows),
        }
    }

    fn row(
        &self,
        target: &Target<'_>,
        span: Span,
        number: u32,
        values: impl Iterator<Item = Span>,
        scratch: &mut Vec<u8>,
        out: &mut Routed,
    ) -> Result<Row, RouteError> {
        let plan = target.plan;
        let id_position = target.id.and_then(|(id, _)| id.position);
        let (mut key_span, mut id_span, mut width) = (None, None, 0u16);
        for value in values {
            key_span = if plan.key == Some(width) { Some(value) } else { key_span };
            id_span = if id_position == Some(width) { Some(value) } else { id_span };
            width = width.saturating_add(1);
        }
        if width != plan.width {
            let text = format!("Column count doesn't match value count at row {number}");
            return Err(Error::client(code::WRONG_VALUE_COUNT, text).into());
        }
        let id = match (target.id, id_span) {
            (None, _) => RowId::Given,
            (Some(_), None) => RowId::Wanted,
            (Some((id, _)), Some(value)) => self.given(id, value, scratch, out),
        };
        let mut row = Row { number, span, hash: None, place: FIRST, id, id_span };
        if target.key_is_id() && id == RowId::Wanted {
            return Ok(row);
        }
        let key_span = key_span.ok_or_else(|| Error::proxy("Bifold: a row without its key."))?;
        row.hash = self.stored_key(target, key_span, scratch)?;
        if let Some(hash) = row.hash {
            row.place = hash.place(target.table.schema.shard_count(), target.sharded.subtables);
        }
        if let (Some((_, rule)), Some(hash), RowId::Given, Some(value)) = (target.id, row.hash, id, id_span)
            && let Some(modulus) = rule.layout.carries
        {
            let said = Carried { subtable: row.place.subtable.0, residue: hash.residue(modulus) };
            self.check_carried(target, rule, value, said, scratch)?;
        }
        Ok(row)
    }

    /// Does the row leave its id to Bifold?
    fn given(&self, id: &InsertId, value: Span, scratch: &mut Vec<u8>, out: &mut Routed) -> RowId {
        let source = &self.statement.source;
        if value.end - value.start == 1 && source.keyword(value.start) == Keyword::Default {
            return RowId::Wanted;
        }
        match self.canonical(&id.id_type, value, Purpose::Store, scratch) {
            Canonical::Null => RowId::Wanted,
            Canonical::Exact(Key::Integer(0)) if !self.facts.keeps_zero_ids => RowId::Wanted,
            Canonical::Exact(Key::Integer(id)) => {
                out.insert_id = u64::try_from(id).ok().or(out.insert_id);
                RowId::Given
            }
            Canonical::Exact(Key::Bytes(_) | Key::Hashed(_)) | Canonical::NotExact | Canonical::Ask(_) => RowId::Given,
        }
    }

    /// The hash of the key that the row will store.
    fn stored_key(
        &self,
        target: &Target<'_>,
        span: Span,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<KeyHash>, RouteError> {
        let key = &target.sharded.key;
        match self.key(&target.located.key_type, target.sharded, span, Purpose::Store, scratch)? {
            Said::Hash(hash) => Ok(Some(hash)),
            Said::Null | Said::Unclear if self.sample => Ok(None),
            Said::Null if self.is_one_row(target.plan) => {
                Err(Error::client(code::BAD_NULL, format!("Column '{key}' cannot be null")).into())
            }
            // Some of the rows before it, or a value in its stead, would be a matter of IGNORE and sql_mode.
            Said::Null => Err(Error::refused(format!(
                "Bifold: NULL for {key}, the sharding key of table {}, is not supported beside other rows or with \
                 IGNORE: give each row its key.",
                target.table.table
            ))
            .into()),
            Said::Unclear => {
                let written = String::from_utf8_lossy(self.statement.source.span_bytes(span)).into_owned();
                Err(Error::refused(format!(
                    "Bifold: the value {written} for {key}, the sharding key of table {}, is not exactly one that the \
                     column can store: give a literal or a parameter of the column's own type.",
                    target.table.table
                ))
                .into())
            }
        }
    }

    /// A NULL is then refused by every server in every sql_mode.
    fn is_one_row(&self, plan: &Insert) -> bool {
        let several = match &plan.rows {
            Rows::Set { .. } => false,
            Rows::Values { from, to } => {
                fingerprint::rows(&self.statement.source, self.span(*from, *to)).nth(1).is_some()
            }
        };
        !several && !plan.ignore
    }

    /// An id that the application gives must name the place of its row, or it would not be found.
    fn check_carried(
        &self,
        target: &Target<'_>,
        rule: &IdRule,
        value: Span,
        said: Carried,
        scratch: &mut Vec<u8>,
    ) -> Result<(), RouteError> {
        let Some((id, _)) = target.id else { return Ok(()) };
        let given = self.integer(&id.id_type, value, Purpose::Store, scratch).and_then(|id| i64::try_from(id).ok());
        let carried = given.and_then(|id| Format::new(rule.layout).carried(id));
        if carried == Some(said) || self.sample {
            return Ok(());
        }
        let written = String::from_utf8_lossy(self.statement.source.span_bytes(value)).into_owned();
        Err(Error::refused(format!(
            "Bifold: the id {written} does not carry the place of its row in table {}: leave {} out, and Bifold makes one.",
            target.table.table, rule.column
        ))
        .into())
    }

    /// Fills in the ids that are wanted; the key follows where it is the id.
    fn make_ids(&self, target: &Target<'_>, rows: &mut [Row], out: &mut Routed) -> Result<(), RouteError> {
        let Some((_, rule)) = target.id else { return Ok(()) };
        let wanted = rows.iter().filter(|row| row.id == RowId::Wanted).count();
        if wanted == 0 {
            return Ok(());
        }
        let Some(modulus) = rule.layout.carries else {
            let ids = self.take(target, None, wanted)?;
            let mut ids = ids.into_iter();
            for row in rows.iter_mut().filter(|row| row.id == RowId::Wanted) {
                if let Some(id) = ids.next() {
                    row.id = RowId::Made(id);
                    out.generated_id = out.generated_id.or(Some(id));
                    self.follow_id(target, row, id);
                }
            }
            out.insert_id = out.generated_id.or(out.insert_id);
            return Ok(());
        };
        if wanted > 1 && rule.generated_batch == GeneratedBatch::Refuse {
            return Err(Error::refused(format!(
                "Bifold: ids of table {} carry places and are not consecutive, and the topology file refuses to make \
                 several in one statement: insert the rows one by one.",
                target.table.table
            ))
            .into());
        }
        let mut groups: HashMap<(u32, Place), Vec<usize>> = HashMap::new();
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.id == RowId::Wanted) {
            if let Some(hash) = row.hash {
                groups.entry((hash.residue(modulus), row.place)).or_default().push(number);
            }
        }
        let mut short = false;
        for (at, numbers) in groups {
            match self.take(target, Some(at), numbers.len()) {
                // The other places go on gathering theirs.
                Err(RouteError::Wait) => short = true,
                taken => numbers.into_iter().zip(taken?).for_each(|(number, id)| rows[number].id = RowId::Made(id)),
            }
        }
        if short {
            return Err(RouteError::Wait);
        }
        out.generated_id = rows.iter().find_map(|row| match row.id {
            RowId::Made(id) => Some(id),
            RowId::Given | RowId::Wanted => None,
        });
        out.insert_id = out.generated_id.or(out.insert_id);
        Ok(())
    }

    fn take(&self, target: &Target<'_>, at: Option<(u32, Place)>, count: usize) -> Result<Vec<u64>, RouteError> {
        let wanted = u32::try_from(count).map_err(|_| Error::refused("Bifold: too many rows in one INSERT."))?;
        let mut ids = Vec::with_capacity(count);
        match self.facts.ids.take(&target.table.schema, &target.located.rule, at, wanted, &mut ids)? {
            true if ids.len() == count => Ok(ids),
            true => Err(Error::proxy("Bifold: fewer ids were made than asked for.").into()),
            false => Err(RouteError::Wait),
        }
    }

    /// Where the key is the id, the id says the place.
    fn follow_id(&self, target: &Target<'_>, row: &mut Row, id: u64) {
        if target.key_is_id() && row.hash.is_none() {
            let hash = Key::Integer(i128::from(id)).hash(target.sharded.hash);
            row.hash = Some(hash);
            row.place = hash.place(target.table.schema.shard_count(), target.sharded.subtables);
        }
    }

    /// The text with the rows of one place.
    fn text(&self, target: &Target<'_>, rows: &[&Row], split: bool, out: &mut Routed) {
        let plan = target.plan;
        let place = rows[0].place;
        let names: Vec<Name> = plan
            .template
            .refs
            .iter()
            .map(|table| match &table.kind {
                RefKind::Sharded(located) => Name::subtable(table, sharded(located), place),
                RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
            })
            .collect();
        let start = out.buffer.len();
        let copier = Copier::new(self.statement, self.facts, &plan.template, &names);
        let mut writer = Writer { work: self, copier, args: None };
        let makes_ids = rows.iter().any(|row| matches!(row.id, RowId::Made(_)));
        if self.statement.params.is_some() && (split || makes_ids) {
            writer.args = Some(Vec::new());
        }
        if split {
            self.instant(&plan.template, &mut writer.copier, &mut out.buffer);
        }
        match &plan.rows {
            Rows::Set { .. } => writer.assignments(target, rows[0], &mut out.buffer),
            Rows::Values { from, to } => {
                let cuts = plan.template.rows.as_ref().map_or(&[][..], |rows| &rows.cuts);
                let all = self.span(*from, *to);
                writer.copy(self.statement.fingerprint.span().start, all.start, &mut out.buffer);
                for (number, row) in rows.iter().enumerate() {
                    if number > 0 {
                        out.buffer.extend_from_slice(b", ");
                    }
                    writer.row(target, row, cuts, &mut out.buffer);
                }
                writer.go_to(all.end);
                writer.copy(all.end, self.statement.fingerprint.span().end, &mut out.buffer);
            }
        }
        let Writer { mut copier, args, .. } = writer;
        copier.copy_to(self.statement.source.text.len(), &mut out.buffer);
        let server = target.table.schema.shard(place.shard).server;
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let numbers = if split { rows.iter().map(|row| row.number).collect() } else { Vec::new() };
        let text = start..out.buffer.len();
        out.parts.push(Part { server, text, args, names, rows: count, numbers, copies: false, branches: Vec::new() });
    }
}

const FIRST: Place = Place { shard: ShardNo(0), subtable: SubtableNo(0) };

impl<'p> Target<'p> {
    fn of(plan: &'p Insert) -> Result<Self, RouteError> {
        let table = plan.template.refs.first();
        let Some((table, RefKind::Sharded(located))) = table.map(|table| (table, &table.kind)) else {
            return Err(Error::proxy("Bifold: rows are split for a table that is not sharded.").into());
        };
        let sharded = sharded(located);
        let id = plan.id.as_ref().zip(sharded.id.as_ref());
        Ok(Target { plan, table, located, sharded, id })
    }

    fn key_is_id(&self) -> bool {
        self.id.is_some_and(|(id, _)| self.plan.key == id.position)
    }
}

/// Writes rows, keeping count of what stands for each `?`.
struct Writer<'w, 'a> {
    work: &'w Work<'a>,
    copier: Copier<'w>,
    args: Option<Vec<Arg>>,
}

impl Writer<'_, '_> {
    /// Where a token starts; past the last one, where that one ends.
    fn start_of(&self, token: u32) -> usize {
        let tokens = self.work.statement.source.tokens;
        match tokens.get(token as usize) {
            Some(token) => token.start as usize,
            None => tokens.last().map_or(0, |token| token.end()),
        }
    }

    fn end_of(&self, token: u32) -> usize {
        self.work.statement.source.tokens.get(token as usize).map_or(0, |token| token.end())
    }

    /// Copies up to the token `to`, the tokens from `from` on being those not counted yet.
    fn copy(&mut self, from: u32, to: u32, out: &mut Vec<u8>) {
        let end = self.start_of(to);
        self.copier.copy_to(end, out);
        self.count(from, to);
    }

    /// Copies up to the end of the last of these tokens.
    fn copy_through(&mut self, from: u32, to: u32, out: &mut Vec<u8>) {
        if to > from {
            self.copier.copy_to(self.end_of(to - 1), out);
            self.count(from, to);
        }
    }

    fn count(&mut self, from: u32, to: u32) {
        let Some(args) = &mut self.args else { return };
        let numbers = self.work.param_number(from)..self.work.param_number(to);
        args.extend(numbers.map(|number| Arg::Client(u16::try_from(number).unwrap_or(u16::MAX))));
    }

    /// Goes on behind the token before `token`.
    fn go_to(&mut self, token: u32) {
        let at = token.checked_sub(1).map_or(0, |before| self.end_of(before));
        self.copier.skip_to(at);
    }

    fn id(&mut self, id: u64, out: &mut Vec<u8>) {
        match &mut self.args {
            Some(args) => {
                args.push(Arg::Id(id));
                out.push(b'?');
            }
            None => {
                // Writing to a Vec can't fail.
                let _ = write!(out, "{id}");
            }
        }
    }

    fn row(&mut self, target: &Target<'_>, row: &Row, cuts: &[RowCut], out: &mut Vec<u8>) {
        self.copier.skip_to(self.start_of(row.span.start));
        let mut next = row.span.start;
        let made = match row.id {
            RowId::Made(id) => Some(id),
            RowId::Given | RowId::Wanted => None,
        };
        let position = target.id.and_then(|(id, _)| id.position);
        let replaced = made.filter(|_| row.id_span.is_some());
        if !cuts.is_empty() || replaced.is_some() {
            let source = self.work.statement.source;
            for (number, value) in (0u16..).zip(fingerprint::values(&source, row.span)) {
                if let Some(id) = replaced.filter(|_| position == Some(number)) {
                    next = self.replace(next, value, |writer, out| writer.id(id, out), out);
                    continue;
                }
                for cut in cuts.iter().filter(|cut| cut.value == number) {
                    next = self.replace(next, cut.span(value), |writer, out| writer.copier.patch(&cut.with, out), out);
                }
            }
        }
        let close = row.span.end - 1;
        self.copy_through(next, close, out);
        if row.id_span.is_none() && target.id.is_some() {
            let comma: &[u8] = if target.plan.width == 0 { b"" } else { b", " };
            out.extend_from_slice(comma);
            match made {
                Some(id) => self.id(id, out),
                None => out.push(b'0'),
            }
        }
        self.copy_through(close, row.span.end, out);
    }

    fn assignments(&mut self, target: &Target<'_>, row: &Row, out: &mut Vec<u8>) {
        let mut next = self.work.statement.fingerprint.span().start;
        let made = match row.id {
            RowId::Made(id) => Some(id),
            RowId::Given | RowId::Wanted => None,
        };
        match (made, row.id_span) {
            (Some(id), Some(span)) => next = self.replace(next, span, |writer, out| writer.id(id, out), out),
            (_, None) if target.id.is_some() => {
                self.copy_through(next, row.span.end, out);
                next = row.span.end;
                if let Some((column, _)) = target.id {
                    let _ = write!(out, ", {} = ", column.column);
                }
                match made {
                    Some(id) => self.id(id, out),
                    None => out.push(b'0'),
                }
            }
            (_, _) => {}
        }
        self.copy_through(next, self.work.statement.fingerprint.span().end, out);
    }

    /// Copies up to a span and puts something else in its place; gives the token behind it.
    fn replace(&mut self, from: u32, span: Span, put: impl FnOnce(&mut Self, &mut Vec<u8>), out: &mut Vec<u8>) -> u32 {
        let (start, end) = match span.is_empty() {
            true => (self.end_of(span.start - 1), self.end_of(span.start - 1)),
            false => (self.start_of(span.start), self.end_of(span.end - 1)),
        };
        self.copier.copy_to(start, out);
        self.count(from, span.start);
        put(self, out);
        self.copier.skip_to(end);
        span.end
    }
}
