//! What a run leaves behind: its directory, its journal, and the types of both.

pub mod machine;
