//! The warnings of a query over several places: those of rows are those of all places; what a server
//! says of the statement itself (what is deprecated in it, a constant that is no number), it says in
//! each part, and one server says it once.

use super::Work;
use super::said::Said;
use crate::error::Result;
use crate::execute::client::Diagnostic;
use crate::execute::exchange;
use crate::execute::line::Line;
use crate::execute::statement::Running;
use crate::execute::tally;
use crate::sql::{Kind, Span, literal};
use crate::value::Value;
use crate::wire::Framed;

/// SHOW WARNINGS tells no more (`max_error_count`).
const WARNINGS: usize = 64;

impl Work<'_> {
    /// How many warnings there are in all, and the first of them.
    pub(super) async fn warnings(
        &self,
        lines: &mut [Line<'_>],
        said: &Said,
        wire: &Framed,
    ) -> Result<(usize, Vec<Diagnostic>)> {
        let mut warned = said.warned.clone();
        warned.sort_unstable();
        let mut count = 0;
        let mut of_statement: Vec<Diagnostic> = Vec::new();
        let mut of_rows: Vec<Diagnostic> = Vec::new();
        for (at, (number, own)) in warned.into_iter().enumerate() {
            if at > 0 && of_statement.is_empty() && of_rows.len() >= WARNINGS {
                count += own;
                continue;
            }
            let part = &self.routed.parts[number];
            let Some(line) = lines.iter_mut().find(|line| line.server == part.server) else { continue };
            let answer = line.warnings(&self.running, self.routed, number, wire).await?;
            let told = exchange::diagnostics(&answer, &part.all_names(self.plan));
            let all = told.len();
            let (once, rows): (Vec<_>, Vec<_>) = told.into_iter().partition(|one| is_of_statement(one, &self.running));
            // Those that were not told are like those that were.
            count += if rows.is_empty() && !once.is_empty() { 0 } else { own.saturating_sub(once.len().min(all)) };
            for one in once {
                if !of_statement.contains(&one) {
                    of_statement.push(one);
                }
            }
            of_rows.extend(rows);
        }
        count += of_statement.len();
        of_statement.extend(of_rows);
        of_statement.truncate(WARNINGS);
        Ok((count, of_statement))
    }
}

/// A name of GROUP BY that is a column and another column's alias.
const AMBIGUOUS: u16 = 1052;

/// It would be said of the statement whatever its rows are.
fn is_of_statement(one: &Diagnostic, running: &Running<'_>) -> bool {
    tally::is_of_text(one.code)
        || one.code == AMBIGUOUS
        || quoted(&one.text).is_some_and(|value| is_constant(value, running))
}

/// The value that a message such as `Truncated incorrect DOUBLE value: '3x'` is about: such are said
/// of constants that are compared with numbers or moments.
fn quoted(message: &[u8]) -> Option<&[u8]> {
    let words = ["Truncated incorrect DOUBLE", "Truncated incorrect DECIMAL", "Incorrect DATE", "Incorrect TIME"];
    words.iter().any(|words| message.starts_with(words.as_bytes())).then_some(())?;
    let start = message.windows(3).position(|three| three == b": '")? + 3;
    let rest = message.strip_suffix(b"'")?;
    rest.get(start..)
}

/// A string of this value stands in the statement, or is bound to it.
fn is_constant(value: &[u8], running: &Running<'_>) -> bool {
    let statement = &running.statement;
    let is_it = |found: &Value<'_>| matches!(found, Value::Text { bytes, .. } if *bytes == value);
    let mut scratch = Vec::new();
    let mut written =
        statement.fingerprint.span().tokens().filter(|token| statement.source.kind(*token) == Kind::String);
    statement.params.is_some_and(|params| params.iter().any(is_it))
        || written.any(|token| {
            let span = Span::new(token, token + 1);
            literal::value(&statement.source, span, "utf8mb4", &mut scratch).as_ref().is_some_and(is_it)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_a_message_is_about_is_found() {
        assert_eq!(quoted(b"Truncated incorrect DOUBLE value: '3x'"), Some(&b"3x"[..]));
        assert_eq!(quoted(b"Truncated incorrect DOUBLE value: ''"), Some(&b""[..]));
        assert_eq!(quoted(b"Truncated incorrect INTEGER value: 'ab'"), None);
        assert_eq!(quoted(b"Division by 0"), None);
    }
}
