//! Small drives in odd figures, to the nanosecond.

use super::super::super::SlcParams;
use super::super::reads::spread;
use super::*;

/// Four dies in small odd figures, so that each of them shows.
pub(super) fn small() -> FlashParams {
    FlashParams {
        over_provisioning: 0.5,
        channels: 2,
        dies_per_channel: 2,
        planes: 2,
        keeps_page: true,
        read_ahead: Bytes::ZERO,
        pages_per_block: 6,
        read_page: [10, 31].map(Nanos::from_micros).to_vec(),
        program_page: Nanos::from_micros(100),
        erase_block: Nanos::from_millis(1),
        channel: BytesPerSecond::new(2.048e9),
        command: Nanos::from_micros(5),
        write_command: Nanos::from_micros(5),
        command_gap: Nanos::from_micros(1),
        write_gap: Nanos::from_micros(1),
        link: BytesPerSecond::new(4.096e9),
        link_command: Nanos::new(300),
        write_buffer: Bytes::KIB * 128,
        protected: false,
        ..nvme()
    }
}

/// Every 37 us a command, two writes to a read, some of which continue where the one before ended: how late each is.
fn late(drive: &mut FlashDrive) -> (u64, u64) {
    let mut last = [0; 2];
    let late: Vec<u64> = (0..48u64)
        .map(|n| {
            let (write, sectors) = (n % 3 != 0, 5 << (n % 6));
            let kind = usize::from(write);
            let first = if n % 4 >= 2 { last[kind] } else { (n * 7_919 + 13) % 101 * 9 };
            last[kind] = first + sectors;
            let now = Instant::from_nanos(n * 37_000);
            (drive.submit(now, command(first, narrow::<u32>(sectors), write)) - now).get()
        })
        .collect();
    (late.iter().sum(), (1..).zip(&late).map(|(place, late)| place * late).sum())
}

#[test]
fn commands_take_what_their_pages_dies_channels_and_collections_take() {
    let suspends = FlashParams {
        suspend: Some(Nanos::from_micros(23)),
        planes: 1,
        write_buffer: Bytes::ZERO,
        ..small()
    };
    let tight =
        FlashParams { over_provisioning: 0.12, keeps_page: false, pages_per_block: 4, planes: 1, ..small() };
    // How late all are, each by its place, what the dies worked, have booked, a flush, all: computed apart from
    // this program.
    for (params, late_all, by_place, worked, beyond, flush, settle) in [
        (small(), 27_483_400, 898_353_850, 5_620_050, 8_138_950, 1_962_300, 2_507_800),
        (suspends, 75_224_150, 2_649_406_800, 6_626_050, 21_252_950, 5_000, 5_946_300),
        (tight, 225_374_400, 7_676_283_800, 6_500_300, 55_991_700, 13_604_800, 14_446_300),
    ] {
        let mut drive = FlashDrive::new(&params, 1);
        assert_eq!(late(&mut drive), (late_all, by_place));
        let now = Instant::from_nanos(48 * 37_000);
        let dies = drive.worked_by(now)[0].busy.get();
        assert_eq!((dies, drive.booked_beyond(now).get()), (worked, beyond));
        assert_eq!(
            ((drive.flush(now, Class::HostWrite) - now).get(), (drive.settle(now) - now).get()),
            (flush, settle)
        );
        assert_eq!((drive.servers(), drive.meter().total().count), (4, 48 + 1), "the flush is a visit");
        drive.restart_meter(now);
        drive.submit(now, command(0, 8, false));
        assert_eq!(drive.meter().total().count, 1);
    }
}

#[test]
fn a_command_alone_takes_its_command_page_bytes_and_interface() {
    let drive = FlashDrive::new(&small(), 1);
    let alone = |drive: &FlashDrive, sectors: u32, write: bool| drive.alone(command(0, sectors, write)).get();
    // 5 us, 10 us of the page, 2 of its 8 us over the channel, 1 us and 300 ns of the interface.
    assert_eq!(alone(&drive, 8, false), 5_000 + 10_000 + 2_000 + 1_000 + 300);
    assert_eq!(alone(&drive, 1, false), 5_000 + 10_000 + 2_000 + 125 + 300, "what is mapped together");
    assert_eq!(alone(&drive, 64, false), 5_000 + 10_000 + 8_000 + 8_000 + 300, "pages at once");
    assert_eq!((alone(&drive, 8, true), alone(&drive, 256, true)), (6_300, 5_000 + 32_000 + 300));
    assert_eq!(alone(&drive, 264, true), 5_000 + 100_000 + 33_000 + 300, "more than the buffer");
}

/// How long a drive takes for 32 KiB that begin in the page that it has kept.
fn drive_kept(params: &FlashParams) -> u64 {
    let mut drive = FlashDrive::new(params, 1);
    drive.submit(Instant::START, command(0, 8, false));
    drive.submit(Instant::from_nanos(1_000_000), command(8, 64, false)).nanos() - 1_000_000
}

#[test]
fn the_interface_waits_for_the_first_bytes_of_a_large_read_and_not_for_its_pages() {
    // 32 KiB in 80 us behind 5 us of the command, 10 us of the page and 1 KiB of it over the channel, 0.5 us.
    let params = FlashParams { link: BytesPerSecond::new(0.4096e9), command_gap: Nanos::ZERO, ..small() };
    let mut drive = FlashDrive::new(&params, 1);
    let alone = drive.submit(Instant::START, command(0, 64, false)).nanos();
    assert_eq!(alone, 5_000 + 10_000 + 500 + 80_000 + 300);
    assert_eq!(drive_kept(&params), 5_000 + 80_000 + 300, "the page that was kept is there already");
}

#[test]
fn dies_of_one_channel_share_it_and_others_do_not() {
    // A page takes 80 us over its channel, 4 us over the interface: ends are told in steps of 50 us.
    let channel = BytesPerSecond::new(0.2048e9);
    let params = FlashParams { planes: 1, write_buffer: Bytes::ZERO, channel, ..small() };
    let page = [0, 1, 2, 3].map(|die| (0..).find(|page| spread(*page) % 4 == die).expect("each has some"));
    let apart = |write: bool, pages: &[u64]| -> Vec<u64> {
        let mut drive = FlashDrive::new(&params, 1);
        let mut end =
            |page: &u64| drive.submit(Instant::START, command(page * 32, 32, write)).nanos() / 50_000;
        pages.iter().map(&mut end).collect()
    };
    let share = |one: usize, other: usize| {
        let ends = apart(false, &[page[one], page[other]]);
        ends[1] > ends[0]
    };
    assert!(share(0, 2) && share(1, 3) && !share(0, 1) && !share(2, 3));
    // Programs go to the dies in turn, and so to the channels.
    let ends = apart(true, &[1, 3, 5, 7]);
    assert!(ends[0] == ends[1] && ends[1] < ends[2] && ends[2] == ends[3], "{ends:?}");
}

#[test]
fn each_read_holds_the_interface_for_its_command_and_its_bytes() {
    let link_command = Nanos::from_micros(20);
    let params = FlashParams { link_command, command_gap: Nanos::ZERO, ..small() };
    let mut drive = FlashDrive::new(&params, 1);
    let ends = (0..8).map(|page| drive.submit(Instant::START, command(page * 32, 8, false)).nanos());
    // 20 us and 1 us each.
    assert!(ends.max().is_some_and(|last| last >= 8 * 21_000));
}

#[test]
fn nothing_gathered_is_programmed_by_no_flush() {
    let mut drive = FlashDrive::new(&small(), 1);
    let now = Instant::from_nanos(5_000_000);
    assert_eq!((drive.flush(now, Class::HostWrite) - now).get(), 5_000);
    assert_eq!(drive.settle(now), now);
    assert_eq!(drive.booked_beyond(now), Nanos::ZERO);
}

#[test]
fn what_was_written_last_on_a_fresh_drive_is_read_as_one_bit_a_cell_is_as_far_as_the_cache_holds_it() {
    let slc = SlcParams {
        size: Bytes::GIB * 4,
        program_page: Nanos::from_micros(300),
        read_page: Some(Nanos::from_micros(25)),
        fold_after: Nanos::ZERO,
    };
    let fresh = FlashParams { slc_cache: Some(slc), state: Written::Fresh, ..nvme() };
    let read = |params: &FlashParams, gib: u64| {
        let mut drive = FlashDrive::new(params, 1);
        let second = drive.submit(Instant::from_nanos(1), command(gib << 21, 8, false));
        // All else that the test laid out lies above it, and is read right behind, so that nothing is moved in idle time.
        let last =
            (gib + 1..gib + 12).fold(second, |now, gib| drive.submit(now, command(gib << 21, 8, false)));
        let again = drive.submit(last, command(gib << 21, 8, false));
        let highest = drive.submit(again, command((gib + 11) << 21, 8, false));
        [second.nanos() - 1, again.nanos() - last.nanos(), highest.nanos() - again.nanos()]
    };
    let [first, again, highest] = read(&fresh, 0);
    assert_eq!(again - first, 37_000, "62 and 25 us: twelve parts were read, and nine have room");
    assert_eq!(first, highest);
    let steady = FlashParams { state: Written::Steady, ..fresh };
    assert_eq!(read(&steady, 0), [again; 3]);
}
