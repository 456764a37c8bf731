//! Which expressions have numbers as values, whatever their rows hold: those compare alike wherever
//! they were computed. And which of them are exact, so that sums of them don't depend on their order.

use super::function::is_aggregate;
use super::predicate::Column;
use super::survey::{Env, Survey};
use crate::catalog::ColumnDef;
use crate::sql::ast::{BinaryOp, Expr, ExprKind, Function, FunctionForm, Literal, UnaryOp};

/// What kind of number an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Exact(Digits),
    Other,
}

/// How many digits an integer or DECIMAL has at most before and behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    pub whole: u8,
    pub scale: u8,
}

/// Servers count on sums of 10^22 values, and have 65 digits in all: what may need more they cut.
const SUM: u8 = 65 - 22;

impl Digits {
    /// No sum of such numbers is ever cut.
    pub fn can_be_summed(self) -> bool {
        self.whole.saturating_add(self.scale) <= SUM
    }

    fn integer(whole: u8) -> Self {
        Digits { whole, scale: 0 }
    }

    fn widest(self, other: Self) -> Self {
        Digits { whole: self.whole.max(other.whole), scale: self.scale.max(other.scale) }
    }
}

const BOOLEAN: Number = Number::Exact(Digits { whole: 1, scale: 0 });
const INTEGER: Number = Number::Exact(Digits { whole: 20, scale: 0 });

/// `None`: not provably a number.
pub(super) fn number(survey: &Survey<'_>, expr: &Expr, scope: &Env<'_>) -> Option<Number> {
    let of = |expr: &Expr| number(survey, expr, scope);
    match &expr.kind {
        ExprKind::Parens(inner) | ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, inner) => of(inner),
        ExprKind::Literal(literal) => written(survey, expr, *literal),
        ExprKind::Column(column) => of_column(definition(survey, &survey.resolve(column, scope)?)?),
        ExprKind::Binary(op, sides) => {
            let [a, b] = &**sides;
            binary(*op, || Some((of(a)?, of(b)?)))
        }
        ExprKind::Unary(UnaryOp::Not | UnaryOp::Bang, _)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Is { .. }
        | ExprKind::Between { .. }
        | ExprKind::In { .. }
        | ExprKind::InQuery { .. }
        | ExprKind::Exists(_)
        | ExprKind::Quantified { .. }
        | ExprKind::Like { .. }
        | ExprKind::Regexp { .. } => Some(BOOLEAN),
        ExprKind::Case { branches, otherwise, .. } => {
            let values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
            widest(values, of)
        }
        ExprKind::Function(function) => call(survey, function, scope),
        _ => None,
    }
}

fn written(survey: &Survey<'_>, expr: &Expr, literal: Literal) -> Option<Number> {
    let text = survey.source.span_bytes(expr.span);
    let count = |digits: usize| u8::try_from(digits).ok();
    match literal {
        Literal::Int => Some(Number::Exact(Digits::integer(count(text.len())?))),
        Literal::True | Literal::False => Some(BOOLEAN),
        Literal::Decimal => {
            let point = text.iter().position(|byte| *byte == b'.')?;
            Some(Number::Exact(Digits { whole: count(point)?, scale: count(text.len() - point - 1)? }))
        }
        Literal::Float => Some(Number::Other),
        Literal::Null
        | Literal::String
        | Literal::Hex
        | Literal::Bit
        | Literal::Date
        | Literal::Time
        | Literal::Timestamp => None,
    }
}

pub(super) fn of_column(def: &ColumnDef) -> Option<Number> {
    let integer = |whole| Some(Number::Exact(Digits::integer(whole)));
    match def.data_type.as_str() {
        "tinyint" => integer(3),
        "smallint" => integer(5),
        "mediumint" => integer(8),
        "int" => integer(10),
        "bigint" => integer(20),
        "decimal" => {
            let (_, digits) = def.column_type.split_once('(')?;
            let (inside, _) = digits.split_once(')')?;
            let (all, scale) = inside.split_once(',').unwrap_or((inside, "0"));
            let (all, scale): (u8, u8) = (all.trim().parse().ok()?, scale.trim().parse().ok()?);
            Some(Number::Exact(Digits { whole: all.checked_sub(scale)?, scale }))
        }
        "float" | "double" => Some(Number::Other),
        _ => None,
    }
}

fn binary(op: BinaryOp, sides: impl FnOnce() -> Option<(Number, Number)>) -> Option<Number> {
    use Number::{Exact, Other};
    match op {
        BinaryOp::Xor
        | BinaryOp::Eq
        | BinaryOp::NullSafeEq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::SoundsLike => Some(BOOLEAN),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mod => Some(match sides()? {
            (Exact(a), Exact(b)) => {
                let widest = a.widest(b);
                Exact(Digits { whole: widest.whole.saturating_add(1), ..widest })
            }
            _ => Other,
        }),
        BinaryOp::Mul => Some(match sides()? {
            (Exact(a), Exact(b)) => {
                Exact(Digits { whole: a.whole.saturating_add(b.whole), scale: a.scale.saturating_add(b.scale) })
            }
            _ => Other,
        }),
        // How many digits a quotient has within a sum is the server's affair.
        BinaryOp::Div => sides().map(|_| Other),
        BinaryOp::IntDiv | BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::BitXor => {
            sides().map(|_| INTEGER)
        }
        BinaryOp::MemberOf | BinaryOp::Concat | BinaryOp::JsonGet | BinaryOp::JsonGetText => None,
    }
}

/// Of values of which one is taken.
fn widest<'e>(values: impl Iterator<Item = &'e Expr>, of: impl Fn(&Expr) -> Option<Number>) -> Option<Number> {
    let mut all = None;
    for value in values.filter(|value| !matches!(value.kind, ExprKind::Literal(Literal::Null))) {
        all = Some(match (all, of(value)?) {
            (None, one) => one,
            (Some(Number::Exact(a)), Number::Exact(b)) => Number::Exact(a.widest(b)),
            (Some(_), _) => Number::Other,
        });
    }
    all
}

fn call(survey: &Survey<'_>, function: &Function, scope: &Env<'_>) -> Option<Number> {
    let name = String::from_utf8_lossy(survey.source.bytes(function.name.0)).to_ascii_uppercase();
    if function.db.is_some() || function.over.is_some() {
        return None;
    }
    let of = |expr: &Expr| number(survey, expr, scope);
    let args = &function.args;
    match name.as_str() {
        "COUNT" => Some(INTEGER),
        "SUM" | "AVG" | "STD" | "STDDEV" | "STDDEV_POP" | "STDDEV_SAMP" | "VARIANCE" | "VAR_POP" | "VAR_SAMP" => {
            Some(Number::Other)
        }
        "MIN" | "MAX" if args.len() == 1 => of(&args[0]),
        _ if is_aggregate(name.as_bytes()) => None,
        "IF" if args.len() == 3 => widest(args[1..].iter(), of),
        "IFNULL" | "COALESCE" | "GREATEST" | "LEAST" => widest(args.iter(), of),
        "NULLIF" | "ABS" => of(args.first()?),
        "MOD" if args.len() == 2 => binary(BinaryOp::Mod, || Some((of(&args[0])?, of(&args[1])?))),
        "FLOOR" | "CEIL" | "CEILING" | "ROUND" | "TRUNCATE" => of(args.first()?).map(|_| Number::Other),
        // Words between the arguments, or a list of their own, are theirs alone.
        _ if INTEGERS.binary_search(&name.as_str()).is_ok() && function.form != FunctionForm::Star => Some(INTEGER),
        _ => None,
    }
}

/// Functions whose value is an integer. Sorted.
#[rustfmt::skip]
const INTEGERS: &[&str] = &[
    "ASCII", "BIT_COUNT", "BIT_LENGTH", "CHARACTER_LENGTH", "CHAR_LENGTH", "CRC32", "DATEDIFF", "DAY", "DAYOFMONTH",
    "DAYOFWEEK", "DAYOFYEAR", "EXTRACT", "FIELD", "FIND_IN_SET", "HOUR", "INSTR", "ISNULL", "LENGTH", "LOCATE",
    "MINUTE", "MONTH", "OCTET_LENGTH", "ORD", "POSITION", "QUARTER", "SECOND", "SIGN", "STRCMP", "TIMESTAMPDIFF",
    "TO_DAYS", "WEEK", "WEEKDAY", "WEEKOFYEAR", "YEAR", "YEARWEEK",
];

pub(super) fn definition<'s>(survey: &'s Survey<'_>, column: &Column) -> Option<&'s ColumnDef> {
    survey.found(column.source)?.def.as_deref()?.column(&column.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(INTEGERS.is_sorted());
    }

    #[test]
    fn scales_are_those_of_the_definition() {
        let of = |data_type: &str, column_type: &str| {
            of_column(&ColumnDef {
                data_type: data_type.into(),
                column_type: column_type.into(),
                ..ColumnDef::default()
            })
        };
        let digits = |whole, scale| Some(Number::Exact(Digits { whole, scale }));
        assert_eq!(of("decimal", "decimal(10,2)"), digits(8, 2));
        assert_eq!(of("decimal", "decimal(10,0) unsigned zerofill"), digits(10, 0));
        assert_eq!(of("int", "int"), digits(10, 0));
        assert_eq!(of("double", "double(10,2)"), Some(Number::Other));
        assert_eq!(of("varchar", "varchar(20)"), None);
    }
}
