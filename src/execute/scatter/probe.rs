//! Do the values of a query come out of a UNION as they come out of a statement for one place? The
//! servers tell, by the column definitions of both: what they make of types there decides it.

use crate::error::{Error, Result};
use crate::execute::exchange;
use crate::execute::statement::Running;
use crate::plan::{Cell, Fold, Recipe, Wide};
use crate::protocol::binary::{ValueType, integer_width};
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::route::Routed;
use crate::shard::{Answer, Conn};

/// Asks; `routed`: the texts of [`crate::route::probe`].
pub(super) async fn fits(running: &Running<'_>, conn: &mut Conn, routed: &Routed, plan: &Wide) -> Result<bool> {
    let [plain, union] = routed.parts.as_slice() else { return Ok(false) };
    let mut answers = [Answer::default(), Answer::default()];
    for (part, answer) in [plain, union].into_iter().zip(&mut answers) {
        *answer = match exchange::ask(running, conn, &routed.buffer[part.text.clone()], part.args.as_deref()).await {
            Ok(answer) => answer,
            // The statement itself will tell.
            Err(error) if !conn.is_busy() => return refusal(error),
            Err(error) => return Err(error),
        };
    }
    let [plain, union] = answers;
    let visible = plain.columns.len().saturating_sub(plan.recipe.hidden());
    if plain.columns.len() != union.columns.len() {
        return Ok(false);
    }
    for (at, (one, other)) in plain.columns.iter().zip(&union.columns).enumerate() {
        let (one, other) = (Column::parse(&one.definition)?, Column::parse(&other.definition)?);
        if !alike(&one, &other, at < visible && !is_folded(&plan.recipe, at)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An error is told by the parts, one by one, as one server would tell it.
fn refusal(_error: Error) -> Result<bool> {
    Ok(false)
}

/// The merge makes the value anew.
fn is_folded(recipe: &Recipe, column: usize) -> bool {
    match recipe {
        Recipe::Chain | Recipe::Sort(_) => false,
        Recipe::Group(groups) => {
            let made = |fold: &Fold| matches!(fold, Fold::Count | Fold::Sum | Fold::Average { .. });
            let here = |cell: &Cell| matches!(cell, Cell::Visible(at) if usize::from(*at) == column);
            groups.folds.iter().any(|(cell, fold)| here(cell) && made(fold))
        }
    }
}

/// The decimals of a FLOAT or DOUBLE that has as many as it needs.
const FLOATING: u8 = 31;

/// Values of both are the same bytes; `shown`: they are passed on as they are.
fn alike(one: &Column<'_>, union: &Column<'_>, shown: bool) -> bool {
    use ColumnType::{Decimal, Double, Float, NewDecimal, Null, Year};
    let has = |column: &Column<'_>, flag| column.flags.has(flag);
    if one.kind == Null {
        return true;
    }
    if ValueType::of(one).is_string() {
        // Shorter there: cut there.
        return ValueType::of(union).is_string() && one.collation == union.collation && one.length <= union.length;
    }
    let spelled = one.kind != Year && has(one, ColumnFlags::ZEROFILL);
    let signed = has(one, ColumnFlags::UNSIGNED) == has(union, ColumnFlags::UNSIGNED);
    let exact = matches!(one.kind, Decimal | NewDecimal);
    // An expression's value may have fewer digits than its type.
    let padded = shown && exact && one.org_name.is_empty();
    let real = matches!(one.kind, Float | Double);
    // With a fixed number of digits a UNION cuts what has more before the point.
    if real && one.decimals < FLOATING {
        return false;
    }
    one.kind == union.kind
        && one.decimals == union.decimals
        && !(shown && (spelled || padded))
        && (signed || exact || real || integer_width(one.kind).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: ColumnType, decimals: u8, org_name: &'static [u8]) -> Column<'static> {
        Column {
            schema: b"",
            table: b"",
            org_table: b"",
            name: b"c",
            org_name,
            collation: 63,
            length: 20,
            kind,
            flags: ColumnFlags::NONE,
            decimals,
        }
    }

    #[test]
    fn an_enum_is_a_string_there_and_a_decimal_expression_may_not_be_what_it_was() {
        assert!(alike(&column(ColumnType::String, 0, b"e"), &column(ColumnType::VarString, 39, b""), true));
        assert!(alike(&column(ColumnType::NewDecimal, 2, b"d"), &column(ColumnType::NewDecimal, 2, b""), true));
        assert!(!alike(&column(ColumnType::NewDecimal, 2, b""), &column(ColumnType::NewDecimal, 2, b""), true));
        assert!(alike(&column(ColumnType::NewDecimal, 2, b""), &column(ColumnType::NewDecimal, 2, b""), false));
        assert!(!alike(&column(ColumnType::Long, 0, b"i"), &column(ColumnType::LongLong, 0, b""), true));
        let shorter = Column { length: 19, ..column(ColumnType::VarString, 0, b"") };
        assert!(!alike(&column(ColumnType::VarString, 0, b"v"), &shorter, true));
        let zerofill = Column { flags: ColumnFlags::ZEROFILL, ..column(ColumnType::Long, 0, b"z") };
        assert!(!alike(&zerofill, &column(ColumnType::Long, 0, b""), true));
    }
}
