//! SQL text: bytes → tokens → a fingerprint on the hot path, a syntax tree on a cache miss. Pure
//! functions; names, types, places and the text that goes out are left to the floors above.

pub mod ast;
pub mod dialect;
pub mod fingerprint;
pub mod keyword;
pub mod lexer;
pub mod literal;
pub mod parser;
pub mod token;
pub mod visit;

pub use dialect::{Charset, Dialect, Flavour, Mode};
pub use keyword::Keyword;
pub use token::{Kind, Source, Span, Token};
