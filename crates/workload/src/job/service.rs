//! Service times of a class beside its responses.
//!
//! A request that is issued when it is due has one time, which is both. While that holds for all of them nothing is
//! kept of services: in a virtual world often to the end, and a request then writes to two histograms less.

use stats::{Bucket, Histogram, OpenHistogram};

/// Service times of measured requests.
#[derive(Debug)]
pub(super) enum Services {
    /// A request has only one time: there is no schedule.
    None,
    /// Each was its response so far.
    Responses,
    /// Some were not.
    Own(Box<Own>),
}

/// Service times by themselves.
#[derive(Debug)]
pub(super) struct Own {
    /// Of the open interval.
    pub open: OpenHistogram,
    /// Of all measured intervals before it, and of what ended after the window.
    pub total: Histogram,
}

impl Services {
    /// What the interval held that ends, of which `responses` were the responses.
    pub fn close(&mut self, responses: &[Bucket], measured: bool) -> Vec<Bucket> {
        match self {
            Services::Own(own) => own.open.pour(measured.then_some(&mut own.total)),
            Services::Responses if measured => responses.to_vec(),
            Services::Responses | Services::None => Vec::new(),
        }
    }

    /// All of them, of which `responses` were the responses.
    pub fn into_total(self, responses: &Histogram) -> Option<Histogram> {
        match self {
            Services::Own(own) => Some(own.total),
            Services::Responses => Some(responses.clone()),
            Services::None => None,
        }
    }
}
