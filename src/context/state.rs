//! [`State`]: the settings of a session or of a server's connection; [`States`] interns them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// What was set and to what, as SQL text that any session reads alike (ASCII only).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setting {
    /// A session variable, by its lower-case name.
    System(Box<str>),
    /// A user variable, by its lower-case name (they ignore case).
    User(Box<str>),
}

type Settings = BTreeMap<Setting, Box<str>>;

/// An immutable set of settings. Two sessions with the same settings hold the same `Arc`.
#[derive(Debug)]
pub struct State {
    /// Never given to another state; 0 is the empty one.
    id: u64,
    settings: Settings,
}

impl State {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The SQL text of a session variable's value, if this state has set it.
    pub fn system(&self, name: &str) -> Option<&str> {
        self.settings.get(&Setting::System(name.into())).map(|text| &**text)
    }

    /// The SQL text of a setting's value.
    pub fn setting(&self, setting: &Setting) -> Option<&str> {
        self.settings.get(setting).map(|text| &**text)
    }

    /// The content of a session variable that holds a plain string: `'utf8mb4'` → `utf8mb4`.
    pub fn system_word(&self, name: &str) -> Option<&str> {
        self.system(name).map(|text| text.trim_matches('\''))
    }

    /// Character set and collation, as SQL text, where one SET NAMES gives them.
    fn names(&self) -> Option<(&str, &str)> {
        let [client, results, collation] = NAMES.map(|name| self.system(name));
        let (client, collation) = (client?, collation?);
        let charset = client.trim_matches('\'');
        let fits = collation
            .trim_matches('\'')
            .strip_prefix(charset)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        (fits && results == Some(client)).then_some((client, collation))
    }

    /// The SET statement that makes a connection in this state one in state `target`;
    /// `None` where there is nothing to set.
    pub fn difference(&self, target: &State) -> Option<String> {
        let mut set = String::new();
        let mut put = |part: &str| {
            set.push_str(if set.is_empty() { "SET " } else { ", " });
            set.push_str(part);
        };
        let differs = |setting: &Setting| self.settings.get(setting) != target.settings.get(setting);
        let is_named = |setting: &Setting| matches!(setting, Setting::System(name) if NAMES.contains(&&**name));
        // SET NAMES gives results the collation named, the variables one by one the default one.
        let names =
            target.names().filter(|_| target.settings.keys().any(|setting| is_named(setting) && differs(setting)));
        if let Some((charset, collation)) = names {
            put(&format!("NAMES {charset} COLLATE {collation}"));
        }
        let covered = |setting: &Setting| names.is_some() && is_named(setting);
        for (setting, value) in &target.settings {
            if differs(setting) && !covered(setting) {
                put(&assignment(setting, value));
            }
        }
        for setting in self.settings.keys().filter(|setting| !target.settings.contains_key(*setting)) {
            put(&match setting {
                Setting::System(name) => assignment(setting, &default_of(name)),
                Setting::User(_) => assignment(setting, "NULL"),
            });
        }
        (!set.is_empty()).then_some(set)
    }
}

/// What SET NAMES sets; `character_set_connection` follows from the collation.
const NAMES: [&str; 3] = ["character_set_client", "character_set_results", "collation_connection"];

/// How a variable gets the server's own value again. MySQL turns these two off by DEFAULT, whatever
/// their global value is: their bits are stored the other way round.
fn default_of(name: &str) -> Cow<'static, str> {
    match name {
        "foreign_key_checks" | "unique_checks" => format!("@@GLOBAL.{name}").into(),
        _ => "DEFAULT".into(),
    }
}

fn assignment(setting: &Setting, value: &str) -> String {
    match setting {
        Setting::System(name) => format!("SESSION {name}={value}"),
        Setting::User(name) => format!("@`{}`={value}", name.replace('`', "``")),
    }
}

/// All states in use.
#[derive(Debug, Default)]
pub struct States {
    known: Mutex<HashMap<u64, Vec<Weak<State>>>>,
    next: AtomicU64,
}

impl States {
    /// The state that differs from `base` in these settings. `NULL` for a user variable unsets it.
    pub fn with(&self, base: &State, changes: impl IntoIterator<Item = (Setting, String)>) -> Arc<State> {
        let mut settings = base.settings.clone();
        for (setting, value) in changes {
            match (&setting, value.as_str()) {
                (Setting::User(_), "NULL") => drop(settings.remove(&setting)),
                (Setting::User(_) | Setting::System(_), _) => drop(settings.insert(setting, value.into())),
            }
        }
        self.intern(settings)
    }

    /// The state that differs from `base` in not having this setting.
    pub fn without(&self, base: &State, setting: &Setting) -> Arc<State> {
        let mut settings = base.settings.clone();
        settings.remove(setting);
        self.intern(settings)
    }

    /// A state of these settings and no others.
    pub fn of(&self, settings: impl IntoIterator<Item = (Setting, String)>) -> Arc<State> {
        self.intern(settings.into_iter().map(|(setting, value)| (setting, value.into())).collect())
    }

    fn intern(&self, settings: Settings) -> Arc<State> {
        let mut hasher = std::hash::DefaultHasher::new();
        settings.hash(&mut hasher);
        let mut known = self.known.lock();
        let bucket = known.entry(hasher.finish()).or_default();
        bucket.retain(|state| state.strong_count() > 0);
        if let Some(state) = bucket.iter().filter_map(Weak::upgrade).find(|state| state.settings == settings) {
            return state;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(State { id, settings });
        bucket.push(Arc::downgrade(&state));
        // States die silently; their empty buckets go when they have become many.
        if known.len() > 1024 && id.is_multiple_of(1024) {
            known.retain(|_, bucket| bucket.iter().any(|state| state.strong_count() > 0));
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str) -> Setting {
        Setting::System(name.into())
    }

    #[test]
    fn equal_settings_are_one_state_and_have_no_difference() {
        let states = States::default();
        let a = states.of([(system("sql_mode"), "''".into())]);
        let b = states.with(&states.of([]), [(system("sql_mode"), "''".into())]);
        assert!(Arc::ptr_eq(&a, &b));
        assert_eq!(a.difference(&b), None);
    }

    #[test]
    fn the_three_of_set_names_are_set_by_it() {
        let states = States::default();
        let state = |results: &str, collation: &str| {
            let value = |name: &str, value: &str| (system(name), format!("'{value}'"));
            states.of([
                value("character_set_client", "utf8mb4"),
                value("character_set_results", results),
                value("collation_connection", collation),
            ])
        };
        let from = state("utf8mb4", "utf8mb4_general_ci");
        let set = |to: Arc<State>| from.difference(&to);
        assert_eq!(set(state("utf8mb4", "utf8mb4_bin")).as_deref(), Some("SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'"));
        let apart = "SET SESSION character_set_results='latin1', SESSION collation_connection='latin1_bin'";
        assert_eq!(set(state("latin1", "latin1_bin")).as_deref(), Some(apart));
    }

    #[test]
    fn a_difference_sets_what_is_new_and_takes_back_what_is_gone() {
        let states = States::default();
        let from = states.of([(system("time_zone"), "'+00:00'".into()), (Setting::User("u".into()), "1".into())]);
        let to = states.of([(system("sql_mode"), "''".into()), (Setting::User("b`c".into()), "2".into())]);
        assert_eq!(
            from.difference(&to).as_deref(),
            Some("SET SESSION sql_mode='', @`b``c`=2, SESSION time_zone=DEFAULT, @`u`=NULL")
        );
    }
}
