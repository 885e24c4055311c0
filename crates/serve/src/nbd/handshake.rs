//! What client and server agree on before the first request.

use std::io::{self, Read, Write};

use ::nbd::wire::{
    FIXED_NEWSTYLE, IHAVEOPT, NBDMAGIC, NO_ZEROES, OPTION_LEN, be16, be32, flag, info, option, option_of,
    option_reply_header, reply,
};
use units::convert::narrow;

use super::limits;
use super::stream::{Incoming, Outgoing};
use crate::clock::Clock;

/// Something that a client can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the first export is also the one without a name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is made of rotating disks.
    pub is_rotating: bool,
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The export.
    pub export: usize,
    /// Whether answers are structured.
    pub is_structured: bool,
    /// Whether headers are extended.
    pub is_extended: bool,
    /// Whether block status may be asked for.
    pub has_status: bool,
}

/// The context that is known.
const ALLOCATION: &[u8] = b"base:allocation";
/// Its number.
pub const ALLOCATION_ID: u32 = 1;

/// What comes before options are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Nothing: a socket of this machine.
    Local,
    /// TLS, which the client asks for.
    Required,
    /// TLS is there, and both have said hello before: what the client has answered.
    Established(u32),
}

/// How a negotiation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiated {
    /// The client goes away, or is sent away.
    End,
    /// TLS begins, and the negotiation anew; what the client has answered the server's hello.
    Tls(u32),
    /// Requests follow.
    Transmission(Agreed),
}

struct Negotiation<'a, R, W> {
    security: Security,
    exports: &'a [Export],
    input: &'a mut Incoming<R>,
    output: &'a mut Outgoing<W>,
    agreed: Agreed,
    /// The export that `base:allocation` was agreed on for.
    status_of: Option<usize>,
}

/// Says hello; the flags that the client answers with, `None` where there is no talking to it.
fn greet<R: Read, W: Write>(input: &mut Incoming<R>, output: &mut Outgoing<W>) -> io::Result<Option<u32>> {
    output.put(&NBDMAGIC.to_be_bytes());
    output.put(&IHAVEOPT.to_be_bytes());
    output.put(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    output.send()?;
    let flags = input.take(4)?.map(be32);
    Ok(flags.filter(|flags| flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) == 0))
}

/// Agrees with a client.
pub fn agree<R: Read, W: Write>(
    exports: &[Export],
    security: Security,
    input: &mut Incoming<R>,
    output: &mut Outgoing<W>,
) -> io::Result<Negotiated> {
    let clock = Clock::start();
    let flags = match security {
        Security::Established(flags) => Some(flags),
        _ => greet(input, output)?,
    };
    let Some(flags) = flags else { return Ok(Negotiated::End) };
    let no_zeroes = flags & u32::from(NO_ZEROES) != 0;
    let agreed = Agreed::default();
    let mut negotiation = Negotiation { security, exports, input, output, agreed, status_of: None };
    for _ in 0..limits::OPTIONS {
        if clock.now() > limits::NEGOTIATION {
            return Ok(Negotiated::End);
        }
        let Some((option, len)) = negotiation.input.take(OPTION_LEN)?.and_then(option_of) else {
            return Ok(Negotiated::End);
        };
        if len > limits::OPTION {
            if option == option::EXPORT_NAME {
                return Ok(Negotiated::End);
            }
            negotiation.input.skip(len.into())?;
            negotiation.refuse(option, reply::ERR_TOO_BIG, "an option has at most 64 KiB");
            negotiation.output.send()?;
            continue;
        }
        let mut data = vec![0; narrow::<usize>(len)];
        negotiation.input.fill(&mut data)?;
        if option == option::EXPORT_NAME {
            if security == Security::Required {
                return Ok(Negotiated::End);
            }
            let Some(export) = negotiation.find(&data) else { return Ok(Negotiated::End) };
            negotiation.choose(export);
            let Negotiation { output, agreed, .. } = negotiation;
            output.put(&exports[export].bytes.to_be_bytes());
            output.put(&flags_of(&exports[export]).to_be_bytes());
            if !no_zeroes {
                output.room(124).fill(0);
            }
            output.send()?;
            return Ok(Negotiated::Transmission(agreed));
        }
        let next = negotiation.answer(option, &data);
        negotiation.output.send()?;
        match next {
            Next::Option => {}
            Next::Transmission => return Ok(Negotiated::Transmission(negotiation.agreed)),
            // What came before the answer was not encrypted, and nobody knows from whom.
            Next::Tls if negotiation.input.has(1) => return Ok(Negotiated::End),
            Next::Tls => return Ok(Negotiated::Tls(flags)),
            Next::End => return Ok(Negotiated::End),
        }
    }
    Ok(Negotiated::End)
}

enum Next {
    Option,
    Transmission,
    Tls,
    End,
}

impl<R: Read, W: Write> Negotiation<'_, R, W> {
    fn answer(&mut self, option: u32, data: &[u8]) -> Next {
        match option {
            option::ABORT => {
                self.reply(option, reply::ACK, &[]);
                return Next::End;
            }
            option::STARTTLS if self.security == Security::Required && data.is_empty() => {
                self.reply(option, reply::ACK, &[]);
                return Next::Tls;
            }
            _ if self.security == Security::Required => {
                self.refuse(option, reply::ERR_TLS_REQD, "this server talks to clients that use TLS");
            }
            option::LIST if data.is_empty() => {
                for export in self.exports {
                    let mut data = narrow::<u32>(export.name.len()).to_be_bytes().to_vec();
                    data.extend_from_slice(export.name.as_bytes());
                    data.extend_from_slice(export.about.as_bytes());
                    self.reply(option, reply::SERVER, &data);
                }
                self.reply(option, reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() && !self.agreed.is_extended => {
                self.agreed.is_structured = true;
                self.reply(option, reply::ACK, &[]);
            }
            option::EXTENDED_HEADERS if data.is_empty() => {
                (self.agreed.is_structured, self.agreed.is_extended) = (true, true);
                self.reply(option, reply::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY | option::EXTENDED_HEADERS => {
                self.refuse(option, reply::ERR_INVALID, "this option has no data, and comes once");
            }
            option::STARTTLS if matches!(self.security, Security::Established(_)) => {
                self.refuse(option, reply::ERR_INVALID, "TLS is there");
            }
            option::STARTTLS => {
                self.refuse(option, reply::ERR_POLICY, "no TLS here: a socket of this machine needs none");
            }
            option::INFO | option::GO => return self.info(option, data),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.contexts(option, data),
            _ => self.refuse(option, reply::ERR_UNSUP, "this option is not known"),
        }
        Next::Option
    }

    /// INFO and GO.
    fn info(&mut self, option: u32, data: &[u8]) -> Next {
        let mut fields = Fields(data);
        let Some((name, wanted)) = fields.name().and_then(|name| Some((name, fields.numbers()?))) else {
            self.refuse(
                option,
                reply::ERR_INVALID,
                "the name and the information requests do not fill the option",
            );
            return Next::Option;
        };
        let Some(number) = self.find(name) else {
            self.refuse(option, reply::ERR_UNKNOWN, "there is no export of that name; LIST has them");
            return Next::Option;
        };
        let export = &self.exports[number];
        let mut about = info::EXPORT.to_be_bytes().to_vec();
        about.extend_from_slice(&export.bytes.to_be_bytes());
        about.extend_from_slice(&flags_of(export).to_be_bytes());
        self.reply(option, reply::INFO, &about);
        for kind in [info::NAME, info::DESCRIPTION, info::BLOCK_SIZE] {
            if !wanted.contains(&kind) {
                continue;
            }
            let mut about = kind.to_be_bytes().to_vec();
            match kind {
                info::NAME => about.extend_from_slice(export.name.as_bytes()),
                info::DESCRIPTION => about.extend_from_slice(export.about.as_bytes()),
                _ => [512, 4096, limits::PAYLOAD].iter().for_each(|size: &u32| {
                    about.extend_from_slice(&size.to_be_bytes());
                }),
            }
            self.reply(option, reply::INFO, &about);
        }
        self.reply(option, reply::ACK, &[]);
        if option == option::INFO {
            return Next::Option;
        }
        self.choose(number);
        Next::Transmission
    }

    fn choose(&mut self, export: usize) {
        assert!(export < self.exports.len(), "an export that there is");
        assert!(self.security != Security::Required, "nothing is chosen before TLS is there");
        self.agreed.export = export;
        self.agreed.has_status = self.status_of == Some(export) && self.agreed.is_structured;
    }

    fn contexts(&mut self, option: u32, data: &[u8]) {
        let is_set = option == option::SET_META_CONTEXT;
        if is_set {
            self.status_of = None;
        }
        let mut fields = Fields(data);
        let parsed = fields.name().and_then(|name| {
            let count = fields.u32()?;
            let mut queries = Vec::new();
            for _ in 0..count {
                queries.push(fields.name()?);
            }
            fields.0.is_empty().then_some((name, queries))
        });
        let Some((name, queries)) = parsed else {
            return self.refuse(
                option,
                reply::ERR_INVALID,
                "the name and the queries do not fill the option",
            );
        };
        if is_set && !self.agreed.is_structured {
            return self.refuse(option, reply::ERR_INVALID, "structured replies come first");
        }
        let Some(export) = self.find(name) else {
            return self.refuse(option, reply::ERR_UNKNOWN, "there is no export of that name; LIST has them");
        };
        let is_wanted = match queries.is_empty() {
            true => !is_set,
            false => queries.iter().any(|query| *query == ALLOCATION || (!is_set && *query == b"base:")),
        };
        if is_wanted {
            let mut context = ALLOCATION_ID.to_be_bytes().to_vec();
            context.extend_from_slice(ALLOCATION);
            self.reply(option, reply::META_CONTEXT, &context);
            if is_set {
                self.status_of = Some(export);
            }
        }
        self.reply(option, reply::ACK, &[]);
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        match name {
            b"" => (!self.exports.is_empty()).then_some(0),
            name => self.exports.iter().position(|export| export.name.as_bytes() == name),
        }
    }

    fn refuse(&mut self, option: u32, why: u32, text: &str) {
        self.reply(option, why, text.as_bytes());
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) {
        self.output.put(&option_reply_header(option, kind, data.len()));
        self.output.put(data);
    }
}

fn flags_of(export: &Export) -> u16 {
    let always = flag::HAS_FLAGS
        | flag::SEND_FLUSH
        | flag::SEND_FUA
        | flag::SEND_TRIM
        | flag::SEND_WRITE_ZEROES
        | flag::SEND_DF
        | flag::CAN_MULTI_CONN
        | flag::SEND_CACHE;
    always | if export.is_rotating { flag::ROTATIONAL } else { 0 }
}

/// The data of an option, read from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4).map(be32)
    }

    /// A length, and as many bytes.
    fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.bytes(narrow::<usize>(len))
    }

    /// A count, and as many numbers, which are all that is left.
    fn numbers(&mut self) -> Option<Vec<u16>> {
        let count = usize::from(be16(self.bytes(2)?));
        let numbers = self.bytes(2 * count)?;
        let numbers = numbers.as_chunks().0.iter().map(|two| u16::from_be_bytes(*two)).collect();
        self.0.is_empty().then_some(numbers)
    }
}
