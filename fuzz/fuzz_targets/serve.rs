//! What a client of a served array sends, from its first byte on; and what is on a disk's label and in the journal.
#![no_main]

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use array::spec::{Shipped, array};
use libfuzzer_sys::fuzz_target;
use serve::machine::{Machine, Options, Shape};
use serve::nbd::{self, Export, Security};

/// Takes every answer and forgets it.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        Ok(from.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn machine() -> &'static Arc<Machine> {
    static MACHINE: OnceLock<Arc<Machine>> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let spec = array(&Shipped, "md3000?raid=5").expect("it is shipped");
        let shape = Shape::of("fuzz", &spec.topology).expect("it is a whole one");
        Machine::in_memory(shape, &Options::default()).expect("memory is there")
    })
}

fuzz_target!(|sent: &[u8]| {
    let machine = machine();
    let export = Export { name: "lun0".into(), about: String::new(), bytes: 64 << 20, is_rotating: true };
    // Every way to end is one.
    let _ended = nbd::serve(machine, &[export], Security::Local, sent, Nowhere, None, || {});
});
