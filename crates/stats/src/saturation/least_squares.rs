//! Least squares with three unknowns.

/// Solves the normal equations of three unknowns; `None` where they do not determine them.
pub(super) fn least_squares(rows: impl Iterator<Item = ([f64; 3], f64)>) -> Option<[f64; 3]> {
    let mut m = [[0.0f64; 4]; 3];
    for (row, y) in rows {
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += row[i] * row[j];
            }
            m[i][3] += row[i] * y;
        }
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs()))?;
        m.swap(i, pivot);
        (m[i][i].abs() >= 1e-12).then_some(())?;
        let top = m[i];
        for (j, row) in m.iter_mut().enumerate() {
            if j != i {
                let factor = row[i] / top[i];
                row.iter_mut().zip(top).for_each(|(own, above)| *own -= factor * above);
            }
        }
    }
    Some([m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]])
}
