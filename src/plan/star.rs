//! `*` over many places, written out: while an ALTER has reached some subtables and not others, each
//! would give its own columns in its own order. By name they are the same in all, or a server's error.

use super::survey::{Origin, Survey, quoted};
use super::{Cut, Item, Patch};
use crate::plan::predicate::SourceNo;
use crate::sql::Keyword;
use crate::sql::ast::{Select, SelectItem, SelectItemKind};

/// The cuts that put columns in the place of each `*`.
pub(super) fn cuts(survey: &Survey<'_>, select: &Select) -> Vec<Cut> {
    // Such a join shows a column of both tables once.
    let merges = |token: u32| matches!(survey.source.keyword(token), Keyword::Using | Keyword::Natural);
    if select.span.tokens().any(merges) {
        return Vec::new();
    }
    let cut = |item: &SelectItem| {
        let SelectItemKind::Wildcard { db: None, table } = item.kind else { return None };
        let named = table.map(|table| survey.name(table).to_lowercase());
        let sources = survey.outermost.sources.iter().filter(|source| match (&named, survey.origin(**source)) {
            (None, _) => true,
            (Some(named), Origin::Table { name, .. } | Origin::Derived { name, .. }) => name.to_lowercase() == *named,
        });
        let columns: Vec<String> = sources.map(|source| columns(survey, *source)).collect::<Option<Vec<_>>>()?.concat();
        let text = columns.join(", ").into_bytes();
        let (from, to) = (survey.item(item.span.start), Item(survey.item(item.span.end - 1).0 + 1));
        (!columns.is_empty()).then(|| Cut { from, to, with: Patch::Text(text.into()) })
    };
    select.items.iter().filter_map(cut).collect()
}

/// `` `o`.`uid` ``, `` `o`.`n` `` of the table that is called `o`.
fn columns(survey: &Survey<'_>, source: SourceNo) -> Option<Vec<String>> {
    let Origin::Table { name, .. } = survey.origin(source) else { return None };
    let def = survey.found(source)?.def.as_deref()?;
    Some(def.visible().map(|column| format!("{}.{}", quoted(name), quoted(&column.name))).collect())
}
