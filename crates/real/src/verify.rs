//! What of a run is held against what it wrote.

use std::io;
use std::path::Path;
use std::sync::Arc;

use conduct::WorldError;
use conduct::checks::verifying;
use host::engine::FileRef;
use host::verify::{Books, LEAST_BLOCK, MOST_BLOCK, Verification};
use units::Bytes;
use workload::plan::Plan;
use workload::spec::Workload;

/// Books for all phases of `plan`; `None` where nothing is verified.
///
/// They are kept in files of `directory` where one is given, and what an earlier run has left there counts.
///
/// All phases have one size of blocks: the largest that divides every size and alignment of what is verified.
pub(crate) fn books(plan: &Plan, directory: Option<&Path>) -> Option<Arc<Books>> {
    verifying(plan).next()?;
    let divides = |block: &Bytes| {
        verifying(plan).flat_map(Workload::stamped).all(|distance| distance.is_multiple_of(*block))
    };
    let sizes = (0..).map(|halvings| Bytes::new(MOST_BLOCK.get() >> halvings));
    let block = sizes.take_while(|block| *block > LEAST_BLOCK).find(divides).unwrap_or(LEAST_BLOCK);
    assert!(divides(&block), "a plan that verifies keeps to blocks of {LEAST_BLOCK}");
    let books = Books::new(plan.seed, block);
    Some(Arc::new(match directory {
        Some(directory) => books.kept_in(directory.to_owned()),
        None => books,
    }))
}

/// The books of the files of one workload; an error where those that are kept cannot be read or written.
pub(crate) fn verification(
    books: &Arc<Books>,
    files: &[FileRef],
    lengths: &[Bytes],
) -> Result<Verification, WorldError> {
    assert_eq!(files.len(), lengths.len(), "each file has a length");
    let ledger = |(file, len): (&FileRef, &Bytes)| books.ledger(&file.path, *len);
    let files: io::Result<_> = files.iter().zip(lengths).map(ledger).collect();
    Ok(Verification { books: books.clone(), files: files.map_err(cannot_be_noted)? })
}

/// That the books of a file cannot be kept.
pub(crate) fn cannot_be_noted(why: io::Error) -> WorldError {
    WorldError::unfit(format!("what was written cannot be noted: {why}"))
}
