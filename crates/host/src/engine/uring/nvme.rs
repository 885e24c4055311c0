//! NVMe commands through a ring: `IORING_OP_URING_CMD` on the generic node of a namespace.
//!
//! Source: NVM Express NVM Command Set 1.0, 3.2 (commands) and 3.3 (Dataset Management); include/uapi/linux/nvme_ioctl.h,
//! `struct nvme_uring_cmd`.

use std::sync::Arc;

use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};
use units::convert::narrow;
use workload::spec::{Commands, WriteCommand};
use workload::{DeviceStatus, Errno, Op, Outcome, Request};

use super::entry::Asks;
use super::setup::polling_refused;
use super::{UringOptions, UringRing};
use crate::clock::Clock;
use crate::engine::{Addressing, EngineError, OpenFile, OpenFiles, Payload};

/// `NVME_URING_CMD_IO`, `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const URING_CMD_IO: u32 = 0xC048_4E80;

/// Commands to namespaces in place of system calls.
#[derive(Debug)]
pub struct NvmeCommands(pub Commands);

/// Bytes of the one range of Dataset Management.
const RANGE: u32 = 16;

impl Asks for NvmeCommands {
    type Entry = squeue::Entry128;
    type Ended = cqueue::Entry32;

    #[inline]
    fn entry(
        &mut self,
        request: &Request,
        open: &OpenFile,
        payload: &Payload,
        is_fixed: bool,
    ) -> squeue::Entry128 {
        let asked = open.blocks_of(request).zip(open.addressing);
        let ((at, blocks), Addressing { namespace, .. }) = asked.expect("anything else completes apart");
        let command = Command::of(self.0, request.op, at, blocks);
        let data = match request.op {
            Op::Trim => {
                let room = payload.address(&Request { op: Op::Read, len: RANGE, ..*request });
                // SAFETY: the piece of the slot is as long as a block at least, and belongs to this request until it completes.
                unsafe { room.cast::<[u8; RANGE as usize]>().write(range(at, blocks)) };
                (room, RANGE)
            }
            _ if command.has_data => (payload.address(request), request.len),
            _ => (std::ptr::null_mut(), 0),
        };
        let entry = opcode::UringCmd80::new(Fixed(u32::from(request.file)), URING_CMD_IO).cmd(command.bytes(
            namespace,
            data.0 as u64,
            data.1,
        ));
        // Nothing is looked up where no data move.
        entry.buf_index((is_fixed && data.1 > 0).then_some(0)).build()
    }

    #[inline]
    fn outcome(result: i32, _: bool, len: u32) -> Outcome {
        match result {
            0 => Outcome::moved(len),
            // The status of the drive; what is negative is the system's own.
            1.. => Outcome::failed(DeviceStatus::Nvme(narrow::<u16>(result & 0x7fff)).errno()),
            _ => Outcome::from_raw(result),
        }
    }

    /// What is not of whole blocks is sent as no command.
    #[inline]
    fn is_apart(request: &Request, open: &OpenFile) -> bool {
        open.blocks_of(request).is_none()
    }

    fn execute(_: &Request, _: &OpenFile) -> Outcome {
        Outcome::failed(Errno(libc::EINVAL))
    }
}

impl UringRing<NvmeCommands> {
    /// A ring for one worker of `depth` over generic nodes of namespaces. Call on the thread that will use it.
    ///
    /// It reads a block before anything else: what a kernel refuses of commands it refuses of each.
    pub fn commanding(
        commands: Commands,
        clock: Clock,
        files: Arc<OpenFiles>,
        payload: Payload,
        depth: u32,
        options: UringOptions,
    ) -> Result<UringRing<NvmeCommands>, EngineError> {
        let path = files.0[0].path.clone();
        let mut ring = UringRing::asking(NvmeCommands(commands), clock, files, payload, depth, options)?;
        let outcome = ring.probe()?;
        let refused = match outcome.result() {
            Err(errno) if DeviceStatus::of(errno).is_none() => errno,
            _ => return Ok(ring),
        };
        if let Some(refusal) = polling_refused(outcome).filter(|_| options.iopoll) {
            return Err(refusal);
        }
        let reason = format!(
            "a read by IORING_OP_URING_CMD failed: {}; it needs Linux 6.1 and CAP_SYS_ADMIN, or use `engine = \"io_uring\"` on \
             the block device",
            std::io::Error::from_raw_os_error(refused.0)
        );
        Err(EngineError::Incapable { path, what: "engine = \"nvme\"", reason })
    }
}

/// An NVMe command, its double words numbered as in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Command {
    operation: u8,
    /// Double words 10 to 12.
    words: [u32; 3],
    has_data: bool,
}

impl Command {
    fn of(commands: Commands, op: Op, at: u64, blocks: u32) -> Command {
        /// Force unit access, in word 12; deallocate, in word 11 of Dataset Management.
        const FUA: u32 = 1 << 30;
        const DEALLOCATE: u32 = 1 << 2;
        let fua = |is_asked: bool| if is_asked { FUA } else { 0 };
        let (operation, flags, has_data) = match (op, commands.write) {
            (Op::Flush, _) => return Command { operation: 0x00, words: [0; 3], has_data: false },
            (Op::Trim, _) => return Command { operation: 0x09, words: [0, DEALLOCATE, 0], has_data: true },
            (Op::Read, _) => (0x02, fua(commands.read_fua), true),
            (Op::Write, WriteCommand::WriteUncorrectable) => (0x04, 0, false),
            (Op::Write, WriteCommand::Compare) => (0x05, 0, true),
            (Op::Write, WriteCommand::WriteZeroes) => (0x08, 0, false),
            (Op::Write, WriteCommand::Verify) => (0x0c, 0, false),
            // The others are those of SCSI, which a plan does not ask for here.
            (Op::Write, _) => (0x01, fua(commands.write_fua), true),
        };
        debug_assert!((1..=65_536).contains(&blocks), "a command counts blocks in 16 bits, from one on");
        let low = narrow::<u32>(at & u64::from(u32::MAX));
        Command { operation, words: [low, narrow::<u32>(at >> 32), flags | (blocks - 1) & 0xffff], has_data }
    }

    /// `struct nvme_uring_cmd`, padded to what an entry of 128 bytes has room for.
    fn bytes(self, namespace: u32, data: u64, len: u32) -> [u8; 80] {
        let mut bytes = [0; 80];
        bytes[0] = self.operation;
        bytes[4..8].copy_from_slice(&namespace.to_ne_bytes());
        bytes[24..32].copy_from_slice(&data.to_ne_bytes());
        bytes[36..40].copy_from_slice(&len.to_ne_bytes());
        for (number, word) in self.words.into_iter().enumerate() {
            bytes[40 + 4 * number..44 + 4 * number].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// The range of Dataset Management: attributes, blocks, the first of them.
fn range(at: u64, blocks: u32) -> [u8; RANGE as usize] {
    let mut range = [0; RANGE as usize];
    range[4..8].copy_from_slice(&blocks.to_le_bytes());
    range[8..].copy_from_slice(&at.to_le_bytes());
    range
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn words(commands: Commands, op: Op) -> (u8, [u32; 3], bool) {
        let Command { operation, words, has_data } = Command::of(commands, op, (3 << 32) + 5, 8);
        (operation, words, has_data)
    }

    #[test]
    fn each_command_has_the_words_of_the_specification() {
        use WriteCommand::{Compare, Verify, Write, WriteUncorrectable, WriteZeroes};
        let blocks = [5, 3, 7];
        for (op, write, expected) in [
            (Op::Read, Write, (0x02, blocks, true)),
            (Op::Write, Write, (0x01, blocks, true)),
            (Op::Write, WriteUncorrectable, (0x04, blocks, false)),
            (Op::Write, Compare, (0x05, blocks, true)),
            (Op::Write, WriteZeroes, (0x08, blocks, false)),
            (Op::Write, Verify, (0x0c, blocks, false)),
            (Op::Flush, Write, (0x00, [0; 3], false)),
            (Op::Trim, Write, (0x09, [0, 4, 0], true)),
        ] {
            assert_eq!(words(Commands { write, ..Commands::default() }, op), expected, "{op:?} {write}");
        }
        let fua = Commands { read_fua: true, write_fua: true, ..Commands::default() };
        assert_eq!(words(fua, Op::Read).1[2], 0x4000_0007);
        assert_eq!(words(fua, Op::Write).1[2], 0x4000_0007);
        let none = Commands { write: WriteCommand::WriteZeroes, ..fua };
        assert_eq!(words(none, Op::Write).1[2], 7);
        let one = Commands { write_fua: false, ..fua };
        assert_eq!([words(one, Op::Read).1[2], words(one, Op::Write).1[2]], [0x4000_0007, 7]);
        let most = Command::of(Commands::default(), Op::Read, 0, 65_536);
        assert_eq!(most.words[2], 0xffff);
    }

    #[test]
    fn a_command_lies_in_the_kernels_structure() {
        let command = Command { operation: 2, words: [10, 11, 12], has_data: true };
        let bytes = command.bytes(0x0102_0304, 0x1122_3344_5566_7788, 4096);
        let number =
            |place: usize| u32::from_ne_bytes(bytes[place..place + 4].try_into().expect("four bytes"));
        assert_eq!((bytes[0], number(4), number(36)), (2, 0x0102_0304, 4096));
        assert_eq!(u64::from_ne_bytes(bytes[24..32].try_into().expect("eight")), 0x1122_3344_5566_7788);
        assert_eq!([40, 44, 48, 52].map(number), [10, 11, 12, 0]);
        assert_eq!(range(1 << 32, 16), [0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn what_is_not_of_whole_blocks_ends_without_a_command() {
        let file = tempfile::tempfile().expect("there is room");
        let addressing = Some(Addressing { block: Bytes::new(4096), namespace: 1 });
        let open = OpenFile { path: "a device".into(), file, is_block_device: true, addressing };
        let request = |len| Request { len, ..crate::engine::fixture::request(Op::Read, 0) };
        assert_eq!([4096, 6144].map(|len| NvmeCommands::is_apart(&request(len), &open)), [false, true]);
        let ended = NvmeCommands::execute(&request(6144), &open);
        assert_eq!(ended, Outcome::failed(Errno(libc::EINVAL)));
    }

    #[test]
    fn what_the_drive_says_is_no_error_of_the_system() {
        let ended = |result| NvmeCommands::outcome(result, false, 4096);
        assert_eq!(ended(0), Outcome::moved(4096));
        assert_eq!(ended(-5), Outcome::failed(Errno(5)));
        assert_eq!(ended(0x4281), Outcome::failed(DeviceStatus::Nvme(0x4281).errno()));
    }
}
