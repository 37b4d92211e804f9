//! A run made by hand.
