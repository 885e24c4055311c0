//! Lost strips out of the ones that are left.
//!
//! Source: H. P. Anvin, "The mathematics of RAID-6", section 4: one data strip from P, or from Q where P is lost
//! too, or two from both.

use super::{Kernel, coefficient, field};

/// One strip of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strip {
    /// A data strip, counted in the order of its powers in Q.
    Data(usize),
    /// The plain parity.
    P,
    /// The weighted parity.
    Q,
}

/// Why lost strips cannot be recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// More strips are lost than there is parity.
    #[error(
        "recovering {lost} strips needs {lost} parity strips, the stripe has {parity}; restore the data from a copy"
    )]
    TooManyLost {
        /// Strips lost.
        lost: usize,
        /// Parity strips of a whole stripe.
        parity: usize,
    },
    /// A strip was named that the stripe does not have.
    #[error("the stripe has no strip {strip:?}: it has {data} data strips{}", if *.q { ", P and Q" } else { " and P" })]
    NoSuchStrip {
        /// The strip named.
        strip: Strip,
        /// Data strips of the stripe.
        data: usize,
        /// Whether it has Q.
        q: bool,
    },
}

/// Fills in the strips named in `lost`, whatever they hold now; all others must be right.
///
/// `data` is in the order of the powers in Q. Without `q` the stripe is a RAID 5 stripe and one strip can be
/// recovered, with it any two. Naming a strip twice is naming it once. Nothing is allocated.
///
/// Panics where lengths differ.
pub fn recover(
    data: &mut [&mut [u8]],
    p: &mut [u8],
    mut q: Option<&mut [u8]>,
    lost: &[Strip],
) -> Result<(), RecoverError> {
    let parity = 1 + usize::from(q.is_some());
    let [first, second] = distinct(data.len(), q.is_some(), lost)?;
    let kernel = Kernel::best();
    match (first, second, q.as_deref_mut()) {
        (Some(Strip::Data(x)), Some(Strip::Data(y)), Some(q)) => two_data(kernel, data, p, q, x, y),
        (Some(Strip::Data(_)), Some(Strip::Data(_)), None) => {
            return Err(RecoverError::TooManyLost { lost: 2, parity });
        }
        (Some(Strip::Data(x)), Some(Strip::P), Some(q)) => data_from_q(kernel, data, q, x),
        (Some(Strip::Data(x)), _, _) => data_from_p(kernel, data, p, x),
        _ => {}
    }
    if first == Some(Strip::P) || second == Some(Strip::P) {
        generate(kernel, data, p, None);
    }
    if let (true, Some(q)) = (first == Some(Strip::Q) || second == Some(Strip::Q), q) {
        generate(kernel, data, p, Some(q));
    }
    Ok(())
}

/// The lost strips in order, data before P before Q, each once.
fn distinct(data: usize, q: bool, lost: &[Strip]) -> Result<[Option<Strip>; 2], RecoverError> {
    let parity = 1 + usize::from(q);
    let mut found = [None, None];
    let mut count = 0;
    for &strip in lost {
        if matches!(strip, Strip::Data(at) if at >= data) || (strip == Strip::Q && !q) {
            return Err(RecoverError::NoSuchStrip { strip, data, q });
        }
        if found.contains(&Some(strip)) {
            continue;
        }
        if count == parity {
            return Err(RecoverError::TooManyLost { lost: count + 1, parity });
        }
        found[count] = Some(strip);
        count += 1;
    }
    if count == 2 {
        found.sort_unstable();
    }
    Ok(found)
}

/// Bytes handled together: the blocks of all strips of a wide stripe stay in the first-level cache.
const BLOCK: usize = 4096;

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Calls `act` with the same block of every strip, block after block. A taken strip (empty) counts as zeros.
fn by_blocks(data: &[&mut [u8]], len: usize, mut act: impl FnMut(&[&[u8]], std::ops::Range<usize>)) {
    for from in (0..len).step_by(BLOCK) {
        let block = from..len.min(from + BLOCK);
        let mut strips: [&[u8]; super::MAX_DATA_STRIPS] = [&[]; super::MAX_DATA_STRIPS];
        for (to, strip) in strips.iter_mut().zip(data) {
            *to = if strip.is_empty() { &ZEROS[..block.len()] } else { &strip[block.clone()] };
        }
        act(&strips[..data.len()], block);
    }
}

/// Recomputes Q where it is given, else P. The one that is not recomputed is not touched.
fn generate(kernel: Kernel, data: &[&mut [u8]], p: &mut [u8], q: Option<&mut [u8]>) {
    let len = p.len();
    match q {
        None => by_blocks(data, len, |strips, block| kernel.xor(strips, &mut p[block])),
        Some(q) => by_blocks(data, len, |strips, block| {
            let mut unwanted = [0; BLOCK];
            kernel.pq(strips, &mut unwanted[..block.len()], &mut q[block]);
        }),
    }
}

fn data_from_p(kernel: Kernel, data: &mut [&mut [u8]], p: &[u8], x: usize) {
    let lost = std::mem::take(&mut data[x]);
    by_blocks(data, lost.len(), |strips, block| kernel.xor(strips, &mut lost[block]));
    kernel.add(lost, p, 1);
    data[x] = lost;
}

fn data_from_q(kernel: Kernel, data: &mut [&mut [u8]], q: &[u8], x: usize) {
    let lost = std::mem::take(&mut data[x]);
    // The lost strip counts as zeros, so the weighted sum of the rest plus Q is its own weighted value.
    let unweight = field::inverse(coefficient(x));
    by_blocks(data, lost.len(), |strips, block| {
        let (mut unwanted, mut sum) = ([0; BLOCK], [0; BLOCK]);
        let sum = &mut sum[..block.len()];
        kernel.pq(strips, &mut unwanted[..block.len()], sum);
        kernel.add(sum, &q[block.clone()], 1);
        lost[block.clone()].fill(0);
        kernel.add(&mut lost[block], sum, unweight);
    });
    data[x] = lost;
}

fn two_data(kernel: Kernel, data: &mut [&mut [u8]], p: &[u8], q: &[u8], x: usize, y: usize) {
    let (lost_x, lost_y) = (std::mem::take(&mut data[x]), std::mem::take(&mut data[y]));
    // With both lost strips as zeros the sums of the rest, plus P and Q, are Dx + Dy and g^x Dx + g^y Dy.
    by_blocks(data, lost_x.len(), |strips, block| {
        kernel.pq(strips, &mut lost_x[block.clone()], &mut lost_y[block]);
    });
    kernel.add(lost_x, p, 1);
    kernel.add(lost_y, q, 1);
    let ratio = coefficient(y - x);
    let scale = field::inverse(ratio ^ 1);
    let a = field::mul(ratio, scale);
    let b = field::mul(field::inverse(coefficient(x)), scale);
    kernel.solve(lost_x, lost_y, a, b);
    (data[x], data[y]) = (lost_x, lost_y);
}
