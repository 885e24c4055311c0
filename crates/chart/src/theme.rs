//! The colours of charts: a light and a dark palette for the same classes.

/// Which palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, as on paper.
    Light,
    /// Light on near black.
    Dark,
}

/// Colours of one theme.
pub(crate) struct Palette {
    pub paper: &'static str,
    pub ink: &'static str,
    pub faint: &'static str,
    pub grid: &'static str,
    pub limit: &'static str,
    pub hues: [&'static str; crate::HUES],
}

/// Okabe and Ito's hues, darkened to a contrast of 4.5 on white.
const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#1b1f23",
    faint: "#5a636d",
    grid: "#e3e6e9",
    limit: "#b3261e",
    hues: ["#0069a6", "#b34700", "#00755a", "#a33c78", "#856000", "#4a4a4a"],
};

/// The same hues, lightened to a contrast of 4.5 on near black.
const DARK: Palette = Palette {
    paper: "#14181c",
    ink: "#e6e9ec",
    faint: "#a0a9b2",
    grid: "#2b3138",
    limit: "#ff8a80",
    hues: ["#5bb5ec", "#f5935a", "#35c49c", "#e79ac5", "#e8bf4f", "#cfcfcf"],
};

impl Theme {
    pub(crate) fn palette(self) -> &'static Palette {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }
}

/// The colour of hue `index` on white, as `#0069a6`: for those who draw charts of their own. Beyond the last they begin again.
pub fn hue_on_white(index: usize) -> &'static str {
    LIGHT.hues[index % crate::HUES]
}

/// The rules of `theme` for all classes that charts use, each selector behind `scope` (`.dark `, or nothing).
pub fn style(theme: Theme, scope: &str) -> String {
    let Palette { paper, ink, faint, grid, limit, hues } = theme.palette();
    let mut rules = format!(
        "{scope}.chart text{{fill:{ink}}}\
         {scope}.chart .faint{{fill:{faint}}}\
         {scope}.chart .grid{{stroke:{grid}}}\
         {scope}.chart .axis{{stroke:{faint}}}\
         {scope}.chart .rule{{stroke:{faint}}}\
         {scope}.chart .limit{{stroke:{limit}}}\
         {scope}.chart .limit-text{{fill:{limit}}}\
         {scope}.chart .hole{{fill:{paper};stroke:{grid}}}\
         {scope}.chart .halo{{stroke:{paper}}}\
         {scope}.chart .over{{stroke:{paper};stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}\
         {scope}.chart .inside{{fill:{paper}}}"
    );
    let hues = hues.iter().enumerate().map(|(index, hue)| (format!("h{index}"), *hue));
    for (class, hue) in hues.chain([("hx".to_owned(), *faint)]) {
        rules += &format!(
            "{scope}.chart .l.{class}{{stroke:{hue}}}{scope}.chart .f.{class},{scope}.chart text.{class}{{fill:{hue}}}\
             {scope}.chart .o.{class}{{stroke:{hue};fill:{paper}}}"
        );
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0);
        crate::ramp::luminance([channel(1), channel(3), channel(5)])
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_text_and_every_hue_has_a_contrast_of_four_and_a_half() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = theme.palette();
            let all = palette.hues.into_iter().chain([palette.ink, palette.faint, palette.limit]);
            for colour in all {
                let contrast = contrast(colour, palette.paper);
                assert!(contrast >= 4.5, "{theme:?} {colour}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn both_themes_have_the_same_classes() {
        let names = |theme| -> Vec<String> {
            style(theme, "").split('}').filter_map(|rule| Some(rule.split_once('{')?.0.to_owned())).collect()
        };
        assert_eq!(names(Theme::Light), names(Theme::Dark));
    }
}
