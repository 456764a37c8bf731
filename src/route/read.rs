//! A query for every place that its rows can be in, in the order of shards and subtables. Values
//! of LIMIT become numbers here: what each part gives, and what the merge takes of it all.

use super::locate::Where;
use super::text::Copier;
use super::value::sharded;
use super::{Arg, Name, Part, RouteError, Routed, Window, Work};
use crate::error::Error;
use crate::plan::{self, RefKind, TableRef, Template, ValueSource, Wide};
use crate::topology::{HOME, Place, SubtableNo};
use crate::value::Value;

/// All texts of one statement together have at most so many bytes.
const LONGEST: usize = 64 << 20;

impl Work<'_> {
    pub fn read(&self, plan: &Wide, out: &mut Routed) -> Result<(), RouteError> {
        let driver = self.driver(&plan.template)?;
        let RefKind::Sharded(located) = &driver.kind else { return Err(no_driver().into()) };
        let places = match self.locate(&driver.schema, located)? {
            Where::One(place) => vec![place],
            Where::Several(places) => places,
            Where::Anywhere => driver.schema.places(sharded(located)).collect(),
        };
        out.wide = true;
        out.window = plan.window.as_ref().map(|window| self.window(window)).transpose()?;
        let args = plan.window.as_ref().and_then(|window| self.other_args(window));
        for place in places {
            self.place_part(plan, driver, place, args.clone(), out);
            if out.buffer.len() > LONGEST {
                return Err(Error::refused(
                    "Bifold: a statement of this length can't be sent to so many places: give the sharding key.",
                )
                .into());
            }
        }
        Ok(())
    }

    /// The statement as it is, for the first place.
    pub fn sample_of(&self, template: &Template, out: &mut Routed) -> Result<(), RouteError> {
        let driver = self.driver(template)?;
        let first = Place { shard: HOME, subtable: SubtableNo(0) };
        self.part(template, driver.schema.home().server, names(template, first), out);
        Ok(())
    }

    /// The table whose places are read.
    fn driver<'t>(&self, template: &'t Template) -> Result<&'t TableRef, Error> {
        template.refs.iter().find(|table| matches!(table.kind, RefKind::Sharded(_))).ok_or_else(no_driver)
    }

    fn place_part(&self, plan: &Wide, driver: &TableRef, place: Place, args: Option<Vec<Arg>>, out: &mut Routed) {
        let names = names(&plan.template, place);
        let start = out.buffer.len();
        let mut copier = Copier::new(self.statement, self.facts, &plan.template, &names);
        copier.filters = true;
        copier.limit = out.window.map_or(0, |window| window.offset.saturating_add(window.count));
        if plan.clock {
            self.instant(&plan.template, &mut copier, &mut out.buffer);
        }
        copier.copy_rest(&mut out.buffer);
        let text = start..out.buffer.len();
        let server = driver.schema.shard(place.shard).server;
        out.parts.push(Part { server, text, args, names, rows: 0, numbers: Vec::new(), copies: false });
    }

    pub fn window(&self, window: &plan::Window) -> Result<Window, RouteError> {
        let number = |source: &ValueSource| self.row_count(source);
        Ok(Window { offset: window.offset.as_ref().map_or(Ok(0), number)?, count: number(&window.count)? })
    }

    fn row_count(&self, source: &ValueSource) -> Result<u64, RouteError> {
        let refused = || {
            Error::refused(
                "Bifold: LIMIT over several places takes whole numbers that are not negative, written or bound as such.",
            )
        };
        let ValueSource::One { from, to } = source else { return Err(refused().into()) };
        let mut scratch = Vec::new();
        match self.value(self.span(*from, *to).into(), &mut scratch) {
            Some(Value::UInt(count)) => Ok(count),
            Some(Value::Int(count)) => u64::try_from(count).map_err(|_| refused().into()),
            _ => Err(refused().into()),
        }
    }

    /// The parameters that are left when those of LIMIT have become numbers; `None`: all.
    fn other_args(&self, window: &plan::Window) -> Option<Vec<Arg>> {
        let is_limits = |token: u32| {
            [window.offset.as_ref(), Some(&window.count)].into_iter().flatten().any(|source| match source {
                ValueSource::One { from, to } => self.span(*from, *to).contains(token),
                ValueSource::List(_) | ValueSource::Rows { .. } | ValueSource::LastInsertId => false,
            })
        };
        let number = |at: usize| Arg::Client(u16::try_from(at).unwrap_or(u16::MAX));
        let others = self.params.iter().enumerate().filter(|(_, token)| !is_limits(**token));
        let others: Vec<Arg> = others.map(|(at, _)| number(at)).collect();
        (others.len() < self.params.len()).then_some(others)
    }
}

fn names(template: &Template, place: Place) -> Vec<Name> {
    let name = |table: &TableRef| match &table.kind {
        RefKind::Sharded(located) => Name::owned(table, located, place),
        RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
    };
    template.refs.iter().map(name).collect()
}

fn no_driver() -> Error {
    Error::proxy("Bifold: a query over many places without a sharded table.")
}
