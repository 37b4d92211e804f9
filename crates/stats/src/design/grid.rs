//! A table of numbers with one axis per factor; the last axis varies fastest.

/// The numbers and the length of each axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) dims: Vec<usize>,
    pub(super) data: Vec<f64>,
}

impl Grid {
    /// The means over all axes except `kept`, which are ascending.
    pub(super) fn margin(&self, kept: &[usize]) -> Grid {
        let others = (0..self.dims.len()).rev().filter(|axis| !kept.contains(axis));
        let margin = others.fold(None, |margin: Option<Grid>, axis| {
            Some(margin.as_ref().unwrap_or(self).mean_over(axis))
        });
        margin.unwrap_or_else(|| self.clone())
    }

    /// The means over one axis, which disappears.
    fn mean_over(&self, axis: usize) -> Grid {
        let mut dims = self.dims.clone();
        let length = dims.remove(axis);
        let inner: usize = dims[axis..].iter().product();
        let mut data = Vec::with_capacity(self.data.len() / length);
        for block in self.data.chunks(length * inner) {
            data.extend(block_means(block, inner));
        }
        Grid { dims, data }
    }

    /// Subtracts from every number the mean over `axis`.
    pub(super) fn centre(&mut self, axis: usize) {
        let inner: usize = self.dims[axis + 1..].iter().product();
        for block in self.data.chunks_mut(self.dims[axis] * inner) {
            let means = block_means(block, inner);
            for row in block.chunks_mut(inner) {
                row.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
            }
        }
    }

    /// Subtracts numbers that depend only on the positions along `axes`.
    pub(super) fn subtract(&mut self, axes: &[usize], effects: &Grid) {
        let mut strides = vec![0; self.dims.len()];
        let mut stride = 1;
        for &axis in axes.iter().rev() {
            strides[axis] = stride;
            stride *= self.dims[axis];
        }
        let mut at = vec![0; self.dims.len()];
        let mut position = 0;
        for value in &mut self.data {
            *value -= effects.data[position];
            for axis in (0..at.len()).rev() {
                at[axis] += 1;
                position += strides[axis];
                if at[axis] < self.dims[axis] {
                    break;
                }
                position -= strides[axis] * self.dims[axis];
                at[axis] = 0;
            }
        }
    }
}

/// The mean of the rows of `block`, each `inner` numbers long.
fn block_means(block: &[f64], inner: usize) -> Vec<f64> {
    let rows = (block.len() / inner) as f64;
    if inner == 1 {
        return vec![super::sums::sum(block) / rows];
    }
    let mut sums = vec![0.0; inner];
    for row in block.chunks(inner) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter_mut().for_each(|sum| *sum /= rows);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid { dims: vec![2, 3, 2], data: (0..12_i32).map(|i| f64::from(i * i)).collect() }
    }

    #[test]
    fn margins_are_means_over_the_other_axes() {
        let means = grid().margin(&[0]);
        assert_eq!((means.dims, means.data), (vec![2], vec![55.0 / 6.0, 451.0 / 6.0]));
        let means = grid().margin(&[1]);
        assert_eq!(means.data, [(0.0 + 1.0 + 36.0 + 49.0) / 4.0, 158.0 / 4.0, 262.0 / 4.0]);
        assert!((grid().margin(&[]).data[0] - 506.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_centred_has_no_mean_along_the_axis() {
        for axis in 0..3 {
            let mut centred = grid();
            centred.centre(axis);
            assert!(centred.mean_over(axis).data.iter().all(|mean| mean.abs() < 1e-12), "{axis}");
        }
    }

    #[test]
    fn subtracting_a_margin_centres_the_rest() {
        for axes in [vec![0], vec![1], vec![0, 2], vec![1, 2]] {
            let mut rest = grid();
            let margin = rest.margin(&axes);
            rest.subtract(&axes, &margin);
            assert!(rest.margin(&axes).data.iter().all(|mean| mean.abs() < 1e-12), "{axes:?}");
        }
    }
}
