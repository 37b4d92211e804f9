//! Sentences about a run, each with what it is about. The page shows them beside its charts.

use record::Dimension;
use schemars::JsonSchema;
use serde::Serialize;

/// What a run says of one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadLine {
    /// What is to be done: `a mail server`.
    pub title: String,
    /// Which target is the quickest for it, and by how much the others are slower.
    pub answer: String,
    /// What speaks against it; none where a program has confirmed that the others are slower.
    pub doubt: Option<LoadDoubt>,
    /// What a unit of it is, where its mix is from, what it leaves out, and for which targets it
    /// cannot be estimated.
    pub notes: Vec<String>,
}

/// What programs say of a load's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadDoubt {
    /// A program of the mix ranked two of its targets the other way around.
    Contradicted,
    /// No program has confirmed all of it.
    Unconfirmed,
}

/// One sentence about a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Said")]
pub struct Sentence {
    /// Its kind.
    pub kind: SentenceKind,
    /// The dimension it belongs to, if any.
    pub dimension: Option<Dimension>,
    /// What it is about: a benchmark, a curve, or another topic.
    pub subject: Option<String>,
    /// The targets it names.
    pub targets: Vec<String>,
    /// The sentence.
    pub text: String,
}

/// The kind of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "SaidKind")]
pub enum SentenceKind {
    /// Where, when and under which conditions the run measured.
    Condition,
    /// About a difference that is real at the run's confidence level.
    Real,
    /// About targets that could not be told apart.
    NotToldApart,
    /// About figures that are not compared: there is only one target or too little data, or neither
    /// direction is better.
    Described,
    /// About a cliff, or that there is none.
    Cliff,
    /// About a law along a curve.
    Law,
    /// A warning.
    Warning,
    /// About what was not measured or was abandoned.
    Refused,
    /// About how certain the report is.
    Sureness,
}
