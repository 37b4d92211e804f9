//! Systems of equations with a symmetric, positive definite matrix.

/// The lower triangular factor of a positive definite matrix, which is given by its lower triangle
/// (Golub & Van Loan, "Matrix Computations", 4th edition, section 4.2.5).
pub(crate) fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for i in 0..matrix.len() {
        let (done, rest) = matrix.split_at_mut(i);
        let row = &mut rest[0];
        for j in 0..i {
            let known: f64 = row[..j].iter().zip(&done[j]).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - known) / done[j][j];
        }
        let known: f64 = row[..i].iter().map(|a| a * a).sum();
        row[i] = (row[i] - known).sqrt();
    }
    matrix
}

/// Solves with the factor of [`cholesky`].
pub(crate) fn solve(factor: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    for i in 0..right.len() {
        let known: f64 = factor[i][..i].iter().zip(&right).map(|(a, b)| a * b).sum();
        right[i] = (right[i] - known) / factor[i][i];
    }
    for i in (0..right.len()).rev() {
        let known: f64 = (i + 1..right.len()).map(|k| factor[k][i] * right[k]).sum();
        right[i] = (right[i] - known) / factor[i][i];
    }
    right
}
