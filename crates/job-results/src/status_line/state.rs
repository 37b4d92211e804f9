//! What each job does, a letter for each.

/// What a running job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunningKind {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Both.
    Mixed,
    /// Trims.
    Trim,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It has not been started.
    Pending,
    /// It sets up.
    SettingUp,
    /// It waits for others to be ready.
    Created,
    /// It runs, and does not count yet.
    Ramping,
    /// It reads its files in advance.
    PreReading,
    /// It runs.
    Running {
        /// What it does.
        kind: RunningKind,
        /// Whether at random offsets.
        is_random: bool,
    },
    /// It verifies what it wrote.
    Verifying,
    /// It makes what it wrote durable.
    Syncing,
    /// It finishes.
    Finishing,
    /// It has ended, and nobody has noticed yet.
    Exited,
    /// It has ended.
    Done,
    /// It has ended with an error.
    Failed,
    /// It was killed by a signal.
    Killed,
}

impl JobState {
    /// Its letter.
    pub fn letter(self) -> char {
        match self {
            Self::Pending => 'P',
            Self::SettingUp => 'I',
            Self::Created => 'C',
            Self::Ramping => '/',
            Self::PreReading => 'p',
            Self::Running { kind, is_random } => {
                let letter = match kind {
                    RunningKind::Read => 'R',
                    RunningKind::Write => 'W',
                    RunningKind::Mixed => 'M',
                    RunningKind::Trim => 'D',
                };
                if is_random { letter.to_ascii_lowercase() } else { letter }
            }
            Self::Verifying => 'V',
            Self::Syncing => 'F',
            Self::Finishing => 'f',
            Self::Exited => 'E',
            Self::Done => '_',
            Self::Failed => 'X',
            Self::Killed => 'K',
        }
    }
}

/// The letters of all jobs, each run of the same one with its length: `R(2),_(1)`.
pub fn condensed(states: &[JobState]) -> String {
    let letters: Vec<char> = states.iter().map(|state| state.letter()).collect();
    let runs = letters.chunk_by(|one, other| one == other);
    runs.map(|run| format!("{}({})", run[0], run.len())).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_condensed() {
        let reading = JobState::Running { kind: RunningKind::Read, is_random: false };
        let mixed = JobState::Running { kind: RunningKind::Mixed, is_random: true };
        let states = [reading, reading, mixed, JobState::Done, JobState::Done, JobState::Failed];
        assert_eq!(condensed(&states), "R(2),m(1),_(2),X(1)");
        assert_eq!(condensed(&[]), "");
    }
}
