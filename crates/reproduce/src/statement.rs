//! What a paper says, and whether it holds here.

use serde::Serialize;
use textual::paragraph;

/// Whether what the paper says holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It does.
    Holds,
    /// It does not.
    DoesNotHold,
    /// What was measured is not enough to decide.
    Unknown,
}

impl Outcome {
    /// In words: `does not hold`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Unknown => "cannot tell",
        }
    }

    /// The outcome, given whether all of an interval agrees with the paper and whether all of it
    /// disagrees.
    pub(crate) fn of_interval(agrees: bool, disagrees: bool) -> Self {
        match (agrees, disagrees) {
            (true, _) => Self::Holds,
            (false, true) => Self::DoesNotHold,
            (false, false) => Self::Unknown,
        }
    }
}

/// Something that the paper says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The section, table or figure that says it.
    pub source: &'static str,
    /// What it says, in our words.
    pub claim: &'static str,
    /// The paper's number.
    pub published: &'static str,
    /// The number measured here.
    pub measured: String,
    /// Whether it holds.
    pub outcome: Outcome,
    /// Which measured numbers agree with the published one, if that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<String>,
    /// Why it does not hold, or cannot be told, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Statement {
    /// Whether anything was measured for it.
    pub(crate) fn is_measured(&self) -> bool {
        self.measured != NOT_MEASURED
    }

    /// With how far the measured number may be from the published one.
    pub(crate) fn within(self, tolerance: &'static str) -> Self {
        Self { tolerance: Some(tolerance.to_owned()), ..self }
    }

    /// With why it does not hold or cannot be told, unless it holds or says so already.
    pub(crate) fn because(self, why: &str) -> Self {
        let unsaid = self.outcome != Outcome::Holds && self.why.is_none();
        Self { why: if unsaid { Some(why.to_owned()) } else { self.why }, ..self }
    }
}

/// Instead of a number that a run does not have.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// What was measured for a statement: the number in words, and whether the statement holds.
pub(crate) type Found = Option<(String, bool)>;

/// Combines a statement with what was measured for it.
pub(crate) fn statement(
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    found: Found,
) -> Statement {
    let (measured, outcome) = match found {
        Some((measured, true)) => (measured, Outcome::Holds),
        Some((measured, false)) => (measured, Outcome::DoesNotHold),
        None => (NOT_MEASURED.to_owned(), Outcome::Unknown),
    };
    Statement { source, claim, published, measured, outcome, tolerance: None, why: None }
}

/// As wide as what introduces each part of a statement.
const INDENT: &str = "               ";

/// Renders the statements for people, and counts those that hold; `how` says how the numbers were
/// obtained.
pub(crate) fn text(statements: &[Statement], how: &str, width: usize) -> String {
    let mut text = format!("\nWhat the paper says, and what was {how}\n");
    for statement in statements {
        let outcome = statement.outcome.words();
        let claim = format!("{outcome}: {} ({})", statement.claim, statement.source);
        text += &paragraph("- ", "  ", &claim, width);
        text += &published(statement.published, width);
        text += &measured(&statement.measured, width);
        for (head, what) in [
            ("    tolerance: ", statement.tolerance.as_deref()),
            ("    why:       ", statement.why.as_deref()),
        ] {
            text += &what.map(|what| paragraph(head, INDENT, what, width)).unwrap_or_default();
        }
    }
    let count = |outcome| statements.iter().filter(|one| one.outcome == outcome).count();
    text += &format!(
        "\n{} of {} statements hold, {} do not, {} cannot be told\n",
        count(Outcome::Holds),
        statements.len(),
        count(Outcome::DoesNotHold),
        count(Outcome::Unknown)
    );
    text
}

/// A paragraph with what the paper says.
pub(crate) fn published(text: &str, width: usize) -> String {
    paragraph("    published: ", INDENT, text, width)
}

/// A paragraph with what was measured.
pub(crate) fn measured(text: &str, width: usize) -> String {
    paragraph("    measured:  ", INDENT, text, width)
}
