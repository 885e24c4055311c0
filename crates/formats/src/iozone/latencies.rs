//! IOzone's offset and latency files (`-Q`): a line for each record of the write and read passes.
//!
//! Source: `write_perf_test` and `read_perf_test` of iozone.c 3.4: names, head, the width of the columns, and the line
//! of times behind each pass. The files are added to, as IOzone does.

use std::fmt::Write;

use super::figure::named;
use super::pass::Pass;

/// What a file begins with, each time the program is called.
pub const HEAD: &str = "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n";

/// The file of the pass that a phase of that name measures; `None` where IOzone writes none.
pub fn file_of(phase: &str) -> Option<&'static str> {
    match named(phase)?.1 {
        Pass::Write => Some("wol.dat"),
        Pass::Rewrite => Some("rwol.dat"),
        Pass::Read => Some("rol.dat"),
        Pass::Reread => Some("rrol.dat"),
        _ => None,
    }
}

/// Adds the line of a record to `text`.
pub fn line(offset_bytes: u64, latency_ns: u64, size_bytes: u64, text: &mut String) {
    let latency_us = (latency_ns as f64 / 1000.0).round();
    let _ = writeln!(text, "{:>10} {latency_us:>10.0} {size_bytes:>10}", offset_bytes / 1024);
}

/// The line of times behind a pass: of the system and of the program on its processors, and by the clock.
pub fn times(system_s: f64, user_s: f64, real_s: f64) -> String {
    format!("\nSystem time {system_s:10.3} User time {user_s:10.3} Real {real_s:10.3}  (seconds)\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_offset_latency_and_size_in_columns_of_ten() {
        let mut text = String::new();
        line(0, 12_499, 4096, &mut text);
        line(3 << 30, 1_234_567_890, 1 << 20, &mut text);
        assert_eq!(text, "         0         12       4096\n   3145728    1234568    1048576\n");
        assert_eq!(
            times(0.25, 1.5, 12.0625),
            "\nSystem time      0.250 User time      1.500 Real     12.062  (seconds)\n"
        );
    }

    #[test]
    fn only_writes_and_reads_have_a_file() {
        let of = |pass: &str| file_of(&format!("64 kB, 4 kB: {pass}"));
        assert_eq!(
            ["write", "rewrite", "read", "reread"].map(of),
            ["wol.dat", "rwol.dat", "rol.dat", "rrol.dat"].map(Some)
        );
        assert_eq!(
            (of("random read"), of("fwrite"), file_of("flush after 64 kB, 4 kB: write")),
            (None, None, None)
        );
    }
}
