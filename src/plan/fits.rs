//! What was learned of a plan by asking a server: do the values of several places come out of one
//! UNION as they come out of a statement for one place? That depends on types, and so on the
//! session's settings and the parameters' types; a plan remembers the answers.

use parking_lot::Mutex;

use crate::value::Value;

/// Answers, by settings and parameter types.
#[derive(Debug, Default)]
pub struct Fits(Mutex<Vec<(Question, bool)>>);

/// The number of the session's state, and a byte for the type of each parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    state: u64,
    types: Box<[u8]>,
}

/// Sessions of one application have few different settings.
const KEPT: usize = 16;

impl Question {
    pub fn new(state: u64, params: Option<&[Value<'_>]>) -> Self {
        Question { state, types: params.unwrap_or_default().iter().map(type_of).collect() }
    }
}

impl Fits {
    pub fn known(&self, question: &Question) -> Option<bool> {
        self.0.lock().iter().find(|(known, _)| known == question).map(|(_, fits)| *fits)
    }

    pub fn learn(&self, question: Question, fits: bool) {
        let mut known = self.0.lock();
        if known.len() >= KEPT {
            known.clear();
        }
        known.push((question, fits));
    }
}

fn type_of(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) => 1,
        Value::UInt(_) => 2,
        Value::Decimal(_) => 3,
        Value::Double(_) => 4,
        Value::Float(_) => 5,
        Value::Text { .. } => 6,
        Value::Binary(_) => 7,
        Value::Hex { .. } => 8,
        Value::Date { .. } => 9,
        Value::DateTime { .. } => 10,
        Value::Time { .. } => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_hold_for_one_state_and_one_set_of_types() {
        let fits = Fits::default();
        let question = |state, value: Value<'static>| Question::new(state, Some(&[value]));
        fits.learn(question(1, Value::Int(5)), true);
        assert_eq!(fits.known(&question(1, Value::Int(7))), Some(true));
        assert_eq!(fits.known(&question(1, Value::Null)), None);
        assert_eq!(fits.known(&question(2, Value::Int(7))), None);
    }
}
