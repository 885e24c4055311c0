//! Job files of other tools, by each tool's own reader; what comes out is a plan that can be read.
#![no_main]

use formats::{JobEnvironment, decoded, job_files};
use libfuzzer_sys::fuzz_target;
use workload::plan::{Overrides, Plan};

fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let kinds = job_files();
    let kind = &kinds[usize::from(*which) % kinds.len()];
    let text = decoded(bytes);
    let _known = (kind.is_one)("job", &text);
    if let Ok(order) = (kind.read)("job", &text, &JobEnvironment::NONE) {
        if let Err(errors) = Plan::parse("order.toml", &order.plan, &Overrides::default()) {
            panic!("{} made a plan that cannot be read:\n{}\n{}", kind.tool, order.plan, errors.plain());
        }
    }
});
