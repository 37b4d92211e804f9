//! Tracing a target.
use crate::{GuestTarget, Measured, Plan, measure};
use footprint::simulate::Hierarchy;
use machine::target::TargetFacts;

/// What came of tracing one target.
#[derive(Debug)]
pub struct Traced {
    /// Its label.
    pub label: String,
    /// As written on the command line, label apart.
    pub specification: String,
    /// The target as it was made; none where that failed.
    pub facts: Option<TargetFacts>,
    /// Its operations.
    pub measured: Vec<Measured>,
    /// Why something is missing.
    pub why: Option<String>,
}
/// stub
pub fn trace(target: &GuestTarget, _plan: &Plan, caches: Option<&Hierarchy>) -> Traced {
    let path = format!("/tmp/exp/{}.fpt", target.file_system);
    let measured = measure(path.as_ref(), footprint::trace::Nameless, caches);
    let facts = TargetFacts {
        file_system: target.file_system.to_string(),
        mount_options: "rw".into(),
        size_bytes: 1,
        ..Default::default()
    };
    match measured {
        Ok(measured) => Traced {
            label: target.spec.label.clone(),
            specification: target.file_system.to_string(),
            facts: Some(facts),
            measured,
            why: None,
        },
        Err(error) => Traced {
            label: target.spec.label.clone(),
            specification: String::new(),
            facts: None,
            measured: Vec::new(),
            why: Some(error.to_string()),
        },
    }
}
