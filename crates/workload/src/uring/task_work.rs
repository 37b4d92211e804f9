//! How completions are delivered to a thread.

/// How the kernel delivers completions to the thread that waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskWork {
    /// When the thread asks for completions (`IORING_SETUP_DEFER_TASKRUN`, Linux 6.1).
    Deferred,
    /// At the thread's next system call (`IORING_SETUP_COOP_TASKRUN`, Linux 5.19).
    Cooperative,
    /// At once, by interrupting the thread.
    Interrupting,
}
