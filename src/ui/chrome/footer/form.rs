//! What is left out of the footer as the terminal gets narrower, in which order.

/// Columns of a model's id at most.
pub(super) const MODEL_COLUMNS: usize = 26;

/// Which parts of the first row are kept, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// ` · ` between fields, not a blank.
    pub(super) dots: bool,
    /// ` │ ` between cells, not a blank.
    pub(super) bars: bool,
    pub(super) place: bool,
    pub(super) airtime: bool,
    pub(super) bar: usize,
    pub(super) spend: bool,
    pub(super) clock: bool,
    pub(super) model: usize,
    pub(super) level: bool,
    pub(super) context: bool,
}

/// From everything to nearly nothing. The mode is never left out.
pub(super) const FORMS: [Form; 14] = {
    let full = Form {
        dots: true,
        bars: true,
        place: true,
        airtime: true,
        bar: 20,
        spend: true,
        clock: true,
        model: MODEL_COLUMNS,
        level: true,
        context: true,
    };
    let compact = Form { dots: false, ..full };
    let no_place = Form { place: false, ..compact };
    let blanks = Form { bars: false, ..no_place };
    let no_airtime = Form { airtime: false, ..blanks };
    let no_spend = Form { spend: false, ..no_airtime };
    let short_model = Form { model: 16, ..no_spend };
    let short_bar = Form { bar: 10, ..short_model };
    let no_clock = Form { clock: false, ..short_bar };
    let no_bar = Form { bar: 0, ..no_clock };
    let tiny_model = Form { model: 10, ..no_bar };
    let no_level = Form { level: false, ..tiny_model };
    let no_context = Form { context: false, ..no_level };
    let only_mode = Form { model: 0, ..no_context };
    [
        full,
        compact,
        no_place,
        blanks,
        no_airtime,
        no_spend,
        short_model,
        short_bar,
        no_clock,
        no_bar,
        tiny_model,
        no_level,
        no_context,
        only_mode,
    ]
};
