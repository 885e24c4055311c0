//! Tables and lines as both versions print them.

use std::fmt::Write;

use units::convert::truncated;

use super::figures::{Figure, Test};
use super::{CHUNK, Figures, FileTest, Generation, SEEKS};

/// What is printed beside the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Which program's.
    pub generation: Generation,
    /// Of the machine.
    pub name: String,
    /// Of the file of each copy; 0 without one.
    pub size_mib: u64,
    /// Bytes of a block.
    pub chunk: u32,
    /// Seeks of each copy.
    pub seeks: u32,
    /// Processes that seek.
    pub seekers: u32,
    /// How many did the same at once.
    pub copies: u32,
    /// Of the random numbers.
    pub seed: String,
    /// Small files.
    pub files: Option<FileTest>,
}

/// The columns of 1.03, as printed before several lines.
const COLUMNS_103: &str = "name,file_size,putc,putc_cpu,put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,\
    get_block,get_block_cpu,seeks,seeks_cpu,num_files,seq_create,seq_create_cpu,seq_stat,seq_stat_cpu,seq_del,\
    seq_del_cpu,ran_create,ran_create_cpu,ran_stat,ran_stat_cpu,ran_del,ran_del_cpu";

/// The columns of 2.00, as printed before several lines: 48 names over lines of 50, for programs know it so.
const COLUMNS_200: &str = "format_version,bonnie_version,name,concurrency,seed,file_size,io_chunk_size,putc,\
    putc_cpu,put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,get_block,get_block_cpu,seeks,seeks_cpu,\
    num_files,max_size,min_size,num_dirs,file_chunk_size,seq_create,seq_create_cpu,seq_stat,seq_stat_cpu,seq_del,\
    seq_del_cpu,ran_create,ran_create_cpu,ran_stat,ran_stat_cpu,ran_del,ran_del_cpu,putc_latency,\
    put_block_latency,rewrite_latency,getc_latency,get_block_latency,seeks_latency,seq_create_latency,\
    seq_stat_latency,seq_del_latency,ran_create_latency,ran_stat_latency,ran_del_latency";

const BLOCKS: [&str; 2] = [
    "------Sequential Output------ --Sequential Input- --Random-",
    "-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--",
];
const FILES: [&str; 2] = [
    "------Sequential Create------ --------Random Create--------",
    "-Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--",
];

impl Sheet {
    /// What is printed for people.
    pub fn table(&self, figures: &Figures) -> String {
        match self.generation {
            Generation::V103 => self.table_103(figures),
            Generation::V200 => self.table_200(figures),
        }
    }

    /// The names of the columns of [`Sheet::line`].
    pub fn columns(&self) -> String {
        let columns = match self.generation {
            Generation::V103 => COLUMNS_103,
            Generation::V200 => COLUMNS_200,
        };
        format!("{columns}\n")
    }

    /// What is printed for programs.
    pub fn line(&self, figures: &Figures) -> String {
        match self.generation {
            Generation::V103 => self.line_103(figures),
            Generation::V200 => self.line_200(figures),
        }
    }

    fn table_103(&self, figures: &Figures) -> String {
        let mut text = String::new();
        let has_blocks = self.size_mib > 0;
        if has_blocks {
            let size = self.size_and_chunk();
            let title = if self.chunk == CHUNK { "Machine        Size" } else { "Machine   Size:chnk" };
            heading(&mut text, "Version 1.03e", &BLOCKS, "");
            let per = "K/sec %CP ".repeat(5);
            line(&mut text, format_args!("{title} {per} /sec %CP"));
            let cells: String =
                figures.blocks().map(|(test, figure)| cell(figure, |f| rate_103(test, f))).collect();
            line(&mut text, format_args!("{}{cells}", self.name_and(&size)));
        }
        if let Some(files) = self.files {
            let (version, name) = if has_blocks { ("", "") } else { ("Version 1.03e", self.name.as_str()) };
            heading(&mut text, version, &FILES, name);
            line(&mut text, format_args!("{}{}", file_title(files), "  /sec %CP".repeat(6)));
            let cells: String = figures.files().map(|(_, figure)| cell(figure, whole)).collect();
            line(&mut text, format_args!("{:>19}{cells}", file_words(files)));
        }
        text
    }

    fn table_200(&self, figures: &Figures) -> String {
        let mut text = String::new();
        if self.size_mib > 0 {
            heading(&mut text, "Version 2.00a", &BLOCKS, "");
            line(&mut text, format_args!("{:<19}{}", "Name:Size etc", "  /sec %CP".repeat(6)));
            let cells: String =
                figures.blocks().map(|(test, figure)| cell(figure, |f| rate_200(test, f))).collect();
            line(&mut text, format_args!("{}{cells}", self.name_and(&self.parameters())));
            latencies(&mut text, figures.blocks());
        }
        match self.files {
            Some(files) => {
                heading(&mut text, "Version 2.00a", &FILES, &self.name);
                line(&mut text, format_args!("{}{}", file_title(files), "  /sec %CP".repeat(6)));
                let cells: String = figures.files().map(|(_, figure)| cell(figure, whole)).collect();
                line(&mut text, format_args!("{:>19}{cells}", file_words(files)));
                latencies(&mut text, figures.files());
            }
            None => text.push('\n'),
        }
        text
    }

    fn line_103(&self, figures: &Figures) -> String {
        let size = if self.size_mib > 0 { self.size_and_chunk() } else { String::new() };
        let blocks: String =
            figures.blocks().map(|(test, figure)| field(figure, |f| rate_csv(test, f, true))).collect();
        let words = self.files.map(file_words).unwrap_or_default();
        let files: String = figures.files().map(|(_, figure)| field(figure, whole)).collect();
        let line = format!("{},{size}{blocks},{words}{files}\n", self.plain_name());
        debug_assert_eq!(
            line.matches(',').count(),
            COLUMNS_103.matches(',').count(),
            "a field for each column"
        );
        line
    }

    fn line_200(&self, figures: &Figures) -> String {
        let name = self.plain_name();
        let mut text = format!("1.98,2.00a,{name},{},{}", self.copies, self.seed);
        match self.size_mib > 0 {
            true => {
                let chunk = if self.chunk == CHUNK { String::new() } else { kib(self.chunk) };
                let _infallible =
                    write!(text, ",{},{chunk},{},{}", size_words(self.size_mib), self.seeks, self.seekers);
            }
            false => text.push_str(",,,,"),
        }
        for (test, figure) in figures.blocks() {
            text += &field(figure, |f| rate_csv(test, f, false));
        }
        match self.files {
            Some(FileTest { thousands, max, min, dirs }) => {
                let set = |value: u64| if value > 0 { value.to_string() } else { String::new() };
                // Directories stand where the last name of the columns is, as 2.00a writes and its converters read
                // them.
                let _infallible =
                    write!(text, ",{thousands},{},{},,{}", set(max), set(min), set(u64::from(dirs)));
            }
            None => text.push_str(",,,,,"),
        }
        for (_, figure) in figures.files() {
            text += &field(figure, whole);
        }
        for (_, figure) in figures.blocks().chain(figures.files()) {
            text.push(',');
            text += &figure.map(|figure| time(figure.longest_ns)).unwrap_or_default();
        }
        debug_assert_eq!(text.matches(',').count(), 49, "readers count 50 columns");
        text.push('\n');
        text
    }

    /// A name and what belongs to it, in 19 columns.
    fn name_and(&self, words: &str) -> String {
        let width = 18usize.saturating_sub(words.chars().count()).max(3);
        let name: String = self.name.chars().take(width).collect();
        format!("{name:<width$} {words}")
    }

    /// A name that does not break lines of columns.
    fn plain_name(&self) -> String {
        self.name.chars().map(|c| if c == ',' || c.is_control() { '_' } else { c }).collect()
    }

    fn size_and_chunk(&self) -> String {
        match self.chunk {
            CHUNK => size_words(self.size_mib),
            chunk => format!("{}:{}", size_words(self.size_mib), kib(chunk)),
        }
    }

    /// `2G`, and after colons chunk, copies and seeks, empty where they are as always.
    fn parameters(&self) -> String {
        let chunk = if self.chunk == CHUNK { String::new() } else { kib(self.chunk) };
        let unless = |value: u32, usual: u32| if value == usual { String::new() } else { value.to_string() };
        let all = [size_words(self.size_mib), chunk, unless(self.copies, 1), unless(self.seeks, SEEKS)];
        all.join(":").trim_end_matches(':').into()
    }
}

fn heading(text: &mut String, version: &str, titles: &[&str; 2], name: &str) {
    let name: String = name.chars().take(19).collect();
    line(text, format_args!("{version:<20}{}", titles[0]));
    line(text, format_args!("{name:<20}{}", titles[1]));
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    let _infallible = writeln!(text, "{words}");
}

fn latencies<'a>(text: &mut String, figures: impl Iterator<Item = (Test, Option<&'a Figure>)>) {
    let cells = figures.map(|(_, figure)| figure.map(|figure| time(figure.longest_ns)).unwrap_or_default());
    let cells: String = cells.map(|time| format!(" {time:>9}")).collect();
    line(text, format_args!("{:<17}{cells}", "Latency"));
}

fn file_title(files: FileTest) -> String {
    match files.max {
        0 => format!("{:>19}", "files"),
        _ => format!("{:<19}", "files:max:min"),
    }
}

/// `16`, `16:4096:512/10`
fn file_words(FileTest { thousands, max, min, dirs }: FileTest) -> String {
    let mut words = thousands.to_string();
    let _infallible = match (max, min) {
        (0, _) => Ok(()),
        (max, 0) => write!(words, ":{max}"),
        (max, min) => write!(words, ":{max}:{min}"),
    };
    if dirs > 0 {
        let _infallible = write!(words, "/{dirs}");
    }
    words
}

fn size_words(mib: u64) -> String {
    if mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}

fn kib(bytes: u32) -> String {
    if bytes.is_multiple_of(1024) { format!("{}k", bytes / 1024) } else { bytes.to_string() }
}

/// Ten columns of a table.
fn cell(figure: Option<&Figure>, rate: impl Fn(&Figure) -> String) -> String {
    match figure {
        None => " ".repeat(10),
        Some(figure) if !figure.is_told() => " +++++ +++".into(),
        Some(figure) => match figure.cpu_percent() {
            Some(percent) => format!(" {:>5} {percent:>3}", rate(figure)),
            None => format!(" {:>5} +++", rate(figure)),
        },
    }
}

/// Two columns of a line.
fn field(figure: Option<&Figure>, rate: impl Fn(&Figure) -> String) -> String {
    match figure {
        None => ",,".into(),
        Some(figure) if !figure.is_told() => ",+++++,+++".into(),
        Some(figure) => match figure.cpu_percent() {
            Some(percent) => format!(",{},{percent}", rate(figure)),
            None => format!(",{},+++", rate(figure)),
        },
    }
}

fn whole(figure: &Figure) -> String {
    truncated::<u64>(figure.per_second).to_string()
}

fn seeks(figure: &Figure) -> String {
    match figure.per_second < 1000.0 {
        true => format!("{:.1}", figure.per_second),
        false => format!("{:.0}", figure.per_second),
    }
}

fn rate_103(test: Test, figure: &Figure) -> String {
    if test == Test::Seeks { seeks(figure) } else { whole(figure) }
}

fn rate_csv(test: Test, figure: &Figure, always_decimal: bool) -> String {
    match test {
        Test::Seeks if always_decimal => format!("{:.1}", figure.per_second),
        Test::Seeks => seeks(figure),
        _ => whole(figure),
    }
}

fn rate_200(test: Test, figure: &Figure) -> String {
    if test == Test::Seeks {
        return seeks(figure);
    }
    let kib = figure.per_second.trunc();
    let mib = kib / 1024.0;
    if kib <= 9999.0 {
        format!("{kib:.0}k")
    } else if mib <= 100.0 {
        format!("{mib:.1}m")
    } else if mib < 1000.0 {
        format!("{mib:.0}m")
    } else {
        format!("{:.1}g", mib / 1024.0)
    }
}

/// `8018us`, `250ms`, `120s`
fn time(ns: u64) -> String {
    match ns {
        0..100_000_000 => format!("{}us", ns / 1000),
        100_000_000..100_000_000_000 => format!("{}ms", ns / 1_000_000),
        _ => format!("{}s", ns / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(per_second: f64, percent: u64, longest_us: u64) -> Option<Figure> {
        let cpu_s = Some(percent as f64 / 10.0 + 0.001);
        let longest_ns = longest_us * 1000;
        Some(Figure {
            per_second,
            seconds: 10.0,
            cpu_s,
            longest_ns,
            request: 8192,
            amount: per_second * 10.0,
        })
    }

    fn fast(longest_us: u64) -> Option<Figure> {
        figure(1e9, 1, longest_us).map(|figure| Figure { seconds: 0.49, ..figure })
    }

    fn sheet(generation: Generation) -> Sheet {
        Sheet {
            generation,
            name: "raid0".into(),
            size_mib: 2048,
            chunk: 8192,
            seeks: 8192,
            seekers: generation.seekers(),
            copies: 1,
            seed: "77".into(),
            files: Some(FileTest { thousands: 16, max: 0, min: 0, dirs: 0 }),
        }
    }

    #[test]
    fn the_table_and_the_line_of_1_03_are_those_of_the_original() {
        let figures = Figures::with([
            figure(83720.9, 95, 1),
            figure(813061.0, 95, 1),
            figure(1185231.0, 100, 1),
            figure(84567.0, 97, 1),
            figure(2828489.0, 97, 1),
            figure(1187.4, 0, 1),
            figure(13055.0, 93, 1),
            fast(1),
            figure(15189.0, 87, 1),
            figure(12872.0, 95, 1),
            fast(1),
            figure(20590.0, 99, 1),
        ]);
        let sheet = sheet(Generation::V103);
        assert_eq!(
            sheet.table(&figures),
            "Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-\n\
             \x20                   -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
             Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n\
             raid0            2G 83720  95 813061  95 1185231 100 84567  97 2828489  97  1187   0\n\
             \x20                   ------Sequential Create------ --------Random Create--------\n\
             \x20                   -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
             \x20             files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
             \x20                16 13055  93 +++++ +++ 15189  87 12872  95 +++++ +++ 20590  99\n"
        );
        assert_eq!(
            sheet.line(&figures),
            "raid0,2G,83720,95,813061,95,1185231,100,84567,97,2828489,97,1187.4,0,16,13055,93,+++++,+++,15189,87,\
             12872,95,+++++,+++,20590,99\n"
        );
        assert_eq!(sheet.line(&figures).split(',').count(), 27);
        assert_eq!(sheet.columns().split(',').count(), 27);
    }

    #[test]
    fn the_table_and_the_line_of_2_00_are_those_of_the_original() {
        let figures = Figures::with([
            None,
            figure(798227.0, 51, 8018),
            figure(2557626.0, 46, 8007),
            None,
            fast(4018),
            figure(722.67, 4, 155_511),
            figure(10792.0, 37, 21162),
            fast(12010),
            fast(9314),
            fast(12065),
            fast(8029),
            fast(12017),
        ]);
        let mut sheet = sheet(Generation::V200);
        assert_eq!(
            sheet.table(&figures),
            "Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-\n\
             \x20                   -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
             Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
             raid0            2G            780m  51  2.4g  46           +++++ +++ 722.7   4\n\
             Latency                        8018us    8007us              4018us     155ms\n\
             Version 2.00a       ------Sequential Create------ --------Random Create--------\n\
             raid0               -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
             \x20             files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
             \x20                16 10792  37 +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++\n\
             Latency             21162us   12010us    9314us   12065us    8029us   12017us\n"
        );
        assert_eq!(
            sheet.line(&figures),
            "1.98,2.00a,raid0,1,77,2G,,8192,5,,,798227,51,2557626,46,,,+++++,+++,722.7,4,16,,,,,10792,37,+++++,+++,\
             +++++,+++,+++++,+++,+++++,+++,+++++,+++,,8018us,8007us,,4018us,155ms,21162us,12010us,9314us,12065us,\
             8029us,12017us\n"
        );
        assert_eq!(sheet.line(&figures).split(',').count(), 50);
        assert_eq!(sheet.columns().split(',').count(), 48);

        sheet.name = "averyveryverylongname".into();
        (sheet.chunk, sheet.copies, sheet.seeks) = (16384, 2, 100);
        sheet.files = Some(FileTest { thousands: 2, max: 4096, min: 512, dirs: 3 });
        let table = sheet.table(&figures);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[3].starts_with("averyv 2G:16k:2:100           "), "{table}");
        assert!(lines[6].starts_with("averyveryverylongna -Create-- "), "{table}");
        assert!(lines[7].starts_with("files:max:min        /sec %CP"), "{table}");
        assert!(lines[8].starts_with("       2:4096:512/3 10792  37"), "{table}");
        assert!(sheet.line(&figures).contains(",2G,16k,100,5,"));
        assert!(sheet.line(&figures).contains(",2,4096,512,,3,10792,37,"));
    }

    #[test]
    fn what_was_not_tested_is_blank_and_has_its_columns() {
        for generation in [Generation::V103, Generation::V200] {
            let columns = if generation == Generation::V103 { 27 } else { 50 };
            let figures = Figures::default();
            let no_blocks = Sheet { size_mib: 0, ..sheet(generation) };
            let no_files = Sheet { files: None, ..sheet(generation) };
            for sheet in [&no_blocks, &no_files] {
                assert_eq!(sheet.line(&figures).split(',').count(), columns);
            }
            assert!(
                !no_blocks.table(&figures).contains("Seeks") && !no_files.table(&figures).contains("Create")
            );
            assert!(no_blocks.table(&figures).contains("raid0               -Create--"));
        }
    }

    #[test]
    fn rates_have_the_units_that_the_original_gives_them() {
        let cases = [
            (9999.0, "9999k"),
            (10000.0, "9.8m"),
            (102400.0, "100.0m"),
            (102401.0, "100m"),
            (1_023_999.0, "1000m"),
            (1_024_000.0, "1.0g"),
            (10_485_760.0, "10.0g"),
        ];
        for (kib, text) in cases {
            assert_eq!(rate_200(Test::Read, &figure(kib, 1, 1).unwrap()), text);
        }
        assert_eq!((time(99_999_999), time(100_000_000)), ("99999us".into(), "100ms".into()));
        assert_eq!((time(99_999_999_999), time(100_000_000_000)), ("99999ms".into(), "100s".into()));
    }
}
