//! Texts that collect the rows of each table of a statement, and the statement itself over the
//! temporary tables that these rows come into.

use super::locate::Where;
use super::text::Copier;
use super::value::sharded;
use super::{Arg, Gathered, Name, Part, RouteError, Routed, Temporary, Work};
use crate::error::Error;
use crate::plan::gather::{Collected, Column, Form, Gather};
use crate::plan::{Cut, Item, Patch, RefKind, TableRef, Template};
use crate::sql::{Kind, Span, literal};
use crate::topology::{HOME, Place, ServerNo, ShardNo, SubtableNo};

/// Subtables of one server that are read by one statement: `UNION ALL` of so many.
const BLOCK: usize = 64;

/// Parameters of one prepared statement (the protocol counts them in 16 bits).
const PARAMS: usize = 60_000;

/// All texts of one statement together have at most so many bytes.
const LONGEST: usize = 64 << 20;

impl Work<'_> {
    /// `out.parts` collect; `out.gathered` says what of them makes which table, and what runs then.
    pub fn gather(&self, plan: &Gather, out: &mut Routed) -> Result<(), RouteError> {
        let server = server(plan);
        let mut names = Vec::with_capacity(plan.tables.len());
        let mut tables = Vec::new();
        for (number, table) in plan.template.refs.iter().enumerate() {
            if let Some(name) = self.stays(table, server) {
                names.push(name);
                continue;
            }
            let local = like(table, server);
            let database = local.as_ref().map_or_else(|| database(plan).to_owned(), |name| name.database.clone());
            let like_on = if local.is_some() { server } else { table.schema.home().server };
            let like = local.unwrap_or_else(|| first(table, HOME));
            let name = Name { database, table: format!("bifold_gathered_{number}"), ..like.clone() };
            let from = out.parts.len();
            self.collect(plan, number, out)?;
            let parts = from..out.parts.len();
            tables.push(Temporary { table: number, name: name.clone(), like, like_on, parts });
            names.push(name);
        }
        let start = out.buffer.len();
        Copier::new(self.statement, self.facts, &plan.template, &names).copy_rest(&mut out.buffer);
        let args = plan.plain.is_some().then(|| self.all_args(&plan.template.cuts, self.statement.fingerprint.span()));
        let args = args.filter(|_| self.statement.params.is_some());
        out.gathered = Some(Box::new(Gathered { server, text: start..out.buffer.len(), args, names, tables }));
        Ok(())
    }

    /// The statement over tables that are alike: each sharded one is its first subtable on the server.
    /// Where the server has not all of them, how they would
    /// be collected.
    pub fn sample_of_gather(&self, plan: &Gather, out: &mut Routed) -> Result<(), RouteError> {
        let server = server(plan);
        let template = plan.plain.as_ref().unwrap_or(&plan.template);
        match template.refs.iter().map(|table| like(table, server)).collect() {
            Some(names) => self.part(template, server, names, out),
            None => self.gather(plan, out)?,
        }
        Ok(())
    }

    /// What the server has whole need not be collected, unless the session's transaction may have changed
    /// it: the statement runs outside it.
    fn stays(&self, table: &TableRef, server: ServerNo) -> Option<Name> {
        match &table.kind {
            RefKind::Sharded(_) => None,
            RefKind::Unsharded | RefKind::Reference if self.facts.in_transaction => None,
            RefKind::Unsharded | RefKind::Reference => like(table, server),
        }
    }

    fn collect(&self, plan: &Gather, number: usize, out: &mut Routed) -> Result<(), RouteError> {
        let (table, collected) = (&plan.template.refs[number], &plan.tables[number]);
        let places: Vec<(Place, Name)> = match &table.kind {
            RefKind::Unsharded | RefKind::Reference => {
                vec![(Place { shard: HOME, subtable: SubtableNo(0) }, Name::whole(table, HOME))]
            }
            RefKind::Sharded(located) => {
                let places = match self.locate(&table.schema, located)? {
                    Where::One(place) => vec![place],
                    Where::Several(places) => places,
                    Where::Anywhere => table.schema.places(sharded(located)).collect(),
                };
                places.into_iter().map(|place| (place, Name::owned(table, located, place))).collect()
            }
        };
        let filters: &[Items] = if self.whole { &[] } else { &collected.filters };
        let args = self.statement.params.is_some().then(|| self.args(filters));
        let most = PARAMS / args.as_ref().map_or(1, Vec::len).max(1);
        let server = |place: &Place| table.schema.shard(place.shard).server;
        let branch = self.branch(&plan.template, collected, filters);
        for block in places.chunk_by(|(one, _), (other, _)| server(one) == server(other)) {
            for branches in block.chunks(BLOCK.min(most)) {
                let start = out.buffer.len();
                for (at, (_, name)) in branches.iter().enumerate() {
                    out.buffer.extend_from_slice(if at > 0 { b" UNION ALL " } else { b"" });
                    out.buffer.extend_from_slice(&branch.before);
                    name.put(&mut out.buffer);
                    out.buffer.extend_from_slice(&branch.behind);
                    if let Some(own) = &name.own {
                        out.buffer.extend_from_slice(if filters.is_empty() { b" WHERE " } else { b" AND " });
                        out.buffer.extend_from_slice(own.as_bytes());
                    }
                }
                if out.buffer.len() > LONGEST {
                    return Err(Error::refused(
                        "Bifold: a statement of this length can't be sent to so many places: give the sharding key.",
                    )
                    .into());
                }
                out.parts.push(Part {
                    server: server(&branches[0].0),
                    text: start..out.buffer.len(),
                    args: args.as_ref().map(|args| args.repeat(branches.len())),
                    names: branches.iter().map(|(_, name)| name.clone()).collect(),
                    rows: 0,
                    numbers: Vec::new(),
                    copies: false,
                    branches: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// What reads a place, before and behind its name.
    fn branch(&self, template: &Template, collected: &Collected, filters: &[Items]) -> Branch {
        let mut before = b"SELECT ".to_vec();
        for (at, column) in collected.columns.iter().filter(|column| self.whole || column.needed).enumerate() {
            before.extend_from_slice(if at > 0 { b", " } else { b"" });
            put_column(column, &mut before);
        }
        before.extend_from_slice(b" FROM ");
        let mut behind = b" AS ".to_vec();
        behind.extend_from_slice(collected.alias.as_bytes());
        for (at, (from, to)) in filters.iter().enumerate() {
            behind.extend_from_slice(if at > 0 { b" AND (" } else { b" WHERE (" });
            let range = self.statement.source.byte_range(self.span(*from, *to));
            let mut copier = Copier::new(self.statement, self.facts, template, &[]);
            copier.skip_to(range.start);
            copier.copy_to(range.end, &mut behind);
            behind.push(b')');
        }
        Branch { before, behind }
    }

    /// The parameters of a text that has parts of it again.
    fn all_args(&self, cuts: &[Cut], span: Span) -> Vec<Arg> {
        let source = &self.statement.source;
        let mut args = Vec::new();
        for token in span.tokens() {
            for cut in cuts.iter().filter(|cut| self.statement.fingerprint.token_of(cut.from.0) == token) {
                if let Patch::Again(copy) = &cut.with {
                    args.extend(self.all_args(&copy.cuts, self.span(copy.from, copy.to)));
                }
            }
            if source.kind(token) == Kind::Param {
                args.push(Arg::Client(u16::try_from(self.param_number(token)).unwrap_or(u16::MAX)));
            }
        }
        args
    }

    /// The parameters of some filters, in the order of the text.
    fn args(&self, filters: &[Items]) -> Vec<Arg> {
        let source = &self.statement.source;
        let tokens = filters.iter().flat_map(|(from, to)| self.span(*from, *to).tokens());
        let params = tokens.filter(|token| source.kind(*token) == Kind::Param);
        params.map(|token| Arg::Client(u16::try_from(self.param_number(token)).unwrap_or(u16::MAX))).collect()
    }
}

/// A part of the statement's text, by its items.
type Items = (Item, Item);

struct Branch {
    before: Vec<u8>,
    behind: Vec<u8>,
}

/// The table whose home server runs the statement: where most can stay as it is.
fn host(plan: &Gather) -> Option<&TableRef> {
    let refs = &plan.template.refs;
    refs.iter().find(|table| matches!(table.kind, RefKind::Unsharded)).or(refs.first())
}

fn server(plan: &Gather) -> ServerNo {
    host(plan).map_or(ServerNo(0), |table| table.schema.home().server)
}

fn database(plan: &Gather) -> &str {
    host(plan).map_or("", |table| &table.schema.home().database)
}

/// A table of the server that has the reference's definition.
fn like(table: &TableRef, server: ServerNo) -> Option<Name> {
    match &table.kind {
        RefKind::Unsharded => (table.schema.home().server == server).then(|| Name::whole(table, HOME)),
        RefKind::Reference | RefKind::Sharded(_) => {
            table.schema.shards_on(server).next().map(|shard| first(table, shard.no))
        }
    }
}

/// The table in a shard, or the first of its subtables there.
fn first(table: &TableRef, shard: ShardNo) -> Name {
    match &table.kind {
        RefKind::Unsharded | RefKind::Reference => Name::whole(table, shard),
        RefKind::Sharded(located) => Name::subtable(table, sharded(located), Place { shard, subtable: SubtableNo(0) }),
    }
}

/// How a column is read, so that its text is the stored value's whatever the session's settings are.
fn put_column(column: &Column, out: &mut Vec<u8>) {
    let (before, behind): (&[u8], &[u8]) = match column.form {
        Form::Text | Form::Characters => (b"CAST(", b" AS BINARY)"),
        Form::Shown => (b"CAST(CONCAT(", b") AS BINARY)"),
        Form::Float => (b"CAST(", b" AS DOUBLE)"),
        Form::Number => (b"CAST(CAST(", b" AS UNSIGNED) AS BINARY)"),
        Form::Timestamp => (b"CAST(UNIX_TIMESTAMP(", b") AS BINARY)"),
        Form::Double | Form::Bytes => (b"", b""),
    };
    out.extend_from_slice(before);
    literal::quote_name(&column.name, out);
    out.extend_from_slice(behind);
}
