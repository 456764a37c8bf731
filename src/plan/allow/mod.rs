//! Confinement: all users share the servers' backend account, so what a user may not touch is
//! refused here, by lists that name what is allowed.

pub mod functions;
