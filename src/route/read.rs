//! A query for every place that its rows can be in, in the order of shards and subtables. The first
//! text is for one place, so that its column definitions are those of the statement; then places of one
//! server share texts, their statements the branches of a UNION, unless something speaks against it.
//! Values of LIMIT become numbers here: what each part gives, and what the merge takes of it all.

use super::locate::{Shares, Where};
use super::text::{Copier, put_share};
use super::value::sharded;
use super::{Arg, Name, Part, RouteError, Routed, Way, Window, Work};
use crate::error::Error;
use crate::plan::{self, Effect, Recipe, RefKind, TableRef, Template, ValueSource, Wide};
use crate::sql::{Flavour, Span};
use crate::topology::{HOME, Place, SubtableNo};
use crate::value::Value;

/// All texts of one statement together have at most so many bytes.
const LONGEST: usize = 64 << 20;

/// Statements in one UNION. Measured over 1,024 subtables: with 16 to 64 a server needs a third less
/// time than with a statement for each; with more, parsing and opening tables cost it again, and two
/// such texts at the same time hinder each other.
const BRANCHES: usize = 64;

/// A statement has at most so many parameters.
const PARAMS: usize = 65_535;

/// So many sorted rows may be held by the merge. Beyond, each server sorts all its places in one
/// statement, and its rows are merged as they come.
const HELD: u64 = 1000;

/// What a branch gives.
#[derive(Clone, Copy)]
enum Rows {
    Wanted,
    /// One at most, for the column definitions: those of a result without rows may differ.
    First,
    /// None: for the types alone.
    None,
}

impl Work<'_> {
    pub fn read(&self, plan: &Wide, out: &mut Routed) -> Result<(), RouteError> {
        // 1. The places
        let driver = driver(plan)?;
        let RefKind::Sharded(located) = &driver.kind else { return Err(no_driver().into()) };
        let (places, shares) = match self.locate(&driver.schema, located)? {
            Where::One(place) => (vec![place], None),
            Where::Several(places) => (places, self.shares(&driver.schema, located)?),
            Where::Anywhere => (driver.schema.places(sharded(located)).collect(), None),
        };
        let shares = shares.filter(|shares| places.iter().all(|place| shares.contains_key(place)));
        // 2. What they give together
        out.wide = true;
        out.window = plan.window.as_ref().map(|window| self.window(window)).transpose()?;
        let side_by_side = self.facts.blocks && plan.alone.is_none() && places.len() > 2 && !self.has_version_comment();
        let far = out.window.is_none_or(|window| window.offset.saturating_add(window.count) > HELD);
        // 3. Their texts
        let reading = Reading { work: self, plan, driver, args: self.branch_args(plan), shares };
        match plan.recipe {
            Recipe::Sort(_) if side_by_side && far && reading.fits_in_one(&places) => {
                out.way = Way::Streams;
                reading.definitions(places[0], out);
                reading.streams(&places, out);
            }
            Recipe::Sort(_) | Recipe::Group(_) => {
                reading.definitions(places[0], out);
                reading.blocks(&places, if side_by_side { BRANCHES } else { 1 }, out)?;
            }
            Recipe::Chain => {
                reading.one(places[0], Rows::Wanted, out);
                reading.blocks(&places[1..], if side_by_side { BRANCHES } else { 1 }, out)?;
            }
        }
        Ok(())
    }

    /// The statement for one place, and two of it in a UNION, both without rows: their column
    /// definitions tell whether values come out of a UNION as they are.
    pub fn probe(&self, plan: &Wide, out: &mut Routed) -> Result<(), RouteError> {
        let reading = Reading { work: self, plan, driver: driver(plan)?, args: self.branch_args(plan), shares: None };
        reading.one(FIRST, Rows::None, out);
        reading.union(&[FIRST, FIRST], Rows::None, out);
        Ok(())
    }

    /// The statement as it is, for the first place.
    pub fn sample_of(&self, template: &Template, out: &mut Routed) -> Result<(), RouteError> {
        let is_sharded = |table: &&TableRef| matches!(table.kind, RefKind::Sharded(_));
        let driver = template.refs.iter().find(is_sharded).ok_or_else(no_driver)?;
        self.part(template, driver.schema.home().server, names(template, FIRST), out);
        Ok(())
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

    fn branch_args(&self, plan: &Wide) -> Args {
        Args { each: plan.window.as_ref().and_then(|window| self.other_args(window)), count: self.params.len() }
    }

    /// The parameters that are left when those of LIMIT have become numbers; `None`: all.
    fn other_args(&self, window: &plan::Window) -> Option<Vec<Arg>> {
        let is_limits = |token: u32| {
            [window.offset.as_ref(), Some(&window.count)].into_iter().flatten().any(|source| match source {
                ValueSource::One { from, to } => self.span(*from, *to).contains(token),
                ValueSource::List(_) | ValueSource::Rows { .. } | ValueSource::LastInsertId | ValueSource::Driver => {
                    false
                }
            })
        };
        let others = self.params.iter().enumerate().filter(|(_, token)| !is_limits(**token));
        let others: Vec<Arg> = others.map(|(at, _)| client_arg(at)).collect();
        (others.len() < self.params.len()).then_some(others)
    }

    /// `/*! … */` around words may begin or end anywhere: such a text is sent as it is.
    fn has_version_comment(&self) -> bool {
        let text = self.statement.source.text;
        text.windows(3).any(|three| three == b"/*!" || three == b"/*M")
    }
}

const FIRST: Place = Place { shard: HOME, subtable: SubtableNo(0) };

/// The parameters of one branch.
struct Args {
    /// `None`: the client's as they are.
    each: Option<Vec<Arg>>,
    /// How many the client has.
    count: usize,
}

impl Args {
    fn len(&self) -> usize {
        self.each.as_ref().map_or(self.count, Vec::len)
    }

    fn of(&self, branches: usize) -> Option<Vec<Arg>> {
        match &self.each {
            each if branches == 1 => each.clone(),
            Some(each) => Some(each.repeat(branches)),
            None if self.count == 0 => None,
            None => Some((0..self.count).map(client_arg).collect::<Vec<_>>().repeat(branches)),
        }
    }
}

fn client_arg(at: usize) -> Arg {
    Arg::Client(u16::try_from(at).unwrap_or(u16::MAX))
}

/// A query on its way to its places.
struct Reading<'r> {
    work: &'r Work<'r>,
    plan: &'r Wide,
    driver: &'r TableRef,
    args: Args,
    /// What of the driver's list is for each place; `None`: all.
    shares: Option<Shares>,
}

impl Reading<'_> {
    fn server(&self, place: Place) -> crate::topology::ServerNo {
        self.driver.schema.shard(place.shard).server
    }

    /// All places of any server fit into one statement.
    fn fits_in_one(&self, places: &[Place]) -> bool {
        self.args.len() * places.len() <= PARAMS
    }

    /// The client's own statement for one place. Groups of one are few; of rows one is enough.
    fn definitions(&self, place: Place, out: &mut Routed) {
        out.defined = true;
        if matches!(self.plan.recipe, Recipe::Sort(_)) {
            // Behind FOR UPDATE no LIMIT can stand; the rows are locked anyway.
            let rows = if self.plan.effect == Effect::Lock { Rows::Wanted } else { Rows::First };
            return self.one(place, rows, out);
        }
        let (template, start) = (&self.plan.plain, out.buffer.len());
        let names = names(template, place);
        let mut copier = Copier::new(self.work.statement, self.work.facts, template, &names);
        copier.filters = true;
        if self.plan.clock {
            self.work.instant(template, &mut copier, &mut out.buffer);
        }
        copier.copy_rest(&mut out.buffer);
        self.push(start, &[place], names, out);
        // LIMIT stands there as it is.
        if let Some(part) = out.parts.last_mut() {
            part.args = None;
        }
    }

    /// One text for each server, sorted by it.
    fn streams(&self, places: &[Place], out: &mut Routed) {
        let mut sorted = places.to_vec();
        sorted.sort_by_key(|place| self.server(*place));
        for own in sorted.chunk_by(|a, b| self.server(*a) == self.server(*b)) {
            self.union(own, Rows::Wanted, out);
        }
    }

    /// A text for each few places of a server.
    fn blocks(&self, places: &[Place], most: usize, out: &mut Routed) -> Result<(), RouteError> {
        let mut others = places.to_vec();
        if !matches!(self.plan.recipe, Recipe::Chain) {
            others.sort_by_key(|place| self.server(*place));
        }
        let branches = most.min(PARAMS / self.args.len().max(1)).max(1);
        for own in others.chunk_by(|a, b| self.server(*a) == self.server(*b)) {
            for block in own.chunks(branches) {
                self.union(block, Rows::Wanted, out);
                too_long(out)?;
            }
        }
        Ok(())
    }

    /// The statement for one place.
    fn one(&self, place: Place, rows: Rows, out: &mut Routed) {
        let names = names(&self.plan.template, place);
        let start = out.buffer.len();
        let mut copier = self.copier(&names, place, rows, out);
        if self.plan.clock {
            self.work.instant(&self.plan.template, &mut copier, &mut out.buffer);
        }
        match rows {
            Rows::Wanted => copier.copy_rest(&mut out.buffer),
            Rows::First | Rows::None => self.to_end(copier, rows, &mut out.buffer),
        }
        self.push(start, &[place], names, out);
    }

    /// Statements for several places in one.
    fn union(&self, places: &[Place], rows: Rows, out: &mut Routed) {
        let [first, others @ ..] = places else { return };
        if others.is_empty() {
            return self.one(*first, rows, out);
        }
        let start = out.buffer.len();
        let names = names(&self.plan.template, *first);
        // 1. The instant: before all on MariaDB, in the first SELECT on MySQL
        let mut copier = self.copier(&names, *first, rows, out);
        let clock = self.plan.clock.then_some(self.work.statement.source.dialect.flavour);
        if clock == Some(Flavour::MariaDb) {
            self.work.instant(&self.plan.template, &mut copier, &mut out.buffer);
        }
        out.buffer.push(b'(');
        if clock == Some(Flavour::MySql) {
            self.work.instant(&self.plan.template, &mut copier, &mut out.buffer);
        }
        self.to_end(copier, rows, &mut out.buffer);
        // 2. The others differ in the names of tables alone
        let (body, marks) = self.body(*first, rows, out);
        let joined: &[u8] = match &self.plan.recipe {
            Recipe::Group(groups) if groups.distinct => b") UNION (",
            Recipe::Chain | Recipe::Sort(_) | Recipe::Group(_) => b") UNION ALL (",
        };
        for place in others {
            out.buffer.extend_from_slice(joined);
            let mut at = 0;
            for (range, table) in &marks {
                out.buffer.extend_from_slice(&body[at..range.start]);
                match (table, self.share(*place)) {
                    (Some(table), _) => {
                        name(&self.plan.template.refs[usize::from(table.0)], *place).put_read(&mut out.buffer);
                    }
                    (None, Some(share)) => put_share(self.work.statement, share, &mut out.buffer),
                    (None, None) => out.buffer.extend_from_slice(&body[range.clone()]),
                }
                at = range.end;
            }
            out.buffer.extend_from_slice(&body[at..]);
        }
        out.buffer.push(b')');
        // 3. The order of all
        if let (Recipe::Sort(_), Rows::Wanted) = (&self.plan.recipe, rows) {
            out.buffer.extend_from_slice(self.plan.recipe.order().as_bytes());
            if out.window.is_some() {
                out.buffer.extend_from_slice(format!(" LIMIT {}", limit(out.window)).as_bytes());
            }
        }
        self.push(start, places, names, out);
    }

    /// The statement for a place, and where the names of tables stand in it.
    fn body(&self, place: Place, rows: Rows, out: &Routed) -> (Vec<u8>, Vec<super::text::Mark>) {
        let names = names(&self.plan.template, place);
        let mut copier = self.copier(&names, place, rows, out);
        copier.marks = Some(Vec::new());
        let mut body = Vec::new();
        let marks = self.marked(copier, rows, &mut body);
        (body, marks)
    }

    fn share(&self, place: Place) -> Option<&[Span]> {
        self.shares.as_ref()?.get(&place).map(Vec::as_slice)
    }

    fn copier<'c>(&'c self, names: &'c [Name], place: Place, rows: Rows, out: &Routed) -> Copier<'c> {
        let mut copier = Copier::new(self.work.statement, self.work.facts, &self.plan.template, names);
        copier.filters = true;
        copier.share = self.share(place);
        copier.limit = match rows {
            Rows::Wanted => limit(out.window),
            Rows::First => 1,
            Rows::None => 0,
        };
        copier
    }

    /// Copies the statement without what stands around it.
    fn to_end(&self, copier: Copier<'_>, rows: Rows, out: &mut Vec<u8>) {
        self.marked(copier, rows, out);
    }

    fn marked(&self, mut copier: Copier<'_>, rows: Rows, out: &mut Vec<u8>) -> Vec<super::text::Mark> {
        let whole = self.work.statement.source.byte_range(self.work.statement.fingerprint.span());
        copier.begin(whole.start);
        copier.copy_to(whole.end, out);
        let limited = self.plan.window.is_some() && !matches!(self.plan.recipe, Recipe::Group(_));
        match rows {
            Rows::First if !limited => out.extend_from_slice(b" LIMIT 1"),
            Rows::None if !limited => out.extend_from_slice(b" LIMIT 0"),
            Rows::Wanted | Rows::First | Rows::None => {}
        }
        copier.marks.unwrap_or_default()
    }

    /// The parameters of a text for these places.
    fn args_of(&self, places: &[Place]) -> Option<Vec<Arg>> {
        let Some(shares) = &self.shares else { return self.args.of(places.len()) };
        let all = self.args.of(1).or_else(|| self.args.of(2).map(|twice| twice[..twice.len() / 2].to_vec()))?;
        let is_shared = |token: u32| shares.values().flatten().any(|span| span.contains(token));
        let token = |arg: &Arg| match arg {
            Arg::Client(number) => self.work.params.get(usize::from(*number)).copied(),
            Arg::Id(_) => None,
        };
        let is_for = |place: &Place, arg: &Arg| {
            let own = self.share(*place).unwrap_or_default();
            token(arg).is_none_or(|token| !is_shared(token) || own.iter().any(|span| span.contains(token)))
        };
        Some(places.iter().flat_map(|place| all.iter().copied().filter(move |arg| is_for(place, arg))).collect())
    }

    fn push(&self, start: usize, places: &[Place], names: Vec<Name>, out: &mut Routed) {
        let branches = if places.len() > 1 { places.to_vec() } else { Vec::new() };
        out.parts.push(Part {
            server: self.server(places[0]),
            text: start..out.buffer.len(),
            args: self.args_of(places),
            names,
            rows: 0,
            numbers: Vec::new(),
            copies: false,
            branches,
        });
    }
}

impl Part {
    /// How many places answer.
    pub fn branch_count(&self) -> usize {
        self.branches.len().max(1)
    }

    /// The physical names of all its places.
    pub fn all_names(&self, plan: &Wide) -> Vec<Name> {
        match self.branches.as_slice() {
            [] => self.names.clone(),
            places => places.iter().flat_map(|place| names(&plan.template, *place)).collect(),
        }
    }
}

fn limit(window: Option<Window>) -> u64 {
    window.map_or(0, |window| window.offset.saturating_add(window.count))
}

/// The table whose places are read.
fn driver(plan: &Wide) -> Result<&TableRef, Error> {
    plan.template.refs.get(usize::from(plan.driver.0)).ok_or_else(no_driver)
}

fn too_long(out: &Routed) -> Result<(), RouteError> {
    let text = "Bifold: a statement of this length can't be sent to so many places: give the sharding key.";
    if out.buffer.len() > LONGEST { Err(Error::refused(text).into()) } else { Ok(()) }
}

fn names(template: &Template, place: Place) -> Vec<Name> {
    template.refs.iter().map(|table| name(table, place)).collect()
}

fn name(table: &TableRef, place: Place) -> Name {
    match &table.kind {
        RefKind::Sharded(located) => Name::owned(table, located, place),
        RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
    }
}

fn no_driver() -> Error {
    Error::proxy("Bifold: a query over many places without a sharded table.")
}
