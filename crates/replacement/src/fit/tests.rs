//! The fit on small batteries whose answer is known.
