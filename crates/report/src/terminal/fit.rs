//! How throughput scales: one sentence per curve and target.

use record::{CurveFit, Document, FitParameter};

use super::text::{Page, Style};
use crate::units::{self, Wording};

/// The section, if there are curves to which a law can apply.
pub(super) fn render(page: &mut Page, document: &Document) {
    let fits = &document.fits;
    if fits.is_empty() {
        return;
    }
    page.heading("How throughput grows");
    let with_law = || fits.iter().filter(|fit| fit.law.is_some());
    with_law().for_each(|fit| page.item(&sentence(fit), Style::Plain));
    without_law(fits).iter().for_each(|text| page.item(text, Style::Plain));
    if with_law().next().is_none() {
        return;
    }
    page.blank();
    if let Some(beyond) = fits.iter().filter_map(beyond).next_back() {
        page.sentence(&beyond);
    }
    page.sentence(
        "X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1)), where X is the throughput with N \
         at once, alpha the share of work that waits for others, and beta the cost of keeping each \
         other up to date (Gunther, the Universal Scalability Law; without beta, Amdahl's law). \
         The intervals are those of the full law, even where a smaller one describes the values \
         well enough.",
    );
}

/// `create, own directories, ext4`.
fn subject(fit: &CurveFit) -> String {
    format!("{}, {}", fit.title, textual::plain_text(&fit.target))
}

/// The curves without a law, grouped by reason.
pub(super) fn without_law(fits: &[CurveFit]) -> Vec<String> {
    let mut by_why: Vec<(&str, Vec<String>)> = Vec::new();
    for fit in fits.iter().filter(|fit| fit.law.is_none()) {
        let why = fit.refused.first().map_or("there are no values", String::as_str);
        match by_why.iter_mut().find(|(other, _)| *other == why) {
            Some((_, subjects)) => subjects.push(subject(fit)),
            None => by_why.push((why, vec![subject(fit)])),
        }
    }
    let told = |(why, subjects): (&str, Vec<String>)| {
        if subjects.len() == fits.len() {
            format!("no law for any curve: {why}")
        } else {
            format!("no law, because {why}: {}", subjects.join("; "))
        }
    };
    by_why.into_iter().map(told).collect()
}

/// `create, own directories, ext4: waiting 12 % [10, 15], agreeing 1 % [0.5, 1.5] (...)`.
pub(super) fn sentence(fit: &CurveFit) -> String {
    let law = fit.law.as_deref().unwrap_or_default();
    let named = |name: &str| fit.parameters.iter().find(|parameter| parameter.name == name);
    let mut clauses = vec![match law {
        "linear" => "grows in proportion".to_owned(),
        "amdahl" => "follows Amdahl's law".to_owned(),
        "coherency" => "follows the Universal Scalability Law without waiting".to_owned(),
        _ => "follows the Universal Scalability Law".to_owned(),
    }];
    clauses.extend(named("gamma").map(gamma));
    clauses.extend(named("alpha").map(|one| pure("alpha", one)));
    clauses.extend(named("beta").map(|one| pure("beta", one)));
    clauses.extend(named("peak_n").map(|one| peak(fit, one)));
    let possible = fit.alpha_max.filter(|&most| most > 0.0);
    clauses.extend(possible.map(|most| format!("an alpha up to {} is possible", number(most))));
    // With too few points, the full law is refused and the smaller one is kept.
    clauses.extend(fit.refused.first().cloned());
    format!("{}: {}", subject(fit), clauses.join("; "))
}

fn gamma(one: &FitParameter) -> String {
    let figure = units::figure(&one.unit, one.value, Some(&one.interval), Wording::Full);
    match figure.interval {
        Some(interval) => format!("gamma {} {interval}", figure.value),
        None => format!("gamma: {}", figure.value),
    }
}

fn pure(name: &str, one: &FitParameter) -> String {
    let (low, high) = (one.interval.low, one.interval.high);
    format!("{name} {} [{}, {}]", number(one.value), number(low), number(high))
}

fn number(value: f64) -> String {
    if value.abs() < 0.0995 { format!("{value:.4}") } else { format!("{value:.2}") }
}

fn peak(fit: &CurveFit, one: &FitParameter) -> String {
    let measured = fit.points.iter().copied().fold(0.0, f64::max);
    let beyond = if one.value > measured { ", beyond what was measured" } else { "" };
    let (low, high) = (one.interval.low, one.interval.high);
    format!("highest at {:.1} {} [{low:.1}, {high:.1}]{beyond}", one.value, fit.axis)
}

/// Says that some of the points have more threads or processes than there are processors.
fn beyond(fit: &CurveFit) -> Option<String> {
    fit.law.as_ref()?;
    let processors = fit.processors?;
    let most = fit.points.iter().copied().fold(0.0, f64::max);
    let available = textual::plural(processors as usize, "processor");
    (most > f64::from(processors)).then(|| {
        format!(
            "Up to {most:.0} {} took turns on {available}: the laws describe file system \
             and machine together.",
            fit.axis
        )
    })
}

#[cfg(test)]
mod tests {
    use record::IntervalReport;

    use super::*;

    fn parameter(name: &str, unit: &str, value: f64) -> FitParameter {
        let interval = IntervalReport { level: 0.95, low: value * 0.9, high: value * 1.1 };
        FitParameter { name: name.to_owned(), unit: unit.to_owned(), value, interval }
    }

    fn fit(law: Option<&str>, parameters: Vec<FitParameter>) -> CurveFit {
        CurveFit {
            target: "ext4".to_owned(),
            curve: "create-own".to_owned(),
            title: "create, own directories".to_owned(),
            axis: "threads".to_owned(),
            law: law.map(str::to_owned),
            parameters,
            alpha_max: None,
            points: vec![1.0, 2.0, 3.0, 4.0],
            processors: Some(4),
            refused: Vec::new(),
        }
    }

    #[test]
    fn a_law_is_told_with_its_parameters_and_their_intervals() {
        let parameters = vec![
            parameter("gamma", "operations/s", 50_000.0),
            parameter("alpha", "", 0.2),
            parameter("beta", "", 0.01),
            parameter("peak_n", "count", 9.0),
        ];
        let text = sentence(&fit(Some("usl"), parameters.clone())).replace('\u{a0}', " ");
        assert_eq!(
            text,
            "create, own directories, ext4: follows the Universal Scalability Law; gamma 50 k \
             operations/s [45, 55]; alpha 0.20 [0.18, 0.22]; beta 0.0100 [0.0090, 0.0110]; \
             highest at 9.0 threads [8.1, 9.9], beyond what was measured"
        );
        let few = CurveFit {
            processors: Some(2),
            alpha_max: Some(0.034),
            ..fit(Some("linear"), vec![parameters[0].clone()])
        };
        let text = sentence(&few);
        assert!(text.contains(": grows in proportion; gamma 50"), "{text}");
        assert!(text.ends_with("; an alpha up to 0.0340 is possible"), "{text}");
        let said = beyond(&few).expect("4 threads are more than 2 processors");
        assert!(said.starts_with("Up to 4 threads took turns on 2 processors:"), "{said}");
        assert_eq!(beyond(&fit(Some("usl"), Vec::new())), None);
    }

    #[test]
    fn curves_without_a_law_are_told_together_by_why() {
        let refused = |why: &str, title: &str| CurveFit {
            refused: vec![why.to_owned()],
            title: title.to_owned(),
            ..fit(None, Vec::new())
        };
        let all = [refused("few blocks", "stat"), refused("few blocks", "create")];
        assert_eq!(without_law(&all), ["no law for any curve: few blocks"]);
        let some = [fit(Some("linear"), Vec::new()), all[0].clone(), refused("noise", "unlink")];
        let expected =
            ["no law, because few blocks: stat, ext4", "no law, because noise: unlink, ext4"];
        assert_eq!(without_law(&some), expected);
    }
}
