//! Which dimension each benchmark isolates and which it merely exercises: Table 1 of "It *IS*
//! Rocket Science" for our own benchmarks, derived from their declarations.

use record::Dimension;

use crate::benchmark::Benchmark;

/// The columns.
pub const COLUMNS: [Dimension; 6] = Dimension::TIMED;

/// How a benchmark relates to a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The benchmark isolates it: the paper's filled circle.
    Isolates,
    /// The benchmark exercises it without isolating it: the paper's empty circle.
    Exercises,
    /// Neither.
    Nothing,
}

/// One row: a benchmark, or all points of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOneRow {
    /// Its name.
    pub name: String,
    /// Name for people, in words.
    pub title: String,
    /// Number of points; 1 for a benchmark that is not a curve.
    pub points: usize,
    /// One mark per column.
    pub marks: [Relation; COLUMNS.len()],
}

/// The table of these benchmarks, in their order.
#[must_use]
pub fn table_one(benchmarks: &[Benchmark]) -> Vec<TableOneRow> {
    let mut rows: Vec<TableOneRow> = Vec::new();
    for benchmark in benchmarks {
        let (name, title) = benchmark.family();
        let marks = COLUMNS.map(|dimension| mark(benchmark, dimension));
        match rows.iter_mut().find(|row| row.name == name && row.marks == marks) {
            Some(row) => row.points += 1,
            None => {
                let (name, title) = (name.to_owned(), title.to_owned());
                rows.push(TableOneRow { name, title, points: 1, marks });
            }
        }
    }
    rows
}

fn mark(benchmark: &Benchmark, dimension: Dimension) -> Relation {
    if benchmark.dimension == dimension {
        Relation::Isolates
    } else if benchmark.exercises.contains(&dimension) {
        Relation::Exercises
    } else {
        Relation::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nano;

    #[test]
    fn every_row_isolates_one_dimension_and_says_of_each_benchmark_what_it_declares() {
        let all = nano::all();
        let rows = table_one(&all);
        assert_eq!(rows.iter().map(|row| row.points).sum::<usize>(), all.len());
        for benchmark in &all {
            let (name, _) = benchmark.family();
            let declared = COLUMNS.map(|dimension| {
                match (benchmark.dimension == dimension, benchmark.exercises.contains(&dimension)) {
                    (true, _) => Relation::Isolates,
                    (_, true) => Relation::Exercises,
                    _ => Relation::Nothing,
                }
            });
            assert!(rows.iter().any(|row| row.name == name && row.marks == declared), "{name}");
        }
        for row in &rows {
            let isolated = row.marks.iter().filter(|mark| **mark == Relation::Isolates).count();
            assert_eq!(isolated, 1, "{}", row.name);
        }
    }

    #[test]
    fn every_dimension_of_the_paper_is_isolated_by_some_benchmark() {
        let rows = table_one(&nano::all());
        for (column, dimension) in COLUMNS.iter().enumerate() {
            assert!(
                rows.iter().any(|row| row.marks[column] == Relation::Isolates),
                "{dimension:?}"
            );
        }
    }

    #[test]
    fn points_of_one_curve_that_exercise_different_dimensions_have_rows_of_their_own() {
        let is_point = |one: &Benchmark| one.curve.is_some();
        let first = nano::all().into_iter().find(is_point).expect("there are curves");
        let exercises = [first.exercises.clone(), vec![Dimension::Scaling]].concat();
        let points = [Benchmark { exercises, ..first.clone() }, first];
        assert_eq!(table_one(&points).len(), 2);
    }
}
