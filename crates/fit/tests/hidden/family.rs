//! A seeded family of arrays.

use units::convert::narrow;
/// What the fit must find.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    pub members: u32,
    pub chunk_kib: u32,
    pub link_mb: u32,
    pub cache_mib: u32,
    pub write_part: u32,
    pub read_command_us: u32,
    pub processors: u32,
    pub level: &'static str,
    pub device: &'static str,
}

/// Drives of several kinds, with the array links that go with them.
const DRIVES: [(&str, [u32; 2]); 5] = [
    ("hds723020bla642", [400, 1600]),
    ("st3146855ss", [400, 1600]),
    ("nearline-18tb", [800, 3200]),
    ("crucial-m4-128", [1600, 3200]),
    ("sas-ssd-3840", [3200, 6400]),
];

/// RAID levels, each with the fewest members.
const LEVELS: [(&str, u32); 4] = [("0", 2), ("5", 3), ("6", 5), ("10", 2)];

/// One draw after the other (SplitMix64, Steele et al. 2014).
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit
    }

    fn between(&mut self, low: u32, high: u32) -> u32 {
        low + narrow::<u32>(self.below(u64::from(high - low + 1)))
    }
}

impl Hidden {
    pub fn draw(seed: u64) -> Hidden {
        let mut draws = Draws(seed);
        let (device, [slow, fast]) = DRIVES[narrow::<usize>(seed) % DRIVES.len()];
        let (level, least) = LEVELS[narrow::<usize>(seed) % LEVELS.len()];
        Hidden {
            members: draws.between(2, 12).max(least),
            chunk_kib: 16 << draws.below(6),
            link_mb: draws.between(slow, fast),
            cache_mib: draws.between(3, 80) * 64,
            write_part: draws.between(20, 80),
            read_command_us: draws.between(10, 60),
            processors: draws.between(2, 6),
            level,
            device,
        }
    }

    pub fn text(&self) -> String {
        let Hidden {
            members,
            chunk_kib,
            link_mb,
            cache_mib,
            write_part,
            read_command_us,
            processors,
            level,
            device,
        } = self;
        // A pair of a mirror is one member to whoever looks from outside.
        let disks = if *level == "10" { members * 2 } else { *members };
        format!(
            r#"
name = "hidden"
[host]
processors = 32
request = "4us"
lun_depth = 1024
[link]
rate = "{link_mb}MB/s"
command = "1us"
latency = "3us"
[protocol]
kind = "block"
[controller]
processors = {processors}
read_command = "{read_command_us}us"
write_command = "{}us"
member_command = "1us"
[cache]
size = "{cache_mib}MiB"
write_part = "{write_part}%"
[cache.prefetch]
max = "2MiB"
start = "256KiB"
[devices]
model = "{device}"
count = {disks}
[raid]
level = "{level}"
disks = {disks}
chunk = "{chunk_kib}KiB"
"#,
            read_command_us + read_command_us / 4
        )
    }
}
