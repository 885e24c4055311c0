//! What the processor of a box takes to serve a protocol: its class says in how many cycles, its clock in what time.
//!
//! Whatever the box, an operation costs what its protocol has to do, a frame on its way in and one on its way out; and
//! each byte costs the frames that carry it and the times that a processor copies it.

use units::{Bytes, BytesPerSecond, Nanos};

/// The figures of a processor. Those in cycles belong to its class, the clock to the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorParams {
    /// Cycles in a microsecond.
    pub clock_mhz: f64,
    /// Cycles of an operation whose protocol has as much to do as iSCSI: system calls, switches between threads, file
    /// system.
    pub operation: f64,
    /// Cycles of a frame that comes or goes: driver, TCP, its part of an interrupt.
    pub frame: f64,
    /// Cycles of copying a byte from memory to memory.
    pub copy: f64,
    /// Cycles of a command to a member: block layer, driver, interrupt.
    pub member: f64,
}

/// What a protocol makes a processor do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProtocolWork {
    /// An operation, in parts of one of iSCSI.
    pub operation: f64,
    /// How often each byte is copied.
    pub copies: f64,
    /// Bytes of data in a frame; `None`: nothing goes in frames that the processor handles.
    pub frame: Option<Bytes>,
}

/// Frames that an operation takes whatever it moves: its command and its answer.
const FRAMES: f64 = 2.0;

/// Frames handled for each that carries data: every second one is acknowledged (RFC 9293, section 3.8.6.3).
const HANDLED: f64 = 1.5;

impl ProcessorParams {
    /// The time of an operation without its bytes.
    pub fn operation(&self, work: &ProtocolWork) -> Nanos {
        let frames = if work.frame.is_some() { FRAMES } else { 0.0 };
        self.time(self.operation * work.operation + self.frame * frames)
    }

    /// The bytes that a processor which does nothing else moves; `None`: it touches none of them.
    pub fn rate(&self, work: &ProtocolWork) -> Option<BytesPerSecond> {
        let frame = work.frame.map_or(0.0, |bytes| self.frame * HANDLED / bytes.as_f64().max(1.0));
        let cycles = self.copy * work.copies + frame;
        (cycles > 0.0).then(|| BytesPerSecond::new(self.clock_mhz * 1e6 / cycles))
    }

    /// The time of a command to a member.
    pub fn member(&self) -> Nanos {
        self.time(self.member)
    }

    fn time(&self, cycles: f64) -> Nanos {
        Nanos::from_secs_f64(cycles / (self.clock_mhz * 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ProcessorParams = ProcessorParams {
        clock_mhz: 1000.0,
        operation: 100_000.0,
        frame: 3_000.0,
        copy: 2.0,
        member: 50_000.0,
    };
    const WORK: ProtocolWork = ProtocolWork { operation: 1.0, copies: 2.0, frame: Some(Bytes::new(1_500)) };

    #[test]
    fn an_operation_takes_the_cycles_of_its_protocol_and_of_two_frames() {
        assert_eq!(ONE.operation(&WORK), Nanos::from_micros(106));
        let lighter = ProtocolWork { operation: 0.5, ..WORK };
        assert_eq!(ONE.operation(&lighter), Nanos::from_micros(56));
        assert_eq!(ONE.operation(&ProtocolWork { frame: None, ..lighter }), Nanos::from_micros(50));
    }

    #[test]
    fn bytes_cost_their_copies_and_the_frames_that_carry_them() {
        // 2 × 2 cycles of copying and 1.5 × 3000 / 1500 of frames.
        let bytes = |work| ONE.rate(&work).map(|rate| (1e9 / rate.get() * 1000.0).round());
        assert_eq!(bytes(WORK), Some(7_000.0));
        assert_eq!(bytes(ProtocolWork { copies: 1.0, ..WORK }), Some(5_000.0));
        assert_eq!(
            bytes(ProtocolWork { frame: Some(Bytes::new(9_000)), ..WORK }),
            Some(4_500.0),
            "jumbo frames"
        );
        assert_eq!(bytes(ProtocolWork { copies: 0.0, frame: None, ..WORK }), None);
    }

    #[test]
    fn twice_the_clock_is_half_the_time() {
        let fast = ProcessorParams { clock_mhz: 2000.0, ..ONE };
        assert_eq!(fast.operation(&WORK) * 2, ONE.operation(&WORK));
        assert_eq!(fast.member() * 2, ONE.member());
        let rate = |one: ProcessorParams| one.rate(&WORK).map(|rate| rate.get());
        assert_eq!(rate(fast), rate(ONE).map(|rate| rate * 2.0));
    }
}
