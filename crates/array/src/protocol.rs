//! What a network or block protocol adds: splitting, round trips, sessions, cost per operation.

use units::{Bytes, BytesPerSecond, Nanos};

/// The figures of a protocol between a host and an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolParams {
    /// Which one: decides its operations.
    pub kind: ProtocolKind,
    /// Largest read operation; longer reads are split.
    pub read_size: Bytes,
    /// Largest write operation.
    pub write_size: Bytes,
    /// Operations outstanding in one session (slots, credits, MaxCmdSN window).
    pub outstanding: u32,
    /// Sessions or connections of a host at each controller. Each stays on one link: they are dealt over the links in
    /// turn, session `n` of host `h` to link `h × sessions + n`, and from the first again where the links end.
    pub sessions: u32,
    /// Bytes that travel with each operation beyond the data, each way.
    pub header: Bytes,
    /// One switch hop, one way.
    pub hop: Nanos,
    /// Hops between host and array.
    pub hops: u32,
    /// Client processor time per operation.
    pub client: Nanos,
    /// Server processor time per read operation.
    pub server_read: Nanos,
    /// Server processor time per write operation.
    pub server_write: Nanos,
    /// Bytes that may be under way in a connection before the first of them is acknowledged, one round trip later.
    /// `None`: never the limit.
    pub window: Option<Bytes>,
    /// Server processor copy rate for read data (TCP, file system); `None`: free.
    pub server_read_copy: Option<BytesPerSecond>,
    /// Server processor copy rate for written data; `None`: free.
    pub server_write_copy: Option<BytesPerSecond>,
    /// Whether a write is answered only when it is on stable storage: what NFS asks of a server that exports `sync`,
    /// and what an iSCSI target does that opens its file so. Without it an NFS write is unstable, and a flush is the
    /// COMMIT.
    pub sync_writes: bool,
    /// Immediate data of a write: what goes with the command (iSCSI FirstBurst). Longer writes wait for a round trip
    /// per `burst`.
    pub immediate: Bytes,
    /// Data sent for each ready-to-transfer (iSCSI MaxBurst).
    pub burst: Bytes,
}

impl ProtocolParams {
    /// Sessions of a host at one controller, each pinned to one link; `None` where nothing is a session, and each
    /// command may take any link.
    pub fn pinned(&self) -> Option<u32> {
        match self.kind {
            ProtocolKind::Block => None,
            ProtocolKind::Iscsi | ProtocolKind::Nfs3 | ProtocolKind::Smb1 | ProtocolKind::Smb2 => {
                Some(self.sessions.max(1))
            }
        }
    }
}

/// Which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolKind {
    /// SCSI commands straight over the link (SAS, FC, parallel SCSI, USB, NVMe).
    Block,
    /// SCSI over TCP.
    Iscsi,
    /// NFS version 3.
    Nfs3,
    /// SMB 1, also called CIFS: one operation at a time.
    Smb1,
    /// SMB 2 and later: credits.
    Smb2,
}
