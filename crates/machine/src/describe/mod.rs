//! What this computer is, as the kernel and the tools report it.
