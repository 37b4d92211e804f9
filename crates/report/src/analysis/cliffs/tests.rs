//! Searches made by hand, gone through again.
