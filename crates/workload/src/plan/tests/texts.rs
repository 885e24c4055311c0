//! Of every part of a specification what is written reads back.

use proptest::prelude::*;

use super::arbitrary::{extent, pace, pattern, share, split};
use crate::plan::text::{CpuList, Ratio, share_text};
use crate::spec::{EngineKind, Files, LunLayout, Pace, Pattern, SizeSplit, Span};

proptest! {
    #[test]
    fn what_is_written_reads_back(
        pattern in pattern(), pace in pace(), extent in extent(), split in split(), share in share(),
        ratio in 1.0..=1000.0f64, cpus in proptest::collection::vec(0u32..300, 0..40),
    ) {
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        prop_assert_eq!(pace.to_string().parse(), Ok(pace));
        prop_assert_eq!(extent.to_string().parse(), Ok(extent));
        prop_assert_eq!(Span::Of(extent).to_string().parse(), Ok(Span::Of(extent)));
        prop_assert_eq!(split.to_string().parse(), Ok(split));
        prop_assert_eq!(share_text(share).parse(), Ok(share));
        prop_assert_eq!(Ratio(ratio).to_string().parse(), Ok(Ratio(ratio)));
        prop_assert_eq!(CpuList(cpus.clone()).to_string().parse(), Ok(CpuList(cpus)));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,40}", inner in "[0-9a-z%,./: -]{0,20}") {
        for text in [text.clone(), format!("hot({inner})"), format!("rate({inner})"), format!("{{{text}}}"), inner] {
            let _ = text.parse::<Pattern>();
            let _ = text.parse::<Pace>();
            let _ = text.parse::<Span>();
            let _ = text.parse::<SizeSplit>();
            let _ = text.parse::<Files>();
            let _ = text.parse::<LunLayout>();
            let _ = text.parse::<Ratio>();
            let _ = text.parse::<CpuList>();
            let _ = text.parse::<EngineKind>();
        }
    }
}
