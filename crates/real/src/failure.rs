//! Errors of the host, by what follows from them.

use std::error::Error;

use conduct::WorldError;
use host::engine::EngineError;
use host::nbd::NbdError;
use host::safety::SafetyError;
use host::scratch::ScratchError;
use host::target::TargetError;
use host::tree::TreeError;

/// An error of the host's that a world can tell.
pub(crate) trait HostError: Error + Send + Sync + Sized + 'static {
    /// The same in the same words, by what follows from it.
    fn told(self) -> WorldError;
}

impl HostError for TargetError {
    fn told(self) -> WorldError {
        WorldError::unfit(self)
    }
}

impl HostError for SafetyError {
    fn told(self) -> WorldError {
        WorldError::Refused(self.into())
    }
}

impl HostError for ScratchError {
    fn told(self) -> WorldError {
        match self {
            ScratchError::NotOurs { .. } | ScratchError::BehindLoop { .. } => {
                WorldError::Refused(self.into())
            }
            ScratchError::Full { .. } | ScratchError::Hollow { .. } | ScratchError::Os { .. } => {
                WorldError::Failed(self.into())
            }
            ScratchError::Aborted { .. } => WorldError::Interrupted,
            _ => WorldError::unfit(self),
        }
    }
}

impl HostError for EngineError {
    fn told(self) -> WorldError {
        match self {
            EngineError::Unsafe(_) => WorldError::Refused(self.into()),
            // The server answered when the target was looked at.
            EngineError::System { .. } | EngineError::Nbd(NbdError::Io { .. }) => {
                WorldError::Failed(self.into())
            }
            EngineError::Internal { thread } => WorldError::Internal(format!("{thread} panicked")),
            _ => WorldError::unfit(self),
        }
    }
}

impl HostError for TreeError {
    fn told(self) -> WorldError {
        match self {
            TreeError::NotOurs { .. } | TreeError::Stranger { .. } => WorldError::Refused(self.into()),
            TreeError::Os { .. } => WorldError::Failed(self.into()),
            TreeError::Interrupted { .. } => WorldError::Interrupted,
            _ => WorldError::unfit(self),
        }
    }
}
