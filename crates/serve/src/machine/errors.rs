//! Why an array is not opened, and why what an operator asks for is not done.

use std::io;

/// Why an array cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// What the disks lie on refuses.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// There is no room for what a start writes.
    #[error(
        "{what}: no space left under the directory of the drives, and a start needs some for its labels and the controller's memory. No \
         data are lost by this: make room there, and start again"
    )]
    NoSpace {
        /// What was tried.
        what: String,
    },
    /// The disks are those of an array of another shape.
    #[error(
        "the drives there are of an array that was served as `{found}`, with other sets than this one has; serve it as it was then, or \
         name another directory"
    )]
    OtherShape {
        /// Its address.
        found: String,
    },
    /// The array that there is has no drive in its bays.
    #[error(
        "no drive is in its bay, and a new array would take the place of the one that drives {outside} are of; move {which} from \
         `out/SERIAL.disk` to its bay (`bay-00.disk` and so on), or name another directory"
    )]
    AllOut {
        /// Serial numbers of those that are out of their bays.
        outside: String,
        /// The one that was lost last, and its bay, where the controller's memory has it.
        which: String,
    },
    /// Files lie where a new array would be, and are not in the making by an earlier start.
    #[error(
        "{what}, and a new array would take its place; name another directory, or remove the files of this one"
    )]
    Occupied {
        /// Which, and what is known of them.
        what: String,
    },
    /// Two disks were each used without the other.
    #[error(
        "two halves of the array were used apart: {one} and bay {other} disagree about what is in use; put the drives that belong together \
         into the bays, and take the others out"
    )]
    Split {
        /// A bay, or the controller's memory.
        one: String,
        /// Another bay.
        other: u32,
    },
    /// Drives lie in the bays of others.
    #[error(
        "drives are not in their bays, and stay as they are: {moves}; move the files, all of them, and start again"
    )]
    Misplaced {
        /// Which belong where.
        moves: String,
    },
    /// What the write cache may have had is gone.
    #[error(
        "the array was not stopped in order, and `controller.cache` is missing, or is one from before its last start: writes that were \
         flushed may be in the one that belongs to it. Move that back, or start with `--accept-cache-loss` to do without them"
    )]
    CacheGone,
    /// The disks are those of an enclosure of another size.
    #[error(
        "the drives there are of an array with {found} bays, and this one has {own}: its hot spares or its enclosure are others; serve it \
         as it was then, or name another directory"
    )]
    OtherBays {
        /// It had.
        found: usize,
        /// There are.
        own: usize,
    },
    /// What the labels say makes no sense.
    #[error(
        "the configuration on the disks does not fit the array; take the disks out, or name another directory"
    )]
    Senseless,
}

impl OpenError {
    /// What the system says of what was tried.
    pub(super) fn system(what: &str) -> impl Fn(io::Error) -> OpenError + use<> {
        let what = what.to_owned();
        move |source| match crate::set::is_full(&source) {
            true => OpenError::NoSpace { what: what.clone() },
            false => OpenError::System { what: what.clone(), source },
        }
    }
}

/// Why it is not done.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    /// There is no such bay.
    #[error("there is no bay {bay}; the enclosure has bays 0 to {last}")]
    NoSuchBay {
        /// Named.
        bay: u32,
        /// The last.
        last: usize,
    },
    /// There is no such set.
    #[error("there is no set {set}; the array has {sets}, numbered from 0")]
    NoSuchSet {
        /// Named.
        set: u32,
        /// There are.
        sets: usize,
    },
    /// The disk or the bay is in another state than this needs.
    #[error("bay {bay}: {why}")]
    WrongState {
        /// Which.
        bay: u32,
        /// Why not, and what to do.
        why: String,
    },
    /// There is no such disk outside.
    #[error("no drive {serial} is out of its bay; those that are: {there}")]
    NoSuchDrive {
        /// Named.
        serial: String,
        /// There are.
        there: String,
    },
    /// The set has nothing of the kind to do, or cannot do it now.
    #[error("set {set}: {why}")]
    NothingToDo {
        /// Which.
        set: u32,
        /// Why, and what to do.
        why: String,
    },
    /// There is no such path.
    #[error("there is no path {path}; the array has {paths}, numbered from 0")]
    NoSuchPath {
        /// Named.
        path: u32,
        /// There are.
        paths: usize,
    },
    /// There is no such controller.
    #[error("there is no controller {controller}; the array has {controllers}, numbered from 0")]
    NoSuchController {
        /// Named.
        controller: u32,
        /// There are.
        controllers: usize,
    },
    /// The model does not know that release.
    #[error("no firmware {release} for this array; releases are {there}")]
    NoSuchFirmware {
        /// Named.
        release: String,
        /// There are.
        there: String,
    },
    /// It is so already, or cannot be done now.
    #[error("{0}")]
    AlreadySo(String),
    /// Writes go to the drives at once.
    #[error("the array has no write-back cache; serve it with `--cache 64MiB`")]
    NoCache,
    /// Nothing would keep what the cache holds.
    #[error(
        "the battery of the write cache is dead; `fathom array cache write-back --force` takes writes all the same, and loses them with the power"
    )]
    NoBattery,
    /// What the write cache has goes nowhere else.
    #[error("{}: {why}", stay(*.stays))]
    Stays {
        /// How much.
        stays: units::Bytes,
        /// Why.
        why: String,
    },
    /// It is done, and a next start does not know of it.
    #[error(
        "done, but not on the labels: until it is, writes wait or fail, and `fathom array status` says why: {0}"
    )]
    Unrecorded(io::Error),
    /// What the disks lie on refuses.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

impl OperateError {
    /// What the system says of what was tried.
    pub(super) fn system(what: String) -> impl Fn(io::Error) -> OperateError {
        move |source| OperateError::System { what: what.clone(), source }
    }

    /// A bay, or its drive, is in another state than this needs.
    pub(super) fn wrong(bay: u32, why: &str) -> OperateError {
        OperateError::WrongState { bay, why: why.to_owned() }
    }
}

fn stay(stays: units::Bytes) -> String {
    match stays {
        units::Bytes::ZERO => {
            "nothing stays in the write cache, but what it had is not on stable storage".into()
        }
        stays => format!("{stays} stay in the write cache"),
    }
}
