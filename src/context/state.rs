//! [`State`]: the settings of a session or of a server's connection; [`States`] interns them.

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

    /// The content of a session variable that holds a plain string: `'utf8mb4'` → `utf8mb4`.
    pub fn system_word(&self, name: &str) -> Option<&str> {
        self.system(name).map(|text| text.trim_matches('\''))
    }

    /// The SET statement that makes a connection in this state one in state `target`;
    /// `None` where there is nothing to set.
    pub fn difference(&self, target: &State) -> Option<String> {
        let mut set = String::new();
        let mut put = |setting: &Setting, value: &str| {
            set.push_str(if set.is_empty() { "SET " } else { ", " });
            match setting {
                Setting::System(name) => set.push_str(&format!("SESSION {name}={value}")),
                Setting::User(name) => set.push_str(&format!("@`{}`={value}", name.replace('`', "``"))),
            }
        };
        for (setting, value) in &target.settings {
            if self.settings.get(setting) != Some(value) {
                put(setting, value);
            }
        }
        for setting in self.settings.keys().filter(|setting| !target.settings.contains_key(*setting)) {
            match setting {
                Setting::System(_) => put(setting, "DEFAULT"),
                Setting::User(_) => put(setting, "NULL"),
            }
        }
        (!set.is_empty()).then_some(set)
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
