//! Walks over the tree.
