//! What was observed: a trace, and which pages were resident at its moments.

use crate::error::FitError;
use crate::trace::Trace;

/// A trace that was run on an empty cache, and the residency observed at each of its moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedTrace {
    trace: Trace,
    resident: Vec<Vec<bool>>,
}

impl ObservedTrace {
    /// `resident` says, for each moment of `trace`, whether each page of the file is resident.
    ///
    /// # Errors
    /// If the number of moments or of pages differs from the trace's.
    pub fn new(trace: Trace, resident: Vec<Vec<bool>>) -> Result<Self, FitError> {
        let (expected, given) = (trace.moments().len(), resident.len());
        if expected != given {
            return Err(FitError::Moments { trace: trace.name(), expected, given });
        }
        let expected = trace.pages() as usize;
        if let Some(odd) = resident.iter().find(|pages| pages.len() != expected) {
            let given = odd.len();
            return Err(FitError::Pages { trace: trace.name(), expected, given });
        }
        Ok(Self { trace, resident })
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Whether each page was resident, by moment and then by page.
    pub fn resident(&self) -> &[Vec<bool>] {
        &self.resident
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::scan;

    #[test]
    fn residency_that_does_not_belong_to_the_trace_is_refused() {
        let trace = || Trace::new("t", scan(4), 2);
        assert!(ObservedTrace::new(trace(), vec![vec![true; 4]; 2]).is_ok());
        let refused = ObservedTrace::new(trace(), vec![vec![true; 4]; 3]).unwrap_err().to_string();
        assert_eq!(refused, "trace t is looked at 2 times, but residency is given for 3");
        let refused = ObservedTrace::new(trace(), vec![vec![true; 5]; 2]).unwrap_err().to_string();
        assert_eq!(refused, "trace t has 4 pages, but residency is given for 5");
    }
}
