//! `fsprism reproduce`: a paper's numbers, published and recomputed.

use ::reproduce::bonnie_anova;
use serde_json::json;

use crate::arguments::ReproduceOptions;
use crate::exit::{Blame, Done};
use crate::{output, stats};

/// What can be reproduced, and what it is.
const PAPERS: [(&str, &str); 1] = [(
    "bonnie-anova",
    "Rondinelli, File Systems Performance Analysis: ext2, FAT16 and FAT32 under Bonnie",
)];

/// Prints a paper's tables, or which papers there are.
pub(crate) fn reproduce(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let Some(paper) = &options.paper else {
        let list = PAPERS.map(|(name, paper)| json!({ "name": name, "paper": paper }));
        let lines = PAPERS.map(|(name, what)| format!("{name}  {what}\n"));
        return stats::print(options.output.format, &list, || lines.concat());
    };
    if !PAPERS.iter().any(|(name, _)| name == paper) {
        let names = PAPERS.map(|(name, _)| name).join(", ");
        let unknown = anyhow::anyhow!("there is no paper {paper} to reproduce; there is {names}");
        return Err(unknown).blame_input();
    }
    let reproduction = bonnie_anova::reproduce()?;
    let width = output::terminal_options().width;
    stats::print(options.output.format, &reproduction, || reproduction.text(width))
}
