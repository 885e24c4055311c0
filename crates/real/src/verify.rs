//! What of a run is held against what it wrote.

use std::sync::Arc;

use conduct::checks::verifying;
use host::engine::FileRef;
use host::verify::{Books, LEAST_BLOCK, MOST_BLOCK, Verification};
use units::Bytes;
use workload::plan::Plan;
use workload::spec::Workload;

/// Books for all phases of `plan`; `None` where nothing is verified.
///
/// All phases have one size of blocks: the largest that divides every size and alignment of what is verified.
pub(crate) fn books(plan: &Plan) -> Option<Arc<Books>> {
    verifying(plan).next()?;
    let divides = |block: &Bytes| {
        verifying(plan).flat_map(Workload::stamped).all(|distance| distance.is_multiple_of(*block))
    };
    let sizes = (0..).map(|halvings| Bytes::new(MOST_BLOCK.get() >> halvings));
    let block = sizes.take_while(|block| *block > LEAST_BLOCK).find(divides).unwrap_or(LEAST_BLOCK);
    Some(Arc::new(Books::new(plan.seed, block)))
}

/// The books of the files of one workload.
pub(crate) fn verification(books: &Arc<Books>, files: &[FileRef], lengths: &[Bytes]) -> Verification {
    let ledger = |(file, len): (&FileRef, &Bytes)| books.ledger(&file.path, *len);
    Verification { books: books.clone(), files: files.iter().zip(lengths).map(ledger).collect() }
}
