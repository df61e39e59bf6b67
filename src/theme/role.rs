//! What a colour is for. Code that draws names a role, never a colour.

/// How well something must be told from its ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Text that is read: the higher floor.
    Primary,
    /// Hints, times, line numbers: the lower floor.
    Secondary,
    /// Borders, rules, scrollbars: no floor.
    Exempt,
    /// A ground that others stand on.
    Ground,
}

macro_rules! roles {
    ($($role:ident $name:literal $weight:ident $text:literal,)*) => {
        /// What a colour is for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $text] $role,)*
        }

        impl Role {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$role,)*];

            /// The name in a theme file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$role => $name,)* }
            }

            /// How well it must be told from its ground.
            pub const fn weight(self) -> Weight {
                match self { $(Self::$role => Weight::$weight,)* }
            }
        }
    };
}

roles! {
    Accent "accent" Primary "Live marks, paths, what can be chosen.",
    Border "border" Exempt "Frames and dividers.",
    BorderAccent "borderAccent" Exempt "The frame of what has the keyboard.",
    BorderMuted "borderMuted" Exempt "Frames that should recede.",
    Success "success" Primary "Went well.",
    Error "error" Primary "Went wrong.",
    Warning "warning" Primary "Needs a look.",
    Muted "muted" Secondary "Facts beside the main text.",
    Dim "dim" Secondary "Hints, separators, line numbers.",
    Text "text" Primary "What is read.",
    ThinkingText "thinkingText" Secondary "What the model thinks.",
    SelectedBg "selectedBg" Ground "Ground of what is selected.",
    ScrollbarTrack "scrollbarTrack" Exempt "The bar a scrollbar runs on.",
    ScrollbarThumb "scrollbarThumb" Exempt "The handle of a scrollbar.",
    SearchMatchBg "searchMatchBg" Ground "Ground of a search match.",
    SearchMatchText "searchMatchText" Primary "Text of a search match.",
    UserMessageBg "userMessageBg" Ground "Ground of the user's messages.",
    UserMessageText "userMessageText" Primary "Text of the user's messages.",
    CustomMessageBg "customMessageBg" Ground "Ground of mail and summaries.",
    CustomMessageText "customMessageText" Primary "Text of mail and summaries.",
    CustomMessageLabel "customMessageLabel" Primary "Label of mail and summaries.",
    ToolPendingBg "toolPendingBg" Ground "Ground of a tool's row, of its output and of cards.",
    ToolSuccessBg "toolSuccessBg" Ground "Ground of a tool that went well.",
    ToolErrorBg "toolErrorBg" Ground "Ground of a tool that failed.",
    ToolTitle "toolTitle" Primary "Name of a tool.",
    ToolOutput "toolOutput" Primary "What a tool wrote.",
    BashMode "bashMode" Primary "The composer's mark while it takes a shell line.",
    MdHeading "mdHeading" Primary "Headings, and times that are long.",
    MdLink "mdLink" Primary "Text of a link.",
    MdLinkUrl "mdLinkUrl" Secondary "Address of a link.",
    MdCode "mdCode" Primary "Code within a line.",
    MdCodeBlock "mdCodeBlock" Primary "Code in a block of its own.",
    MdCodeBlockBorder "mdCodeBlockBorder" Exempt "Lines around code and in tables.",
    MdQuote "mdQuote" Secondary "Quoted text.",
    MdQuoteBorder "mdQuoteBorder" Exempt "The bar beside a quote.",
    MdHr "mdHr" Exempt "A rule across the page.",
    MdListBullet "mdListBullet" Secondary "Bullets and numbers of lists.",
    ToolDiffAdded "toolDiffAdded" Primary "Added lines.",
    ToolDiffRemoved "toolDiffRemoved" Primary "Removed lines.",
    ToolDiffContext "toolDiffContext" Secondary "Unchanged lines around a change.",
    SyntaxComment "syntaxComment" Primary "Comments in code.",
    SyntaxKeyword "syntaxKeyword" Primary "Keywords.",
    SyntaxFunction "syntaxFunction" Primary "Names of functions.",
    SyntaxVariable "syntaxVariable" Primary "Names of variables.",
    SyntaxString "syntaxString" Primary "Strings.",
    SyntaxNumber "syntaxNumber" Primary "Numbers and constants.",
    SyntaxType "syntaxType" Primary "Names of types.",
    SyntaxOperator "syntaxOperator" Primary "Operators.",
    SyntaxPunctuation "syntaxPunctuation" Primary "Brackets, commas, semicolons.",
    ThinkingOff "thinkingOff" Secondary "Thinking level off.",
    ThinkingMinimal "thinkingMinimal" Secondary "Thinking level minimal.",
    ThinkingLow "thinkingLow" Secondary "Thinking level low.",
    ThinkingMedium "thinkingMedium" Secondary "Thinking level medium.",
    ThinkingHigh "thinkingHigh" Secondary "Thinking level high.",
    ThinkingXhigh "thinkingXhigh" Secondary "Thinking level xhigh.",
    ThinkingMax "thinkingMax" Secondary "Thinking level max.",
}

impl Role {
    /// The number of roles.
    pub const COUNT: usize = Self::ALL.len();

    /// The role of this name in a theme file.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }

    /// Where its value stands in a table of all roles.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_find_their_role() {
        for (index, role) in Role::ALL.iter().enumerate() {
            assert_eq!(Role::named(role.name()), Some(*role));
            assert_eq!(role.index(), index);
        }
        assert_eq!(Role::named("mdheading"), None);
    }
}
