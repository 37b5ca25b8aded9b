//! The kinds of memories (what a memory is about) and the special categories, with their stable names.

/// What a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum AboutKind {
    WhoYouAre,
    People,
    Work,
    Projects,
    Health,
    Money,
    PlacesTravel,
    Home,
    Food,
    Tastes,
    Beliefs,
    Plans,
    HowToAnswer,
}

impl AboutKind {
    /// All kinds, in the order in which the window lists them.
    pub const ALL: [Self; 13] = [
        Self::WhoYouAre,
        Self::People,
        Self::Work,
        Self::Projects,
        Self::Health,
        Self::Money,
        Self::PlacesTravel,
        Self::Home,
        Self::Food,
        Self::Tastes,
        Self::Beliefs,
        Self::Plans,
        Self::HowToAnswer,
    ];

    /// The stable name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WhoYouAre => "who_you_are",
            Self::People => "people",
            Self::Work => "work",
            Self::Projects => "projects",
            Self::Health => "health",
            Self::Money => "money",
            Self::PlacesTravel => "places_travel",
            Self::Home => "home",
            Self::Food => "food",
            Self::Tastes => "tastes",
            Self::Beliefs => "beliefs",
            Self::Plans => "plans",
            Self::HowToAnswer => "how_to_answer",
        }
    }

    /// Parses the stable name of a kind.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Position in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Special categories: personal data that the law protects more than other data, and three categories that people want
/// to keep to themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Special {
    Health,
    Beliefs,
    Politics,
    Origin,
    Sexuality,
    Biometrics,
    Union,
    Money,
    Minors,
    ExactAddress,
}

impl Special {
    /// All categories, in the order in which the window lists them.
    pub const ALL: [Self; 10] = [
        Self::Health,
        Self::Beliefs,
        Self::Politics,
        Self::Origin,
        Self::Sexuality,
        Self::Biometrics,
        Self::Union,
        Self::Money,
        Self::Minors,
        Self::ExactAddress,
    ];

    /// The stable name of the category.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Beliefs => "beliefs",
            Self::Politics => "politics",
            Self::Origin => "origin",
            Self::Sexuality => "sexuality",
            Self::Biometrics => "biometrics",
            Self::Union => "union",
            Self::Money => "money",
            Self::Minors => "minors",
            Self::ExactAddress => "exact_address",
        }
    }

    /// Parses the stable name of a category.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|special| special.as_str() == name)
    }
}
