//! What a paper says, and whether it came out here.

use serde::Serialize;
use textual::paragraph;

/// Whether what the paper says came out here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Holds,
    /// It did not.
    DoesNotHold,
    /// What was measured does not suffice to say.
    Unknown,
}

impl Outcome {
    /// Of an interval: whether all of it agrees with the paper, and whether all of it disagrees.
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
    /// Where.
    pub source: &'static str,
    /// What, in our words.
    pub claim: &'static str,
    /// The paper's number.
    pub published: &'static str,
    /// The number here.
    pub measured: String,
    /// Whether it holds.
    pub outcome: Outcome,
}

/// What is measured of a statement: the number in words, and whether it holds.
pub(crate) type Found = Option<(String, bool)>;

/// The statement with what was found of it.
pub(crate) fn statement(
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    found: Found,
) -> Statement {
    let (measured, outcome) = match found {
        Some((measured, true)) => (measured, Outcome::Holds),
        Some((measured, false)) => (measured, Outcome::DoesNotHold),
        None => ("not measured".to_owned(), Outcome::Unknown),
    };
    Statement { source, claim, published, measured, outcome }
}

/// The statements for people, and how many of them hold; `how` says how that was found.
pub(crate) fn text(statements: &[Statement], how: &str, width: usize) -> String {
    let mut text = format!("\nWhat the paper says, and what was {how}\n");
    for statement in statements {
        let outcome = match statement.outcome {
            Outcome::Holds => "holds",
            Outcome::DoesNotHold => "does not hold",
            Outcome::Unknown => "unknown",
        };
        let claim = format!("{outcome}: {} ({})", statement.claim, statement.source);
        text += &paragraph("- ", "  ", &claim, width);
        text += &published(statement.published, width);
        text += &measured(&statement.measured, width);
    }
    let count = |outcome| statements.iter().filter(|one| one.outcome == outcome).count();
    text += &format!(
        "\n{} of {} statements hold, {} do not, {} unknown\n",
        count(Outcome::Holds),
        statements.len(),
        count(Outcome::DoesNotHold),
        count(Outcome::Unknown)
    );
    text
}

/// A line of what the paper has.
pub(crate) fn published(text: &str, width: usize) -> String {
    paragraph("    published: ", "               ", text, width)
}

/// A line of what was measured.
pub(crate) fn measured(text: &str, width: usize) -> String {
    paragraph("    measured:  ", "               ", text, width)
}
