//! Reads the parts that a request meets: host, adapter, link, protocol, controller, cache, channel, background work.

use document::{Fields, Node, Read, Wrong};
use units::{Bytes, BytesPerSecond, Nanos, SECTOR_BYTES, Share};

use crate::background::{BackgroundKind, BackgroundParams, BackgroundPolicy};
use crate::controller::{CacheParams, ControllerParams, Handover, JournalParams, Ownership, PrefetchParams};
use crate::files::FilesParams;
use crate::host::{HostParams, Multipath, NoPath, PageCacheParams, StripeParams};
use crate::link::{Duplex, LinkParams, QUANTUM};
use crate::processor::{ProcessorParams, ProtocolWork};
use crate::protocol::{ProtocolKind, ProtocolParams};

/// A share that a key holds by default. All callers give constants between 0 and 1.
fn share(part: f64) -> Share {
    Share::new(part).expect("a constant between 0 and 1")
}

/// More of anything than this is a slip of the pen, and would only fill memory.
const MOST: u32 = 65_536;

fn count(fields: &Fields<'_>, key: &'static str, otherwise: u32) -> u32 {
    fields.count(key, Some(otherwise), MOST)
}

/// Refuses a cache that is cut into more lines than a simulation can keep account of.
pub(super) fn check_lines(fields: &Fields<'_>, size: Bytes, line: Bytes) {
    const LINES: u64 = 1 << 28;
    let keys = ["line", "size", "cache"];
    if line.is_zero() || size < line {
        fields.check(&keys, false, format!("the cache of {size} holds at least one line"));
    } else {
        let few = size.get() / line.get() <= LINES;
        fields.check(
            &keys,
            few,
            format!("{size} in lines of {line} are more than {LINES} lines; give larger lines"),
        );
    }
}

/// `count` and the link's figures.
pub(super) fn counted_link(fields: Fields<'_>) -> (u32, LinkParams) {
    (count(&fields, "count", 1), link(fields))
}

fn link(fields: Fields<'_>) -> LinkParams {
    let rate = fields.need("rate");
    let params = LinkParams {
        rate,
        write_rate: fields.or("write_rate", rate),
        lanes: count(&fields, "lanes", 1),
        duplex: fields.one_of("duplex", Duplex::Full, &[("half", Duplex::Half), ("full", Duplex::Full)]),
        command: fields.or("command", Nanos::ZERO),
        latency: fields.or("latency", Nanos::ZERO),
        quantum: fields.or("quantum", QUANTUM),
    };
    for (key, rate) in [("rate", params.rate), ("write_rate", params.write_rate)] {
        fields.check(&[key], rate.get() > 0.0, "a link moves at least something");
    }
    fields.check(&["quantum"], !params.quantum.is_zero(), "a turn moves at least one byte, such as 64KiB");
    fields.finish();
    params
}

impl Read for NoPath {
    const WANT: &'static str = "\"fail\", \"queue\", or a duration such as \"150s\"";
    fn read(node: &Node) -> Result<Self, Wrong> {
        match node {
            _ if node.is("fail") => Ok(NoPath::Fail),
            _ if node.is("queue") => Ok(NoPath::Queue),
            _ => Nanos::read(node).map(NoPath::Retry).map_err(|wrong| {
                let told =
                    wrong.help.map_or(wrong.message.clone(), |help| format!("{}; {help}", wrong.message));
                Wrong::parted(&format!("{told}; a host without a path does {}", Self::WANT))
            }),
        }
    }
}

#[derive(Clone, Copy)]
enum Policy {
    None,
    Failover,
    RoundRobin,
    LeastQueue,
}

/// The number of hosts, and the figures of each.
pub(super) fn host(fields: Fields<'_>) -> (u32, HostParams) {
    let number = count(&fields, "count", 1);
    let turns = count(&fields, "round_robin", 1);
    let policies = [
        ("none", Policy::None),
        ("failover", Policy::Failover),
        ("round-robin", Policy::RoundRobin),
        ("least-queue", Policy::LeastQueue),
    ];
    let cache = fields.table("page_cache").map(page_cache);
    // One memory holds names and content alike, and has its limits for what is unwritten.
    let plain = cache.map_or(FilesParams::default(), |cache| FilesParams {
        memory: cache.size,
        dirty_background: cache.dirty_background,
        dirty_limit: cache.dirty_limit,
        ..FilesParams::default()
    });
    let params = HostParams {
        processors: count(&fields, "processors", 1),
        request: fields.need("request"),
        threads: fields.or("threads", false),
        per_file: fields.or("per_file", Nanos::ZERO),
        contention: fields.or("contention", Share::NONE),
        file_system: fields.or("file_system", Nanos::ZERO),
        layers: fields.or("layers", 0),
        layer: fields.or("layer", Nanos::ZERO),
        mirroring: fields.or("mirroring", Nanos::ZERO),
        max_transfer: fields.or("max_transfer", Bytes::MIB),
        lun_depth: count(&fields, "lun_depth", 32),
        page_cache: cache,
        stripe: fields.table("stripe").map(stripe),
        multipath: match fields.one_of("multipath", Policy::Failover, &policies) {
            Policy::None => Multipath::None,
            Policy::Failover => Multipath::Failover,
            Policy::RoundRobin => Multipath::RoundRobin { requests: turns },
            Policy::LeastQueue => Multipath::LeastQueue,
        },
        path_timeout: fields.or("path_timeout", Nanos::from_secs_f64(30.0)),
        no_path: fields.or("no_path_retry", NoPath::Fail),
        files: match fields.table("files") {
            Some(fields) => files(fields, plain),
            None => plain,
        },
    };
    fields.finish();
    (number, params)
}

fn page_cache(fields: Fields<'_>) -> PageCacheParams {
    let params = PageCacheParams {
        size: fields.need("size"),
        copy: fields.need("copy"),
        read_ahead: fields.or("read_ahead", Bytes::KIB * 128),
        dirty_background: fields.or("dirty_background", share(0.1)),
        dirty_limit: fields.or("dirty_limit", share(0.2)),
        indirect_block: fields.get("indirect_block"),
    };
    let maps = params.indirect_block.is_none_or(|mapped| mapped >= Bytes::KIB * 4);
    fields.check(&["indirect_block"], maps, "a block of pointers maps at least a page of 4KiB; of ext3 4MiB");
    fields.finish();
    params
}

/// The figures of a file system; what is not said is as in `plain`.
fn files(fields: Fields<'_>, plain: FilesParams) -> FilesParams {
    let params = FilesParams {
        stat: fields.or("stat", plain.stat),
        open: fields.or("open", plain.open),
        create: fields.or("create", plain.create),
        rename: fields.or("rename", plain.rename),
        remove: fields.or("remove", plain.remove),
        entry: fields.or("entry", plain.entry),
        copy: fields.or("copy", plain.copy),
        commit: fields.or("commit", plain.commit),
        expire: fields.or("expire", plain.expire),
        memory: fields.or("memory", plain.memory),
        name: fields.or("name", plain.name),
        dirty_background: fields.or("dirty_background", plain.dirty_background),
        dirty_limit: fields.or("dirty_limit", plain.dirty_limit),
    };
    fields.finish();
    params
}

fn stripe(fields: Fields<'_>) -> StripeParams {
    let params = StripeParams { chunk: fields.need("chunk"), luns: fields.need("luns") };
    let whole = !params.chunk.is_zero() && params.luns > 0;
    fields.check(&["chunk", "luns"], whole, "a stripe has a chunk and at least one LUN");
    fields.finish();
    params
}

/// A processor's figures.
pub(super) fn processor(fields: Fields<'_>) -> ProcessorParams {
    let cycles = |key: &'static str| -> f64 { fields.need(key) };
    let params = ProcessorParams {
        clock_mhz: fields.need("clock_mhz"),
        operation: cycles("operation"),
        frame: cycles("frame"),
        copy: cycles("copy"),
        member: cycles("member_command"),
    };
    fields.check(&["clock_mhz"], params.clock_mhz > 0.0, "give what the data sheet says, such as 1200");
    let cycles = [params.operation, params.frame, params.copy, params.member];
    let keys = ["operation", "frame", "copy", "member_command"];
    let are_some = cycles.iter().all(|cycles| *cycles >= 0.0 && cycles.is_finite());
    fields.check(&keys, are_some, "cycles are none or more");
    fields.finish();
    params
}

/// A protocol's figures, with what serving it takes on `processor`.
pub(super) fn protocol(fields: Fields<'_>, processor: Option<&ProcessorParams>) -> ProtocolParams {
    let kinds = [
        ("block", ProtocolKind::Block),
        ("iscsi", ProtocolKind::Iscsi),
        ("nfs3", ProtocolKind::Nfs3),
        ("smb1", ProtocolKind::Smb1),
        ("smb2", ProtocolKind::Smb2),
    ];
    let whole = Bytes::GIB;
    let frame: Option<Bytes> = fields.unless_none("frame");
    let operation = fields.or("work", 1.0);
    let copies = ["read_copies", "write_copies"].map(|key| fields.or(key, 1.0));
    fields.check(&["work"], operation >= 0.0, "a protocol makes nothing, or more, to do");
    fields.check(
        &["read_copies", "write_copies"],
        copies.iter().all(|times| *times >= 0.0),
        "copies are none or more",
    );
    let works = copies.map(|copies| ProtocolWork { operation, copies, frame });
    let served = |work: &ProtocolWork| processor.map_or(Nanos::ZERO, |processor| processor.operation(work));
    // What the processor moves comes on top of a rate that the file gives.
    let moved = |work: &ProtocolWork, rate: Option<BytesPerSecond>| {
        let rates = [rate, processor.and_then(|processor| processor.rate(work))];
        let seconds: f64 = rates.iter().flatten().map(|rate| 1.0 / rate.get()).sum();
        (seconds > 0.0).then(|| BytesPerSecond::new(1.0 / seconds))
    };
    let [read, written] = &works;
    let params = ProtocolParams {
        kind: fields.need_choice("kind", &kinds).unwrap_or(ProtocolKind::Block),
        read_size: fields.or("read_size", whole),
        write_size: fields.or("write_size", whole),
        outstanding: count(&fields, "outstanding", 65_535),
        sessions: count(&fields, "sessions", 1),
        header: fields.or("header", Bytes::ZERO),
        hop: fields.or("hop", Nanos::ZERO),
        hops: fields.or("hops", 0),
        client: fields.or("client", Nanos::ZERO),
        server_read: fields.or("server_read", Nanos::ZERO) + served(read),
        server_write: fields.or("server_write", Nanos::ZERO) + served(written),
        window: fields.unless_none("window"),
        server_read_copy: moved(read, fields.unless_none("server_read_copy")),
        server_write_copy: moved(written, fields.unless_none("server_write_copy")),
        sync_writes: fields.or("sync_writes", false),
        immediate: fields.or("immediate", whole),
        burst: fields.or("burst", whole),
    };
    fields.check(&["window"], params.window != Some(Bytes::ZERO), "at least one byte is under way");
    for (key, size) in
        [("read_size", params.read_size), ("write_size", params.write_size), ("burst", params.burst)]
    {
        fields.check(&[key], !size.is_zero(), "an operation moves at least one byte");
    }
    fields.finish();
    params
}

#[derive(Clone, Copy)]
enum Owner {
    Symmetric,
    Forward,
    Transfer,
}

/// The number of controllers, and the figures of each. `cache` is the file's `[cache]`.
pub(super) fn controller(
    fields: Fields<'_>,
    cache: Option<Fields<'_>>,
    processor: Option<&ProcessorParams>,
) -> (u32, ControllerParams) {
    let number = count(&fields, "count", 1);
    fields.check(&["count"], number <= 2, "an array has one controller, or two");
    let owners =
        [("symmetric", Owner::Symmetric), ("forward", Owner::Forward), ("transfer", Owner::Transfer)];
    let handovers = [("flush", Handover::Flush), ("mirror", Handover::Mirror)];
    let transfer: Nanos = fields.or("transfer_time", Nanos::from_secs_f64(1.0));
    let partner = fields.table("partner").map(link);
    let cache = cache.map(self::cache);
    let stripe_lock: Option<Bytes> = fields.unless_none("stripe_lock");
    let whole = stripe_lock.is_none_or(|block| !block.is_zero() && block.is_multiple_of(Bytes::new(512)));
    fields.check(&["stripe_lock"], whole, "give whole sectors, such as 4KiB, or none for all of the stripe");
    let params = ControllerParams {
        processors: count(&fields, "processors", 1),
        read_command: fields.need("read_command"),
        write_command: fields.need("write_command"),
        member_command: fields.or("member_command", Nanos::ZERO)
            + processor.map_or(Nanos::ZERO, ProcessorParams::member),
        interrupt: fields.or("interrupt", Nanos::ZERO),
        locate: fields.or("locate", Nanos::ZERO),
        place: fields.or("place", Nanos::ZERO),
        // A cache that keeps what it holds has no need to ask the members.
        flush_members: fields.or("flush_members", cache.as_ref().is_none_or(|cache| !cache.protected)),
        file_lock: fields.or("file_lock", false),
        journal: fields.table("journal").map(journal),
        copy: fields.unless_none("copy"),
        accepts: fields.unless_none("accepts"),
        bus: fields.unless_none("bus"),
        xor: fields.unless_none("xor"),
        stripe_lock,
        cache,
        // A file may describe the pair and an option take one of the two away.
        partner: partner.filter(|_| number == 2),
        ownership: match fields.one_of("ownership", Owner::Symmetric, &owners) {
            Owner::Symmetric => Ownership::Symmetric,
            Owner::Forward => Ownership::Forward,
            Owner::Transfer => Ownership::Transfer { time: transfer },
        },
        handover: fields.one_of("handover", Handover::Flush, &handovers),
        takeover: fields.or("takeover", Nanos::ZERO),
    };
    let shortest = params.read_command.min(params.write_command);
    fields.check(
        &["interrupt", "read_command", "write_command"],
        params.interrupt.is_zero() || params.interrupt < shortest,
        format!(
            "it is a part of each command, which a busy processor does without: give less than {}, the shorter of \
             `read_command` and `write_command`",
            shortest.exact()
        ),
    );
    let is_mirrored = params.cache.as_ref().is_some_and(|cache| cache.mirrored);
    let possible = params.handover == Handover::Flush || is_mirrored;
    fields.check(
        &["handover"],
        possible,
        "only what is mirrored can be taken over; set cache.mirrored = true",
    );
    fields.finish();
    (number, params)
}

fn journal(fields: Fields<'_>) -> JournalParams {
    let params = JournalParams {
        record: fields.or("record", Bytes::ZERO),
        at: fields.or("at", share(0.5)),
        size: fields.or("size", Bytes::MIB * 128),
        force: fields.unless_none("force"),
    };
    let sectors = params.record.is_multiple_of(Bytes::new(512)) && params.size >= params.record;
    fields.check(
        &["record", "size"],
        sectors,
        "a record is whole sectors, and the journal holds at least one",
    );
    fields.finish();
    params
}

/// The largest block of a cache, in bytes.
const MOST_BLOCK: u64 = 1 << 20;

fn cache(fields: Fields<'_>) -> CacheParams {
    let line: Bytes = fields.or("line", Bytes::KIB * 16);
    let size: Bytes = fields.need("size");
    if line.get().is_power_of_two() && line >= Bytes::new(512) {
        check_lines(&fields, size, line);
    } else {
        fields.check(&["line"], false, "a cache line is a power of two from 512B on, such as 16KiB");
    }
    let block: Bytes = fields.or("block", Bytes::new(SECTOR_BYTES));
    let possible = block.get().is_power_of_two() && (SECTOR_BYTES..=MOST_BLOCK).contains(&block.get());
    fields.check(&["block"], possible, "written data take whole blocks: a power of two from 512B to 1MiB");
    let no_prefetch = PrefetchParams { streams: 0, confirm: 2, start: Bytes::ZERO, max: Bytes::ZERO };
    let destage_window = count(&fields, "destage_window", 64);
    let params = CacheParams {
        size,
        line,
        block: if possible { block } else { Bytes::new(SECTOR_BYTES) },
        write_part: fields.or("write_part", Share::ALL),
        read_part: fields.or("read_part", Share::ALL),
        bypass: fields.unless_none("bypass"),
        read: fields.or("read", true),
        fills: fields.or("fills", false),
        write_back: fields.or("write_back", true),
        protected: fields.or("protected", true),
        mirrored: fields.or("mirrored", false),
        dirty_high: fields.or("dirty_high", share(0.8)),
        dirty_low: fields.or("dirty_low", share(0.5)),
        dirty_age: fields.or("dirty_age", Nanos::from_secs_f64(10.0)),
        destage_window,
        partial_window: count(&fields, "partial_window", destage_window),
        stripes: fields.or("stripes", Bytes::ZERO),
        prefetch: fields.table("prefetch").map_or(no_prefetch, prefetch),
    };
    let rising = params.dirty_low <= params.dirty_high;
    fields.check(&["dirty_low", "dirty_high"], rising, "it is not above `dirty_high`");
    fields.finish();
    params
}

fn prefetch(fields: Fields<'_>) -> PrefetchParams {
    let max: Bytes = fields.need("max");
    let params = PrefetchParams {
        streams: fields.or("streams", 16),
        confirm: count(&fields, "confirm", 2),
        start: fields.or("start", max),
        max,
    };
    fields.check(&["start", "max"], params.start <= params.max, "it is not above `max`");
    fields.finish();
    params
}

/// The kinds of background work, by the name of their table.
pub const BACKGROUND_KINDS: [(&str, BackgroundKind); 7] = [
    ("initialise", BackgroundKind::Initialise),
    ("initialise-online", BackgroundKind::InitialiseOnline),
    ("initialise-verify", BackgroundKind::InitialiseVerify),
    ("clone", BackgroundKind::Clone),
    ("rebuild", BackgroundKind::Rebuild),
    ("verify", BackgroundKind::Verify),
    ("scrub", BackgroundKind::Scrub),
];

#[derive(Clone, Copy)]
enum Sharing {
    Fifo,
    Idle,
    Rate,
    Share,
    Tags,
    Md,
    Delay,
}

/// What background work does unless its own table says otherwise.
struct Common<'f, 't> {
    all: &'f Fields<'t>,
    own: Option<Fields<'t>>,
}

impl Common<'_, '_> {
    fn get<T: Read>(&self, key: &'static str) -> Option<T> {
        let common = self.all.unless_none(key);
        // "none" in the work's own table lifts the common limit.
        let own = self.own.as_ref().map(|own| (own.says(key), own.unless_none(key)));
        if let Some((true, mine)) = own { mine } else { common }
    }

    fn need<T: Read + Default>(&self, key: &'static str) -> T {
        self.get(key).unwrap_or_else(|| self.own.as_ref().unwrap_or(self.all).need(key))
    }
}

/// The figures of every kind of background work; what a kind's own table does not say, `[background]` does.
pub(super) fn background(fields: Fields<'_>) -> Vec<BackgroundParams> {
    let one = |(name, kind)| {
        let common = Common { all: &fields, own: fields.table(name) };
        let params = BackgroundParams {
            kind,
            unit: common.get("unit").unwrap_or(Bytes::MIB),
            window: common.get("window").unwrap_or(2),
            policy: policy(&common),
            startup: common.get("startup").unwrap_or(Share::NONE),
            member_limit: common.get("member_limit"),
        };
        let some = !params.unit.is_zero() && params.window > 0;
        fields.check(&["unit", "window"], some, "`unit` and `window` are at least one byte and one unit");
        common.own.iter().for_each(Fields::finish);
        params
    };
    let all = BACKGROUND_KINDS.map(one).to_vec();
    fields.finish();
    all
}

fn policy(common: &Common<'_, '_>) -> BackgroundPolicy {
    let names = [
        ("fifo", Sharing::Fifo),
        ("idle", Sharing::Idle),
        ("rate", Sharing::Rate),
        ("share", Sharing::Share),
        ("tags", Sharing::Tags),
        ("md", Sharing::Md),
        ("delay", Sharing::Delay),
    ];
    let shared = common.all.one_of("policy", Sharing::Fifo, &names);
    // Every figure is asked for, so that those of the policies not chosen may stay in the file.
    let _: (Option<Share>, Option<Nanos>) = (common.get("share"), common.get("delay"));
    let _ = ["rate", "min", "max"].map(|key| common.get::<BytesPerSecond>(key));
    match common.own.as_ref().map_or(shared, |own| own.one_of("policy", shared, &names)) {
        Sharing::Fifo => BackgroundPolicy::Fifo,
        Sharing::Idle => BackgroundPolicy::Idle,
        Sharing::Rate => BackgroundPolicy::Rate(common.need("rate")),
        Sharing::Share => BackgroundPolicy::Share(common.need("share")),
        Sharing::Tags => BackgroundPolicy::Tags(common.need("share")),
        Sharing::Md => BackgroundPolicy::Md { min: common.need("min"), max: common.need("max") },
        Sharing::Delay => BackgroundPolicy::Delay(common.need("delay")),
    }
}
