//! SCSI commands in place of system calls on data, each sent by `SG_IO` and waited for.
//!
//! **Invariant:** a request that is not of whole logical blocks is sent as no command.
//!
//! Source: SBC-4, 5 (READ, WRITE, VERIFY, WRITE AND VERIFY, WRITE SAME, UNMAP, SYNCHRONIZE CACHE); SPC-5, 6 (TEST UNIT
//! READY).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use units::Bytes;
use units::convert::narrow;
use workload::spec::{Commands, WriteCommand};
use workload::{DeviceStatus, Errno, Op, Outcome, Request};

use super::OpenFile;
use crate::scsi::{Answer, Data, send};
use crate::target::{Device, DeviceKind};

/// How long a command may take; whoever waits longer waits for a drive that is gone.
const TIMEOUT_MS: u32 = 60_000;

/// A command descriptor block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Command {
    bytes: [u8; 16],
    len: usize,
}

/// How much of the data of a request moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    None,
    /// Its first block, for as many as the command covers.
    Block,
    All,
}

/// Says no to a device that takes no SCSI commands, or none of which a number of a block means what it means here.
pub(super) fn serves(device: &Device) -> Result<(), String> {
    let is_scsi = device.folder.join("device/scsi_level").exists();
    match device.kind {
        DeviceKind::Partition { .. } => {
            Err("commands count blocks from the start of the disk: name the whole disk".into())
        }
        DeviceKind::Disk if is_scsi => Ok(()),
        _ => Err("it is no SCSI disk: /dev/sdX or its /dev/sgN is needed; `lsscsi -g` shows them".into()),
    }
}

/// Asks whether the device is ready, so that what it has to say of its own accord (UNIT ATTENTION) falls on no request.
pub(super) fn ready(device: &File) -> Result<(), String> {
    const TRIES: usize = 4;
    let mut said = String::new();
    for _ in 0..TRIES {
        let asked = send(device, &mut [0; 6], Data::None, TIMEOUT_MS);
        match asked.map(|answer| outcome(&answer, 0)) {
            Ok(ended) => match ended.result() {
                Ok(_) => return Ok(()),
                Err(errno) => said = told(errno),
            },
            Err(error) => return Err(format!("it takes no SG_IO: {error}")),
        }
    }
    Err(format!("TEST UNIT READY: {said}"))
}

fn told(errno: Errno) -> String {
    DeviceStatus::of(errno)
        .map_or_else(|| io::Error::from_raw_os_error(errno.0).to_string(), |answer| answer.to_string())
}

/// The logical block of an open device, which is what its commands count in.
pub(super) fn block_of(device: &File) -> io::Result<Bytes> {
    /// `BLKSSZGET` of linux/fs.h, `_IO(0x12, 104)`.
    const BLKSSZGET: libc::Ioctl = 0x1268;
    let mut size: libc::c_int = 0;
    // SAFETY: the call writes an int behind the pointer, which lives through it.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), BLKSSZGET, &raw mut size) };
    match u64::try_from(size) {
        Ok(size) if result == 0 && size > 0 => Ok(Bytes::new(size)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// One request from start to end.
pub(super) fn execute(open: &OpenFile, commands: Commands, request: &Request, bytes: &mut [u8]) -> Outcome {
    let Some((at, blocks)) = open.blocks_of(request) else { return Outcome::failed(Errno(libc::EINVAL)) };
    let block = open.addressing.map_or(0, |addressing| narrow::<usize>(addressing.block.get()));
    debug_assert_eq!(
        bytes.len(),
        request.len as usize,
        "a request must have as much data as its length says"
    );
    let (mut command, moves) = command(commands, request.op, at, blocks);
    let unmapped = unmap_list(at, blocks);
    let data = match (request.op, moves) {
        (Op::Trim, _) => Data::Out(&unmapped),
        (_, Moves::None) => Data::None,
        (Op::Read, _) => Data::In(bytes),
        (_, Moves::Block) => Data::Out(&bytes[..block]),
        (_, Moves::All) => Data::Out(bytes),
    };
    match send(&open.file, &mut command.bytes[..command.len], data, TIMEOUT_MS) {
        Ok(answer) => outcome(&answer, request.len),
        Err(error) => Outcome::failed(Errno(error.raw_os_error().unwrap_or(libc::EIO))),
    }
}

/// How a request of `len` bytes has ended. What was read or written with an effort (RECOVERED ERROR) went well.
fn outcome(answer: &Answer, len: u32) -> Outcome {
    /// Of the midlayer: the command took too long (scsi/scsi_status.h, `DID_TIME_OUT`).
    const TIMED_OUT: u16 = 3;
    let (key, code, qualifier) = answer.sense();
    const RECOVERED: u8 = 1;
    match (answer.host, answer.status) {
        (TIMED_OUT, _) => Outcome::failed(Errno(libc::ETIMEDOUT)),
        (1.., _) => Outcome::failed(Errno(libc::EIO)),
        (0, 0) => Outcome::moved(len.saturating_sub(answer.left)),
        (0, _) if key == RECOVERED => Outcome::moved(len.saturating_sub(answer.left)),
        (0, status) => Outcome::failed(DeviceStatus::Scsi { status, key, code, qualifier }.errno()),
    }
}

/// The command of a request for so many blocks from block `at` on, and what moves with it: of ten bytes where numbers fit
/// them, as an older drive wants it, and of sixteen otherwise.
fn command(commands: Commands, op: Op, at: u64, blocks: u32) -> (Command, Moves) {
    const FUA: u8 = 0x08;
    // BYTCHK 01 and 11 of VERIFY, and NDOB of WRITE SAME (16).
    const COMPARED: u8 = 0x02;
    const COMPARED_BLOCK: u8 = 0x06;
    const NO_DATA_OUT: u8 = 0x01;
    let fua = |is_asked: bool| if is_asked { FUA } else { 0 };
    assert!(blocks > 0 || op == Op::Flush, "no blocks would be all of them in some commands");
    let ([short, long], flags, moves) = match (op, commands.write) {
        (Op::Read, _) => ([0x28, 0x88], fua(commands.read_fua), Moves::All),
        (Op::Flush, _) => return (Command::of(&[0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Moves::None),
        (Op::Trim, _) => {
            return (Command::of(&[0x42, 0, 0, 0, 0, 0, 0, 0, UNMAP_LIST, 0]), Moves::All);
        }
        // The last is one of NVMe, which a plan does not ask for here.
        (Op::Write, WriteCommand::Write | WriteCommand::WriteUncorrectable) => {
            ([0x2a, 0x8a], fua(commands.write_fua), Moves::All)
        }
        (Op::Write, WriteCommand::WriteAndVerify) => ([0x2e, 0x8e], 0, Moves::All),
        (Op::Write, WriteCommand::WriteSame) => ([0x41, 0x93], 0, Moves::Block),
        // The bit is one of the long form alone.
        (Op::Write, WriteCommand::WriteZeroes) => ([0x93, 0x93], NO_DATA_OUT, Moves::None),
        (Op::Write, WriteCommand::Verify) => ([0x2f, 0x8f], 0, Moves::None),
        (Op::Write, WriteCommand::Compare) => ([0x2f, 0x8f], COMPARED, Moves::All),
        (Op::Write, WriteCommand::CompareSame) => ([0x2f, 0x8f], COMPARED_BLOCK, Moves::Block),
    };
    let command = match (u32::try_from(at), u16::try_from(blocks)) {
        (Ok(at), Ok(blocks)) if short != long => Command::short(short, flags, at, blocks),
        _ => Command::long(long, flags, at, blocks),
    };
    (command, moves)
}

impl Command {
    fn of(bytes: &[u8]) -> Command {
        debug_assert!(matches!(bytes.len(), 6 | 10 | 12 | 16), "a command must have a length that there is");
        let mut command = Command { bytes: [0; 16], len: bytes.len() };
        command.bytes[..bytes.len()].copy_from_slice(bytes);
        command
    }

    /// Ten bytes: the address in 32 bits, the length in 16.
    fn short(operation: u8, flags: u8, at: u32, blocks: u16) -> Command {
        let mut command = Command::of(&[operation, flags, 0, 0, 0, 0, 0, 0, 0, 0]);
        command.bytes[2..6].copy_from_slice(&at.to_be_bytes());
        command.bytes[7..9].copy_from_slice(&blocks.to_be_bytes());
        command
    }

    /// Sixteen bytes: the address in 64 bits, the length in 32.
    fn long(operation: u8, flags: u8, at: u64, blocks: u32) -> Command {
        let mut command = Command { bytes: [0; 16], len: 16 };
        (command.bytes[0], command.bytes[1]) = (operation, flags);
        command.bytes[2..10].copy_from_slice(&at.to_be_bytes());
        command.bytes[10..14].copy_from_slice(&blocks.to_be_bytes());
        command
    }
}

/// Bytes of the parameter list of UNMAP with one descriptor.
const UNMAP_LIST: u8 = 24;

/// The parameter list of UNMAP: what follows its first two bytes, what follows the header, and one range.
fn unmap_list(at: u64, blocks: u32) -> [u8; UNMAP_LIST as usize] {
    let mut list = [0; UNMAP_LIST as usize];
    (list[1], list[3]) = (UNMAP_LIST - 2, UNMAP_LIST - 8);
    list[8..16].copy_from_slice(&at.to_be_bytes());
    list[16..20].copy_from_slice(&blocks.to_be_bytes());
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(commands: Commands, op: Op, at: u64, blocks: u32) -> (Vec<u8>, Moves) {
        let (command, moves) = command(commands, op, at, blocks);
        (command.bytes[..command.len].to_vec(), moves)
    }

    fn writes(write: WriteCommand) -> Commands {
        Commands { write, ..Commands::default() }
    }

    #[test]
    fn each_command_has_the_bytes_of_the_standard() {
        use WriteCommand::{Compare, CompareSame, Verify, Write, WriteAndVerify, WriteSame, WriteZeroes};
        let short = |operation, flags| vec![operation, flags, 0x01, 0x02, 0x03, 0x04, 0, 0x01, 0x00, 0];
        for (op, write, bytes, moves) in [
            (Op::Read, Write, short(0x28, 0), Moves::All),
            (Op::Write, Write, short(0x2a, 0), Moves::All),
            (Op::Write, WriteAndVerify, short(0x2e, 0), Moves::All),
            (Op::Write, WriteSame, short(0x41, 0), Moves::Block),
            (Op::Write, Verify, short(0x2f, 0), Moves::None),
            (Op::Write, Compare, short(0x2f, 2), Moves::All),
            (Op::Write, CompareSame, short(0x2f, 6), Moves::Block),
            (Op::Write, WriteZeroes, vec![0x93, 1, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 1, 0, 0, 0], Moves::None),
            (Op::Flush, Write, vec![0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0], Moves::None),
            (Op::Trim, Write, vec![0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0], Moves::All),
        ] {
            assert_eq!(sent(writes(write), op, 0x0102_0304, 0x100), (bytes, moves), "{op:?} {write}");
        }
    }

    #[test]
    fn what_ten_bytes_cannot_hold_is_sent_in_sixteen() {
        let long = |operation, flags| {
            let mut bytes = vec![operation, flags, 0, 0, 0, 1, 0, 0, 0, 2];
            bytes.extend([0, 0, 0, 8, 0, 0]);
            bytes
        };
        for (op, write, operation, flags) in [
            (Op::Read, WriteCommand::Write, 0x88, 0),
            (Op::Write, WriteCommand::Write, 0x8a, 0),
            (Op::Write, WriteCommand::WriteAndVerify, 0x8e, 0),
            (Op::Write, WriteCommand::WriteSame, 0x93, 0),
            (Op::Write, WriteCommand::Verify, 0x8f, 0),
            (Op::Write, WriteCommand::Compare, 0x8f, 2),
            (Op::Write, WriteCommand::CompareSame, 0x8f, 6),
        ] {
            assert_eq!(sent(writes(write), op, (1 << 32) + 2, 8).0, long(operation, flags), "{op:?} {write}");
        }
        let reads = |at, blocks| sent(Commands::default(), Op::Read, at, blocks).0[0];
        assert_eq!([reads(u32::MAX.into(), 65_535), reads(0, 65_536)], [0x28, 0x88]);
    }

    #[test]
    fn force_unit_access_is_a_bit_of_reads_and_of_plain_writes() {
        let commands = Commands { read_fua: true, write_fua: true, ..Commands::default() };
        assert_eq!((sent(commands, Op::Read, 0, 1).0[1], sent(commands, Op::Write, 0, 1).0[1]), (8, 8));
        let one = Commands { write_fua: false, ..commands };
        assert_eq!((sent(one, Op::Read, 0, 1).0[1], sent(one, Op::Write, 0, 1).0[1]), (8, 0));
        let other = Commands { read_fua: false, ..commands };
        assert_eq!((sent(other, Op::Read, 0, 1).0[1], sent(other, Op::Write, 0, 1).0[1]), (0, 8));
        for (write, flags) in
            [(WriteCommand::WriteAndVerify, 0), (WriteCommand::WriteSame, 0), (WriteCommand::Compare, 2)]
        {
            assert_eq!(sent(Commands { write, ..commands }, Op::Write, 0, 1).0[1], flags, "{write}");
        }
    }

    #[test]
    fn a_range_that_is_given_back_stands_in_the_list_of_unmap() {
        let mut list = [0u8; 24];
        (list[1], list[3], list[11], list[15], list[19]) = (22, 16, 1, 2, 16);
        assert_eq!(unmap_list((1 << 32) + 2, 16), list);
    }

    #[test]
    fn a_command_that_fails_tells_what_the_device_said() {
        let answer = |status, host, sense: &[(usize, u8)]| {
            let mut bytes = [0u8; 32];
            sense.iter().for_each(|(place, byte)| bytes[*place] = *byte);
            outcome(&Answer { status, host, left: 0, sense: bytes }, 4096)
        };
        assert_eq!(answer(0, 0, &[]), Outcome::moved(4096));
        assert_eq!(answer(2, 0, &[(0, 0x70), (2, 1), (12, 0x18)]), Outcome::moved(4096));
        assert_eq!(answer(0, 3, &[]), Outcome::failed(Errno(libc::ETIMEDOUT)));
        assert_eq!(answer(0, 1, &[]), Outcome::failed(Errno(libc::EIO)));
        let failed = answer(2, 0, &[(0, 0x70), (2, 3), (12, 0x11)]).result().unwrap_err();
        assert!(told(failed).contains("MEDIUM ERROR"), "{}", told(failed));
        let short = Answer { status: 0, host: 0, left: 512, sense: [0; 32] };
        assert_eq!(outcome(&short, 4096), Outcome::moved(3584));
    }

    #[test]
    fn only_a_whole_scsi_disk_takes_commands() {
        let machine = crate::fixture::Fixture::new();
        let look = |devno| Device::read(&machine.root(), devno).expect("the fixture has it");
        let sda = machine.disk("sda", "8:0", 4096);
        assert!(serves(&look(sda)).expect_err("it has no SCSI level").contains("/dev/sgN"));
        machine.write("sys/block/sda/device/scsi_level", "6\n");
        assert_eq!(serves(&look(sda)), Ok(()));
        let part = machine.partition("sda", "sda1", "8:1", 1);
        assert!(serves(&look(part)).expect_err("it begins elsewhere").contains("whole disk"));
    }

    #[test]
    fn what_takes_no_commands_is_told_before_the_first_request() {
        let file = tempfile::tempfile().expect("there is room");
        assert!(ready(&file).expect_err("a file is no device").contains("SG_IO"));
        assert!(block_of(&file).is_err());
    }
}
