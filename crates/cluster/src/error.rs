//! Why ranks do not go on together.

use conduct::WorldError;

/// Why a plan is not carried out over ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// A rank has shown no sign of life.
    #[error(
        "rank {rank} on {host} shows no sign of life for {} s: it has ended, is stopped, or its network is down",
        *.millis as f64 / 1000.0
    )]
    Silent {
        /// Which.
        rank: usize,
        /// Its host; `a host not yet known` before it has said so.
        host: String,
        /// For how many milliseconds.
        millis: u64,
    },
    /// A rank ended its part by itself.
    #[error("rank {rank} on {host} ended early: {why}")]
    Ended {
        /// Which.
        rank: usize,
        /// As it calls itself.
        host: String,
        /// In its own words.
        why: String,
    },
    /// What came is no message of this version.
    #[error("rank {rank} sent what is no message of this version of Fathom: {why}")]
    Garbled {
        /// Which.
        rank: usize,
        /// What is wrong.
        why: String,
    },
}

/// That the ranks do not fit together: with which exit code they end, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{why}")]
pub struct Refused {
    /// The exit code of all of them.
    pub code: u8,
    /// What does not fit, and what to do.
    pub why: String,
}

impl From<Refused> for WorldError {
    /// The error of a world that ends with the same code.
    fn from(Refused { code, why }: Refused) -> WorldError {
        match code {
            3 => WorldError::Refused(why.into()),
            5 => WorldError::Failed(why.into()),
            7 => WorldError::Lost(why),
            _ => WorldError::unfit(why),
        }
    }
}
