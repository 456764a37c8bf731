//! Which predicates may pin which table reference: joins and facts go in, for each reference the
//! value lists that its column must be among come out.
//!
//! A reference may be read from one place if no row of it elsewhere can be part of the result.
//! WHERE pins any reference; the ON of an inner join what is below that join; the ON of an outer
//! join only its nullable side, unless something above rejects the rows that it fills with NULLs:
//! then it is an inner join. Equalities between columns carry constants from one to the other.

use crate::plan::ValueSource;

/// A source of rows (a table reference or a derived table), numbered over the whole statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceNo(pub u32);

/// A column of a source; its name in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub source: SourceNo,
    pub name: Box<str>,
}

/// What is true of every combination of rows that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Two columns are equal, under an equality that carries constants from one to the other.
    Same(Column, Column),
    /// A column equals one of these.
    Among { column: Column, values: Vec<ValueSource>, null_safe: bool },
    /// Some column of the source is not NULL.
    Present(SourceNo),
}

/// FROM, as a tree.
#[derive(Clone, Debug)]
pub(crate) enum Join {
    Leaf(SourceNo),
    Inner { left: Box<Join>, right: Box<Join>, on: Vec<Fact> },
    Outer { kept: Box<Join>, nullable: Box<Join>, on: Vec<Fact> },
}

impl Join {
    /// The references of the tree, each with the facts that may pin it. `above`: what WHERE and the
    /// scopes around say.
    pub(crate) fn pins<'a>(&'a self, above: &[&'a Fact], found: &mut impl FnMut(SourceNo, &[&'a Fact])) {
        match self {
            Join::Leaf(source) => found(*source, above),
            Join::Inner { left, right, on } => {
                let facts = with(above, on);
                left.pins(&right.beside(&facts), found);
                right.pins(&left.beside(&facts), found);
            }
            Join::Outer { kept, nullable, on } => {
                let facts = with(above, on);
                nullable.pins(&kept.beside(&facts), found);
                if nullable.is_present(above) {
                    kept.pins(&nullable.beside(&facts), found);
                } else {
                    kept.pins(above, found);
                }
            }
        }
    }

    /// What holds for every row that comes out of this tree and meets `above`.
    pub(crate) fn facts<'a>(&'a self, above: &[&'a Fact], out: &mut Vec<&'a Fact>) {
        match self {
            Join::Leaf(_) => {}
            Join::Inner { left, right, on } => {
                out.extend(on);
                left.facts(above, out);
                right.facts(above, out);
            }
            Join::Outer { kept, nullable, on } => {
                kept.facts(above, out);
                if nullable.is_present(above) {
                    out.extend(on);
                    nullable.facts(above, out);
                }
            }
        }
    }

    /// The facts for the other side of a join: `facts`, and what holds for every row of this side.
    fn beside<'a>(&'a self, facts: &[&'a Fact]) -> Vec<&'a Fact> {
        let mut all = facts.to_vec();
        self.facts(facts, &mut all);
        all
    }

    pub(crate) fn has(&self, source: SourceNo) -> bool {
        match self {
            Join::Leaf(own) => *own == source,
            Join::Inner { left, right, .. } => left.has(source) || right.has(source),
            Join::Outer { kept, nullable, .. } => kept.has(source) || nullable.has(source),
        }
    }

    /// Do these facts reject rows in which this tree's columns are all NULL?
    fn is_present(&self, facts: &[&Fact]) -> bool {
        facts.iter().any(|fact| match fact {
            Fact::Same(a, b) => self.has(a.source) || self.has(b.source),
            Fact::Among { column, null_safe, .. } => !null_safe && self.has(column.source),
            Fact::Present(source) => self.has(*source),
        })
    }
}

fn with<'a>(above: &[&'a Fact], on: &'a [Fact]) -> Vec<&'a Fact> {
    above.iter().copied().chain(on).collect()
}

/// The value lists that a column must be among, its own first, then those of columns equal to it.
pub(crate) fn values<'a>(column: &'a Column, facts: &[&'a Fact]) -> Vec<(&'a [ValueSource], bool)> {
    let mut equal = vec![column];
    let mut lists = Vec::new();
    let mut next = 0;
    while let Some(&column) = equal.get(next) {
        next += 1;
        for fact in facts {
            match fact {
                Fact::Among { column: own, values, null_safe } if own == column => {
                    lists.push((values.as_slice(), *null_safe));
                }
                Fact::Same(a, b) => {
                    let other = if a == column {
                        b
                    } else if b == column {
                        a
                    } else {
                        continue;
                    };
                    if !equal.contains(&other) {
                        equal.push(other);
                    }
                }
                Fact::Among { .. } | Fact::Present(_) => {}
            }
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Item;

    const A: SourceNo = SourceNo(0);
    const B: SourceNo = SourceNo(1);
    const C: SourceNo = SourceNo(2);

    fn uid(source: SourceNo) -> Column {
        Column { source, name: "uid".into() }
    }

    fn five(source: SourceNo) -> Fact {
        let values = vec![ValueSource::One { from: Item(5), to: Item(6) }];
        Fact::Among { column: uid(source), values, null_safe: false }
    }

    fn same(a: SourceNo, b: SourceNo) -> Fact {
        Fact::Same(uid(a), uid(b))
    }

    fn leaf(source: SourceNo) -> Box<Join> {
        Box::new(Join::Leaf(source))
    }

    fn inner(left: Box<Join>, right: Box<Join>, on: Vec<Fact>) -> Box<Join> {
        Box::new(Join::Inner { left, right, on })
    }

    fn left(kept: Box<Join>, nullable: Box<Join>, on: Vec<Fact>) -> Box<Join> {
        Box::new(Join::Outer { kept, nullable, on })
    }

    /// The sources whose uid is pinned.
    fn pinned(join: &Join, filter: &[Fact]) -> Vec<SourceNo> {
        let above: Vec<&Fact> = filter.iter().collect();
        let mut pinned = Vec::new();
        join.pins(&above, &mut |source, facts| {
            if !values(&uid(source), facts).is_empty() {
                pinned.push(source);
            }
        });
        pinned.sort_by_key(|source| source.0);
        pinned
    }

    #[test]
    fn where_pins_all_that_equalities_reach() {
        let join = inner(leaf(A), inner(leaf(B), leaf(C), vec![same(B, C)]), vec![same(A, B)]);
        assert_eq!(pinned(&join, &[five(C)]), [A, B, C]);
        assert_eq!(pinned(&join, &[]), []);
    }

    #[test]
    fn the_on_of_an_outer_join_pins_only_its_nullable_side() {
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![five(A)]), &[]), []);
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![five(B)]), &[]), [B]);
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![five(A), same(A, B)]), &[]), [B]);
    }

    #[test]
    fn where_on_the_kept_side_reaches_the_nullable_side() {
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![same(A, B)]), &[five(A)]), [A, B]);
    }

    #[test]
    fn where_on_the_nullable_side_makes_it_an_inner_join() {
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![same(A, B)]), &[five(B)]), [A, B]);
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![same(A, B), five(B)]), &[]), [B]);
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![same(A, B), five(B)]), &[Fact::Present(B)]), [A, B]);
    }

    #[test]
    fn a_null_safe_equality_does_not_prove_a_row() {
        let Fact::Among { column, values, .. } = five(B) else { unreachable!() };
        let filter = [Fact::Among { column, values, null_safe: true }];
        assert_eq!(pinned(&left(leaf(A), leaf(B), vec![same(A, B)]), &filter), [B]);
    }

    #[test]
    fn an_inner_join_below_a_nullable_side_pins_what_is_below_it() {
        let join = left(leaf(A), inner(leaf(B), leaf(C), vec![same(B, C), five(C)]), vec![same(A, B)]);
        assert_eq!(pinned(&join, &[]), [B, C]);
        assert_eq!(pinned(&join, &[five(A)]), [A, B, C]);
    }

    #[test]
    fn facts_after_the_join_are_those_of_rows_without_nulls() {
        let join = left(leaf(A), leaf(B), vec![same(A, B)]);
        let facts = |above: &[&Fact]| {
            let mut out = Vec::new();
            join.facts(above, &mut out);
            out.len()
        };
        assert_eq!(facts(&[]), 0);
        assert_eq!(facts(&[&five(B)]), 1);
    }
}
