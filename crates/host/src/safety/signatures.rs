//! What a device already carries: partition tables, file systems, members of sets. Looked for, never touched.
//!
//! **Invariant:** reads only.
//!
//! A device without a known signature is not proven empty; it is only not known to be in use. Hence consent is
//! asked for all the same, and consent that speaks of data where it is not blank.
//!
//! The table is the floor: what it knows is found on every system. Above it libblkid is asked, where it is installed.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use units::Bytes;

use super::blkid;

/// A known content, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// In words, as `ext2, ext3 or ext4 file system`.
    pub name: Cow<'static, str>,
    /// Distance of its magic from the start.
    pub offset: Bytes,
}

/// Where a magic lies.
#[derive(Clone, Copy)]
enum At {
    Start(u64),
    End(u64),
}
use At::{End, Start};

type Row = (&'static str, At, &'static [u8]);

/// Content, place, magic. The comment beside each group names the document that fixes it.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    // UEFI specification 2.10, 5.3.2: in the second block and in the last, whatever the block size.
    ("GPT partition table", Start(512), b"EFI PART"),
    ("GPT partition table", Start(4096), b"EFI PART"),
    ("GPT partition table (backup)", End(512), b"EFI PART"),
    ("GPT partition table (backup)", End(4096), b"EFI PART"),
    // linux: fs/xfs/libxfs/xfs_format.h, XFS_SB_MAGIC
    ("XFS file system", Start(0), b"XFSB"),
    // linux: fs/btrfs/fs.h, BTRFS_SUPER_INFO_OFFSET 64 KiB, magic at 0x40 of it
    ("btrfs member", Start(0x1_0040), b"_BHRfS_M"),
    // LUKS2 on-disk format 1.1, 2.1: primary header, and the second one at its smallest distance
    ("LUKS encryption", Start(0), b"LUKS\xba\xbe"),
    ("LUKS encryption (second header)", Start(0x4000), b"SKUL\xba\xbe"),
    // lvm2: lib/format_text/layout.h and lib/label/label.h: the label is in one of the first four sectors
    ("LVM2 physical volume", Start(0), b"LABELONE"),
    ("LVM2 physical volume", Start(512), b"LABELONE"),
    ("LVM2 physical volume", Start(1024), b"LABELONE"),
    ("LVM2 physical volume", Start(1536), b"LABELONE"),
    // linux: include/uapi/linux/raid/md_p.h, MD_SB_MAGIC 0xa92b4efc, version 1 is little-endian
    ("md RAID member (1.1)", Start(0), b"\xfc\x4e\x2b\xa9"),
    ("md RAID member (1.2)", Start(4096), b"\xfc\x4e\x2b\xa9"),
    // SNIA DDF 2.0, 4.2.1: anchor header in the last block
    ("DDF RAID member", End(512), b"\xde\x11\xde\x11"),
    // mdadm: super-intel.c, MPB_SIGNATURE in the last sector but one
    ("Intel RAID member", End(1024), b"Intel Raid ISM Cfg Sig. "),
    // linux: include/linux/swap.h, union swap_header: the last ten bytes of the first page (4 and 64 KiB pages)
    ("swap space", Start(4086), b"SWAPSPACE2"),
    ("swap space", Start(4086), b"SWAP-SPACE"),
    ("swap space", Start(65526), b"SWAPSPACE2"),
    // linux: kernel/power/swap.c, SWSUSP_SIG
    ("hibernated system", Start(4086), b"S1SUSPEND"),
    // linux: drivers/md/bcache/bcache_ondisk.h: superblock in sector 8, magic 24 bytes into it
    ("bcache member", Start(4120), b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    // linux: fs/bcachefs/bcachefs_format.h, BCHFS_MAGIC
    ("bcachefs member", Start(4120), b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    // linux: fs/ntfs3/ntfs.h, struct NTFS_BOOT; exFAT specification 3.1.2; Microsoft ReFS and BitLocker boot sectors
    ("NTFS file system", Start(3), b"NTFS    "),
    ("exFAT file system", Start(3), b"EXFAT   "),
    ("ReFS file system", Start(3), b"ReFS\0"),
    ("BitLocker encryption", Start(3), b"-FVE-FS-"),
    // Microsoft FAT specification (fatgen103), BS_FilSysType
    ("FAT file system", Start(54), b"FAT12   "),
    ("FAT file system", Start(54), b"FAT16   "),
    ("FAT file system", Start(82), b"FAT32   "),
    // ECMA-119, 8.1.2: volume descriptors from sector 16 of 2048 bytes; ECMA-167 2/9.1.2
    ("ISO 9660 file system", Start(32769), b"CD001"),
    ("UDF file system", Start(32769), b"BEA01"),
    // linux: include/linux/f2fs_fs.h, F2FS_SUPER_OFFSET 1024, F2FS_SUPER_MAGIC 0xF2F52010
    ("F2FS file system", Start(1024), b"\x10\x20\xf5\xf2"),
    // linux: include/uapi/linux/nilfs2_ondisk.h: revision 2.0, then NILFS_SUPER_MAGIC
    ("NILFS2 file system", Start(1024), b"\x02\0\0\0\0\0\x34\x34"),
    // linux: fs/erofs/erofs_fs.h and fs/squashfs/squashfs_fs.h
    ("EROFS file system", Start(1024), b"\xe2\xe1\xf5\xe0"),
    ("SquashFS file system", Start(0), b"hsqs"),
    // linux: fs/jfs/jfs_superblock.h and jfs_filsys.h, SUPER1_OFF
    ("JFS file system", Start(32768), b"JFS1"),
    // linux 6.12: fs/reiserfs/reiserfs.h, REISERFS_DISK_OFFSET_IN_BYTES, s_magic 52 bytes into it
    ("ReiserFS file system", Start(65588), b"ReIsEr"),
    // linux: include/uapi/linux/gfs2_ondisk.h, GFS2_SB_ADDR 128 sectors, GFS2_MAGIC
    ("GFS2 file system", Start(65536), b"\x01\x16\x19\x70"),
    // linux: fs/ocfs2/ocfs2_fs.h: superblock in block 2, of 512 to 4096 bytes
    ("OCFS2 file system", Start(1024), b"OCFSV2"),
    ("OCFS2 file system", Start(2048), b"OCFSV2"),
    ("OCFS2 file system", Start(4096), b"OCFSV2"),
    ("OCFS2 file system", Start(8192), b"OCFSV2"),
    // Apple TN1150 (versions 4 and 5) and Apple File System Reference, nx_magic
    ("HFS+ file system", Start(1024), b"H+\0\x04"),
    ("HFSX file system", Start(1024), b"HX\0\x05"),
    ("APFS container", Start(32), b"NXSB"),
    // vmfs-tools: vmfs_volume.h and vmfs_fs.h: 1 MiB and 2 MiB from the start
    ("VMFS volume", Start(1 << 20), b"\x0d\xd0\x01\xc0"),
    ("VMFS file system", Start(2 << 20), b"\x5e\xf1\xab\x2f"),
    // oracleasm-support: include/linux/oracleasm/disk.h, ASM_DISK_LABEL
    ("Oracle ASM disk", Start(32), b"ORCLDISK"),
    // ceph: src/os/bluestore/BlueStore.cc, _write_bdev_label
    ("Ceph BlueStore disk", Start(0), b"bluestore block device"),
    // linux: drivers/md/dm-integrity.c, dm-snap-persistent.c, dm-vdo/ (geometry block)
    ("dm-integrity volume", Start(0), b"integrt\0"),
    ("device-mapper snapshot store", Start(0), b"SnAp"),
    ("VDO volume", Start(0), b"dmvdo001"),
    // cryptsetup: lib/verity/verity.c
    ("dm-verity hash device", Start(0), b"verity\0\0"),
    // FreeBSD: sys/sys/disklabel.h, DISKMAGIC 0x82564557 in the second sector
    ("BSD disk label", Start(512), b"WEV\x82"),
    // linux: arch/s390/include/uapi/asm/vtoc.h: the volume label in the third block of 4096, in EBCDIC
    ("DASD volume label (CDL)", Start(8192), b"\xe5\xd6\xd3\xf1\xe5\xd6\xd3\xf1"),
    ("DASD volume label (LDL)", Start(8192), b"\xd3\xd5\xe7\xf1"),
    // scoutfs: format.h, SCOUTFS_BLOCK_MAGIC_SUPER 0x103c428b, four bytes into block 16 of 4096
    ("ScoutFS member", Start(65540), b"\x8b\x42\x3c\x10"),
    // cryptsetup: lib/fvault2/fvault2.c, core storage magic and version 1
    ("FileVault encryption", Start(88), b"CS\x01\0"),
    // stratisd: src/engine/strat_engine/metadata/sizes.rs and bda.rs: sector 1, four bytes into it
    ("Stratis pool member", Start(516), b"!Stra0tis\x86\xff\x02^\x41rh"),
];

/// Every known signature on an open device or image of `size`: those of the table in its order, then those that libblkid
/// finds where it is installed and the table does not. Empty where none is known.
pub fn signatures(file: &File, size: Bytes) -> io::Result<Vec<Signature>> {
    let mut found = of_table(file, size)?;
    for other in blkid::signatures(file) {
        if !found.iter().any(|known| known.offset == other.offset) {
            found.push(other);
        }
    }
    Ok(found)
}

fn of_table(file: &File, size: Bytes) -> io::Result<Vec<Signature>> {
    let mut found = Vec::new();
    for (name, at, magic) in TABLE {
        let offset = match at {
            Start(offset) => Some(*offset),
            End(distance) => size.get().checked_sub(*distance),
        };
        if let Some(offset) = offset
            && has(file, offset, magic)?
        {
            found.push(Signature { name: Cow::Borrowed(name), offset: Bytes::new(offset) });
        }
    }
    for check in [mbr, ext, md_at_the_end, zfs] {
        found.extend(check(file, size)?);
    }
    Ok(found)
}

/// Master boot record, or a boot sector that looks like one: the mark, and four boot flags that are either on or off.
///
/// The flags are asked for as well because two bytes alone turn up in random data once in 65536.
/// Source: UEFI specification 2.10, 5.2.1.
fn mbr(file: &File, _: Bytes) -> io::Result<Option<Signature>> {
    let sector = read(file, 0, 512)?;
    let flags_fit = |sector: &[u8]| [446, 462, 478, 494].iter().all(|at| matches!(sector[*at], 0 | 0x80));
    let there = sector.len() == 512 && sector[510..] == [0x55, 0xaa] && flags_fit(&sector);
    Ok(there
        .then_some(Signature { name: "MBR partition table or boot sector".into(), offset: Bytes::new(510) }))
}

/// ext2, ext3, ext4: the magic, and a block size and a revision that can be.
///
/// Source: linux, fs/ext4/ext4.h, struct ext4_super_block: log of the block size at 24, magic at 56, revision at 76.
fn ext(file: &File, _: Bytes) -> io::Result<Option<Signature>> {
    let block = read(file, 1024, 80)?;
    let there =
        block.len() == 80 && block[56..58] == [0x53, 0xef] && le32(&block, 24) <= 6 && le32(&block, 76) <= 1;
    Ok(there.then_some(Signature { name: "ext2, ext3 or ext4 file system".into(), offset: Bytes::new(1080) }))
}

/// md superblocks that lie near the end: version 0.90 in the last whole 64 KiB but one, of either byte order, and 1.0
/// eight KiB from the end.
///
/// Source: linux, include/uapi/linux/raid/md_p.h (MD_NEW_SIZE_SECTORS) and drivers/md/md.c (super_1_load).
fn md_at_the_end(file: &File, size: Bytes) -> io::Result<Option<Signature>> {
    let old = (size.get() & !0xffff).checked_sub(0x1_0000);
    let new = (size.get() / 512).checked_sub(16).map(|sector| (sector & !7) * 512);
    for (offset, name) in [(old, "md RAID member (0.90)"), (new, "md RAID member (1.0)")] {
        let Some(offset) = offset else { continue };
        if has(file, offset, b"\xfc\x4e\x2b\xa9")? || has(file, offset, b"\xa9\x2b\x4e\xfc")? {
            return Ok(Some(Signature { name: name.into(), offset: Bytes::new(offset) }));
        }
    }
    Ok(None)
}

/// A ZFS label: four of 256 KiB, two at each end; each has a name/value list at 16 KiB, which starts with `version`,
/// and a ring of uberblocks at 128 KiB.
///
/// Source: ZFS On-Disk Specification, chapter 1; openzfs, include/sys/uberblock_impl.h (0x00bab10c).
fn zfs(file: &File, size: Bytes) -> io::Result<Option<Signature>> {
    const LABEL: u64 = 256 << 10;
    let whole = size.round_down(Bytes::new(LABEL)).get();
    let labels = [Some(0), Some(LABEL), whole.checked_sub(2 * LABEL), whole.checked_sub(LABEL)];
    for label in labels.into_iter().flatten() {
        let found = |offset| Some(Signature { name: "ZFS pool member".into(), offset: Bytes::new(offset) });
        // After the XDR head: encoding, version, flags, two sizes, length of the name (six words, the first 4 bytes).
        if has(file, label + (16 << 10) + 24, b"version\0")? {
            return Ok(found(label + (16 << 10)));
        }
        let ring = read(file, label + (128 << 10), 128 << 10)?;
        let marked = |block: &[u8]| {
            block[..8] == 0xba_b10cu64.to_le_bytes() || block[..8] == 0xba_b10cu64.to_be_bytes()
        };
        if let Some(slot) = ring.chunks_exact(1024).position(marked) {
            return Ok(found(label + (128 << 10) + slot as u64 * 1024));
        }
    }
    Ok(None)
}

fn has(file: &File, offset: u64, magic: &[u8]) -> io::Result<bool> {
    assert!(!magic.is_empty(), "a magic without a byte would be found everywhere");
    Ok(read(file, offset, magic.len())? == magic)
}

/// The bytes at `offset`, fewer where the device ends before.
pub(super) fn read(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    filled(length, |bytes, at| file.read_at(bytes, offset + at as u64))
}

/// What `read` puts into `length` bytes from place to place, until they are full or it gives no more. A call that a
/// signal interrupted is made again.
fn filled(length: usize, mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match read(&mut bytes[filled..], filled) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    assert!(filled <= length, "no more can be read than there is room for");
    bytes.truncate(filled);
    Ok(bytes)
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(crate::bytes_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(size: Bytes, writes: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        file.set_len(size.get()).expect("the file is ours");
        for (offset, bytes) in writes {
            file.write_all_at(bytes, *offset).expect("the file is ours");
        }
        file
    }

    fn found(size: Bytes, writes: &[(u64, &[u8])]) -> Vec<String> {
        let found = of_table(&image(size, writes), size).expect("it can be read");
        found.into_iter().map(|signature| signature.name.into_owned()).collect()
    }

    const SIZE: Bytes = Bytes::new(8 << 20);

    #[test]
    fn every_row_of_the_table_is_found_where_it_says() {
        for (name, at, magic) in TABLE {
            let offset = match at {
                Start(offset) => *offset,
                End(distance) => SIZE.get() - distance,
            };
            assert!(found(SIZE, &[(offset, magic)]).contains(&(*name).to_owned()), "{name} at {offset}");
            assert!(
                !found(SIZE, &[(offset + 1, magic)]).contains(&(*name).to_owned()),
                "{name} one byte too far"
            );
        }
    }

    #[test]
    fn what_libblkid_finds_is_added_where_the_table_knows_nothing_of_that_place() {
        // Another than the call under test says whether it is installed.
        // SAFETY: libblkid runs nothing when it is loaded.
        if unsafe { libloading::Library::new("libblkid.so.1") }.is_err() {
            return;
        }
        let told = |writes: &[(u64, &[u8])]| -> Vec<(String, u64)> {
            let found = signatures(&image(SIZE, writes), SIZE).expect("it can be read");
            found.into_iter().map(|one| (one.name.into_owned(), one.offset.get())).collect()
        };
        let pages = [1u32.to_le_bytes(), 2_047u32.to_le_bytes()].concat();
        let swap: [(u64, &[u8]); 2] = [(4086, b"SWAPSPACE2"), (1024, &pages)];
        assert_eq!(told(&swap), [("swap space".into(), 4086)], "both know it, and it is told once");
        let veritas: (u64, &[u8]) = (1024, b"\xf5\xfc\x01\xa5");
        assert_eq!(told(&[veritas]), [("vxfs, by libblkid".into(), 1024)]);
        let both = [("md RAID member (1.1)".into(), 0), ("vxfs, by libblkid".into(), 1024)];
        assert_eq!(told(&[(0, b"\xfc\x4e\x2b\xa9"), veritas]), both);
    }

    #[test]
    fn places_that_the_table_computes_are_those_of_the_documents() {
        assert_eq!(found(SIZE, &[(1_048_576, b"\x0d\xd0\x01\xc0")]), ["VMFS volume"]);
        assert_eq!(found(SIZE, &[(2_097_152, b"\x5e\xf1\xab\x2f")]), ["VMFS file system"]);
    }

    #[test]
    fn zeros_and_noise_and_a_tiny_device_carry_nothing() {
        assert!(found(SIZE, &[]).is_empty());
        assert!(found(Bytes::ZERO, &[]).is_empty());
        assert!(found(Bytes::new(512), &[]).is_empty());
        let noise: Vec<u8> =
            (0..SIZE.get()).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        assert!(found(SIZE, &[(0, &noise)]).is_empty());
    }

    #[test]
    fn an_mbr_needs_its_flags_and_an_ext_its_revision() {
        assert_eq!(found(SIZE, &[(510, b"\x55\xaa")]), ["MBR partition table or boot sector"]);
        assert!(found(SIZE, &[(446, b"\x12"), (510, b"\x55\xaa")]).is_empty());
        assert_eq!(found(SIZE, &[(1080, b"\x53\xef")]), ["ext2, ext3 or ext4 file system"]);
        assert!(found(SIZE, &[(1080, b"\x53\xef"), (1100, b"\xff")]).is_empty());
    }

    #[test]
    fn a_read_that_a_signal_interrupted_is_made_again_and_short_ones_are_put_together() {
        let mut answers = vec![
            Ok(0),
            Ok(2),
            Err(io::ErrorKind::Interrupted.into()),
            Ok(3),
            Err(io::ErrorKind::Interrupted.into()),
        ];
        let mut asked = Vec::new();
        let read = |bytes: &mut [u8], at: usize| {
            asked.push((at, bytes.len()));
            let answer = answers.pop().expect("no call after the last answer");
            answer.inspect(|count| bytes[..*count].fill(9))
        };
        assert_eq!(filled(8, read).expect("nothing failed"), [9; 5]);
        assert_eq!(asked, [(0, 8), (0, 8), (3, 5), (3, 5), (5, 3)]);
        let mut calls = 0;
        let at_once = |bytes: &mut [u8], _| {
            calls += 1;
            Ok(bytes.len())
        };
        assert_eq!(
            (filled(8, at_once).expect("nothing failed"), calls),
            (vec![0; 8], 1),
            "it is full: no more"
        );
        let mut calls = 0;
        let failing = |_: &mut [u8], _| {
            calls += 1;
            assert!(calls < 9, "it is made again for ever");
            Err(io::Error::from_raw_os_error(libc::EIO))
        };
        assert_eq!(filled(8, failing).map_err(|error| error.raw_os_error()), Err(Some(libc::EIO)));
        let folder = File::open("/").expect("every system has one");
        assert!(of_table(&folder, SIZE).is_err(), "what cannot be read is not taken for blank");
    }

    #[test]
    fn a_signature_is_told_with_its_place() {
        let at = |size: Bytes, writes: &[(u64, &[u8])]| -> Vec<u64> {
            let found = of_table(&image(size, writes), size).expect("it can be read");
            found.into_iter().map(|signature| signature.offset.get()).collect()
        };
        let (list, label) = (b"version\0", 256u64 << 10);
        let (little, big) = (0xba_b10cu64.to_le_bytes(), 0xba_b10cu64.to_be_bytes());
        for start in [0, label, SIZE.get() - 2 * label, SIZE.get() - label] {
            assert_eq!(at(SIZE, &[(start + (16 << 10) + 24, list)]), [start + (16 << 10)]);
            for slot in [0, 1, 127] {
                let place = start + (128 << 10) + slot * 1024;
                assert_eq!(at(SIZE, &[(place, &little)]), [place]);
                assert_eq!(at(SIZE, &[(place, &big)]), [place]);
                assert_eq!(at(SIZE, &[(place + 512, &little)]), [] as [u64; 0]);
            }
        }
        for magic in [b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"] {
            assert_eq!(at(SIZE, &[(SIZE.get() - 65_536, magic)]), [SIZE.get() - 65_536]);
            assert_eq!(at(SIZE, &[(SIZE.get() - 8_192, magic)]), [SIZE.get() - 8_192]);
        }
        assert_eq!(at(SIZE, &[(510, b"\x55\xaa")]), [510]);
        assert_eq!(at(SIZE, &[(1080, b"\x53\xef")]), [1080]);
        // A device that ends within a label, and one that is smaller than any.
        assert_eq!(at(Bytes::new(label + 4096), &[(16 * 1024 + 24, list)]), [16 << 10]);
        // At the start it is one of version 1.1 as well.
        assert_eq!(at(Bytes::new(65_536), &[(0, b"\xfc\x4e\x2b\xa9")]), [0, 0]);
        assert_eq!(at(Bytes::new(8_192), &[(0, b"\xfc\x4e\x2b\xa9")]), [0, 0]);
    }

    #[test]
    fn the_largest_block_and_the_newest_revision_of_ext_are_known_and_none_beyond() {
        let magic: (u64, &[u8]) = (1080, b"\x53\xef");
        assert_eq!(found(SIZE, &[magic, (1048, b"\x06"), (1100, b"\x01")]).len(), 1);
        assert!(found(SIZE, &[magic, (1048, b"\x07")]).is_empty());
        assert!(found(SIZE, &[magic, (1100, b"\x02")]).is_empty());
        for at in 1049..=1051 {
            assert!(found(SIZE, &[magic, (at, b"\x01")]).is_empty(), "all four bytes count");
        }
        assert_eq!(found(SIZE, &[magic, (1047, b"\x01"), (1052, b"\x01")]).len(), 1, "and no other");
        for at in [446, 462, 478, 494] {
            assert_eq!(found(SIZE, &[(at, b"\x80"), (510, b"\x55\xaa")]).len(), 1);
            assert!(found(SIZE, &[(at, b"\x81"), (510, b"\x55\xaa")]).is_empty());
        }
        assert!(found(SIZE, &[(510, b"\x55\xab")]).is_empty());
    }

    #[test]
    fn md_superblocks_near_the_end_are_found_at_sizes_that_are_not_round() {
        let size = Bytes::new((8 << 20) + 5 * 512);
        let magic: &[u8] = b"\xfc\x4e\x2b\xa9";
        assert_eq!(found(size, &[((8 << 20) - 65536, magic)]), ["md RAID member (0.90)"]);
        // 16389 sectors: 16373 rounded down to a multiple of 8 is 16368.
        assert_eq!(found(size, &[(16368 * 512, magic)]), ["md RAID member (1.0)"]);
    }

    #[test]
    fn a_zfs_label_is_found_at_either_end_by_list_or_by_uberblock() {
        let list: &[u8] = b"version\0";
        let uberblock = 0xba_b10cu64.to_le_bytes();
        for writes in [
            (16 * 1024 + 24, list),
            (SIZE.get() - (256 << 10) + 16 * 1024 + 24, list),
            ((128 << 10) + 4096, &uberblock[..]),
        ] {
            assert_eq!(found(SIZE, &[writes]), ["ZFS pool member"]);
        }
    }
}
