//! What the reader's terminal can show.

/// How to draw for a terminal, decided by whoever knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colour and weight are understood and wanted (`NO_COLOR`, `--color`).
    pub colour: bool,
    /// Whether anything beyond ASCII can be shown.
    pub unicode: bool,
    /// Columns; nothing but a single long word is drawn wider.
    pub width: usize,
}

/// What a piece of text is, from which its colour follows. Colour never says anything alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// Ordinary.
    #[default]
    Plain,
    /// The figure to look at first.
    Headline,
    /// A title.
    Title,
    /// Of less interest.
    Faint,
    /// A warning.
    Warning,
    /// Something wrong.
    Wrong,
}

impl Style {
    /// `text` in the colours of `look`. Adds no visible character.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        // Basic colours follow the terminal's own palette, light or dark.
        let code = match look {
            Look::Plain => return text.into(),
            Look::Headline | Look::Title => "1",
            Look::Faint => "2",
            Look::Warning => "33",
            Look::Wrong => "1;31",
        };
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }

    /// `text` with the few characters that Fathom itself uses brought to ASCII, where that is all there is.
    ///
    /// Names given by users stay as they are.
    pub(crate) fn spell(self, text: &str) -> String {
        if self.unicode {
            text.into()
        } else {
            text.replace('µ', "u").replace('±', "+/-").replace('·', "-").replace('…', "...")
        }
    }

    /// Stands where something was cut off.
    pub(crate) fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "~" }
    }
}
