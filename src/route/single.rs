//! Statements for one server: every table in its place, all places on the same server.

use super::locate::Where;
use super::text::Copier;
use super::value::sharded;
use super::{Name, Part, RouteError, Routed, Work};
use crate::error::Error;
use crate::plan::{Effect, RefKind, Single, TableRef, Template};
use crate::topology::{HOME, Place, Schema, ServerNo, ShardNo, SubtableNo};

impl Work<'_> {
    pub fn single(&self, plan: &Single, out: &mut Routed) -> Result<(), RouteError> {
        let mut names = Vec::with_capacity(plan.template.refs.len());
        let Some(server) = self.server(plan, false, &mut names)? else {
            return match (&plan.wide, &plan.gather) {
                (Some(wide), _) => self.read(wide, out),
                (None, Some(gather)) if self.sample => self.sample_of_gather(gather, out),
                (None, Some(gather)) => self.gather(gather, out),
                (None, None) => Err(Error::proxy("Bifold: a query without a place has no plan.").into()),
            };
        };
        if plan.effect != Effect::Read
            && let Some(RefKind::Sharded(located)) = plan.template.refs.first().map(|table| &table.kind)
        {
            out.hot = self.hot(located);
        }
        self.part(&plan.template, server, names, out);
        Ok(())
    }

    /// The text of a whole statement for one server.
    pub fn part(&self, template: &Template, server: ServerNo, names: Vec<Name>, out: &mut Routed) {
        let start = out.buffer.len();
        let mut copier = Copier::new(self.statement, self.facts, template, &names);
        copier.copy_rest(&mut out.buffer);
        let text = start..out.buffer.len();
        out.parts.push(Part {
            server,
            text,
            args: None,
            names,
            rows: 0,
            numbers: Vec::new(),
            copies: false,
            branches: Vec::new(),
        });
    }

    /// The one server that has all tables, and what they are called there. `None`: rows of several
    /// places are meant, and there is a way to read them. `at_home`: whatever the keys say, for a
    /// sample.
    fn server(&self, plan: &Single, at_home: bool, names: &mut Vec<Name>) -> Result<Option<ServerNo>, RouteError> {
        let template = &plan.template;
        let mut chosen: Option<(ServerNo, ShardNo, &Schema)> = None;
        for table in &template.refs {
            let (shard, name) = match &table.kind {
                RefKind::Unsharded => (HOME, Name::whole(table, HOME)),
                RefKind::Sharded(located) => {
                    let found = if at_home { Where::Anywhere } else { self.locate(&table.schema, located)? };
                    let place = match found {
                        Where::One(place) => place,
                        Where::Several(places) if self.sample => places[0],
                        Where::Anywhere if self.sample => Place { shard: HOME, subtable: SubtableNo(0) },
                        Where::Several(_) | Where::Anywhere if plan.wide.is_some() || plan.gather.is_some() => {
                            return Ok(None);
                        }
                        Where::Several(_) | Where::Anywhere => return Err(several_places(table).into()),
                    };
                    (place.shard, Name::subtable(table, sharded(located), place))
                }
                // Its shard is chosen when the server is known.
                RefKind::Reference => (HOME, Name::whole(table, HOME)),
            };
            names.push(name);
            if matches!(table.kind, RefKind::Reference) {
                continue;
            }
            let server = table.schema.shard(shard).server;
            match chosen {
                None => chosen = Some((server, shard, &table.schema)),
                Some((first, ..)) if first == server => {}
                // Described where all tables are; that its values name several servers is said
                // when it is executed.
                Some(_) if self.sample && !at_home => {
                    names.clear();
                    return self.server(plan, true, names);
                }
                Some(_) if plan.gather.is_some() => {
                    return Ok(None);
                }
                Some(_) => return Err(several_servers(template).into()),
            }
        }
        let Some((server, shard, schema)) = chosen else {
            return Ok(Some(self.home(template)));
        };
        for (name, table) in names.iter_mut().zip(&template.refs) {
            if matches!(table.kind, RefKind::Reference) {
                let same = std::ptr::eq(&*table.schema, schema).then_some(shard);
                let near = same.or_else(|| table.schema.shards_on(server).next().map(|shard| shard.no));
                let near = near.ok_or_else(|| several_servers(template))?;
                *name = Name::whole(table, near);
            }
        }
        Ok(Some(server))
    }

    /// Where a statement of reference tables only, or of no table, runs.
    fn home(&self, template: &Template) -> ServerNo {
        template.refs.first().map_or(ServerNo(0), |table| table.schema.home().server)
    }
}

fn several_places(table: &TableRef) -> Error {
    Error::refused(format!(
        "Bifold: the values given for the sharding key of table {} are not provably in one place, and reading several \
         is not supported yet: give one value of the column's own type.",
        table.table
    ))
}

fn several_servers(template: &Template) -> Error {
    let names: Vec<&str> = template.refs.iter().map(|table| &*table.table).collect();
    Error::refused(format!(
        "Bifold: the rows of {} that the statement means are on different servers, and joining over servers is not \
         supported yet: read them one by one.",
        names.join(" and ")
    ))
}
