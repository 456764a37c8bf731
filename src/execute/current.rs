//! [`Current`]: the engine that statements go by at this moment. It is made anew when the layout
//! changes; a session goes over to it between two statements, when it holds no connection.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::engine::Engine;

#[derive(Debug)]
pub struct Current(ArcSwap<Engine>);

impl Current {
    pub fn new(engine: Arc<Engine>) -> Self {
        Current(ArcSwap::new(engine))
    }

    pub fn engine(&self) -> Arc<Engine> {
        self.0.load_full()
    }

    /// Costs next to nothing: it is asked before each command.
    pub fn is(&self, engine: &Arc<Engine>) -> bool {
        Arc::ptr_eq(&self.0.load(), engine)
    }

    /// Gives the one before.
    pub fn replace(&self, engine: Arc<Engine>) -> Arc<Engine> {
        self.0.swap(engine)
    }
}
