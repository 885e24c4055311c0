//! What marks a block that was written, so that it can be told when it is read.

use units::Bytes;

/// How blocks are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Fathom's own: 32 bytes at the beginning of each block of at most 4 KiB.
    #[default]
    Fathom,
    /// The headers that fio writes with `verify=`, so that either tool reads what the other has written.
    Fio(Header),
}

/// fio's header and the check of what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What is computed of the data.
    pub kind: HeaderKind,
    /// A header for each so many bytes; `None` for one at the beginning of each request.
    pub every: Option<Bytes>,
    /// Where in them it stands: it has changed places with the data there.
    pub at: Bytes,
}

/// What a header of fio's says of the data behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderKind {
    /// Nothing: place and number alone (`meta`).
    Meta,
    /// MD5.
    Md5,
    /// A CRC of 64 bits.
    Crc64,
    /// A CRC of 32 bits, the highest bit first.
    Crc32,
    /// CRC-32C.
    Crc32c,
    /// CRC-16.
    Crc16,
    /// CRC-7.
    Crc7,
    /// SHA-256, as far as fio stores it.
    Sha256,
    /// The block that fio's SHA-512 ends with.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// xxHash of 32 bits.
    Xxhash,
    /// SHA-1.
    Sha1,
    /// Nothing: the data is the pattern of `content`.
    PatternHeader,
}

const _: () = {
    let mut at = 1;
    while at < HeaderKind::ALL.len() {
        assert!(HeaderKind::ALL[at - 1].2 < HeaderKind::ALL[at].2, "two kinds have one number in a header");
        at += 1;
    }
};

impl HeaderKind {
    /// All of them with fio's word and its number in the header.
    pub const ALL: [(HeaderKind, &str, u16); 16] = [
        (HeaderKind::Meta, "meta", 1),
        (HeaderKind::Md5, "md5", 2),
        (HeaderKind::Crc64, "crc64", 3),
        (HeaderKind::Crc32, "crc32", 4),
        (HeaderKind::Crc32c, "crc32c", 5),
        (HeaderKind::Crc16, "crc16", 7),
        (HeaderKind::Crc7, "crc7", 8),
        (HeaderKind::Sha256, "sha256", 9),
        (HeaderKind::Sha512, "sha512", 10),
        (HeaderKind::Sha3_224, "sha3-224", 11),
        (HeaderKind::Sha3_256, "sha3-256", 12),
        (HeaderKind::Sha3_384, "sha3-384", 13),
        (HeaderKind::Sha3_512, "sha3-512", 14),
        (HeaderKind::Xxhash, "xxhash", 15),
        (HeaderKind::Sha1, "sha1", 16),
        (HeaderKind::PatternHeader, "pattern_hdr", 17),
    ];

    fn row(self) -> (&'static str, u16) {
        let row = HeaderKind::ALL.iter().find(|(kind, ..)| *kind == self).expect("all kinds are listed");
        (row.1, row.2)
    }

    /// fio's word for it.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Its number in the header.
    pub fn number(self) -> u16 {
        self.row().1
    }

    /// The kind of that word.
    pub fn named(name: &str) -> Option<HeaderKind> {
        HeaderKind::ALL.iter().find(|(_, word, _)| *word == name).map(|(kind, ..)| *kind)
    }

    /// The bytes that follow the header itself.
    pub const fn sum_len(self) -> usize {
        match self {
            HeaderKind::Meta | HeaderKind::PatternHeader => 0,
            HeaderKind::Crc7 => 1,
            HeaderKind::Crc16 => 2,
            HeaderKind::Crc32 | HeaderKind::Crc32c | HeaderKind::Xxhash => 4,
            HeaderKind::Crc64 => 8,
            HeaderKind::Md5 => 16,
            HeaderKind::Sha1 => 20,
            HeaderKind::Sha3_224 => 28,
            HeaderKind::Sha3_256 => 32,
            HeaderKind::Sha3_384 => 48,
            HeaderKind::Sha256 | HeaderKind::Sha3_512 => 64,
            HeaderKind::Sha512 => 128,
        }
    }

    /// Bytes before the data that it covers.
    pub const fn bytes(self) -> usize {
        HEADER_LEN + self.sum_len()
    }
}

/// fio's header without what follows it.
pub const HEADER_LEN: usize = 40;
const _: () = assert!(
    {
        let mut at = 1;
        while at < HeaderKind::ALL.len() && HeaderKind::ALL[at - 1].2 < HeaderKind::ALL[at].2 {
            at += 1;
        }
        at == HeaderKind::ALL.len()
    },
    "a number of fio's names one kind of header"
);
