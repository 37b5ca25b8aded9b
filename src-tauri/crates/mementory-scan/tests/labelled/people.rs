//! Generates fictional people, places and companies, and e-mail addresses.
use super::rng::Rng;

const FIRST_NAMES: &[&str] = &[
    "Mara",
    "Jonas",
    "Elif",
    "Sofia",
    "Tobias",
    "Inês",
    "Pawel",
    "Linnea",
    "Hugo",
    "Chiara",
    "Daan",
    "Yusuf",
    "Noor",
    "Greta",
    "Mateo",
    "Camille",
    "Oskar",
    "Priya",
    "Kenji",
    "Agnieszka",
    "Ruben",
    "Thea",
    "Luca",
    "Amara",
];
const LAST_NAMES: &[&str] = &[
    "Quellwitz",
    "Brindlemoor",
    "Tarnfield",
    "Osterhagen",
    "Valdecuna",
    "Morvenne",
    "Castelbruno",
    "Azevinho",
    "Wrzoska",
    "Lindsjo",
    "Karatas",
    "Hollowell",
    "Dravenport",
    "Sturmfels",
    "Pradillo",
    "Beaucastel",
    "Fiorenzo",
    "Zonneveld",
    "Halvorsrud",
    "Yildirimci",
    "Penhallow",
    "Rautavaara",
    "Ashgrove",
    "Nettlefold",
];
const DOMAINS: &[&str] = &[
    "quellwitz.de",
    "brindlemoor.co.uk",
    "tarnfield.net",
    "lumio-studio.fr",
    "valdecuna.es",
    "castelbruno.it",
    "azevinho.pt",
    "zonneveld-bouw.nl",
    "wrzoska.pl",
    "lindsjo.se",
    "karatas-mimarlik.com.tr",
    "hollowell.org",
    "gmail.com",
    "outlook.com",
    "gmx.de",
    "web.de",
    "yahoo.com",
    "orange.fr",
    "libero.it",
    "proton.me",
    "icloud.com",
    "uol.com.br",
    "wp.pl",
    "qq.com",
    "163.com",
    "morvenne.io",
    "mail.osterhagen.at",
    "students.penhallow.ac.uk",
];
const FIRMS: &[&str] = &[
    "Quellwitz GmbH",
    "Brindlemoor Ltd",
    "Lumio Studio",
    "Valdecuna S.L.",
    "Castelbruno S.r.l.",
    "Zonneveld Bouw",
    "Hollowell & Sons",
    "Osterhagen Optik",
    "Tarnfield Travel",
    "Morvenne Labs",
];
const CITIES: &[&str] = &[
    "Lyon", "Graz", "Porto", "Ghent", "Bergen", "Leeds", "Girona", "Bari", "Gdynia", "Uppsala", "Izmir", "Kobe",
    "Halifax", "Utrecht", "Basel", "Turku", "Recife", "Valdivia", "Pune", "Chengdu",
];
const STREETS: &[&str] = &["Lindenweg", "Mill Lane", "Rue des Ormes", "Calle del Olmo", "Via dei Tigli", "Korte Dijk"];

pub fn first_name(rng: &mut Rng) -> String {
    rng.pick(FIRST_NAMES).to_owned()
}

pub fn name(rng: &mut Rng) -> String {
    format!("{} {}", rng.pick(FIRST_NAMES), rng.pick(LAST_NAMES))
}

pub fn firm(rng: &mut Rng) -> String {
    rng.pick(FIRMS).to_owned()
}

pub fn city(rng: &mut Rng) -> String {
    rng.pick(CITIES).to_owned()
}

pub fn street(rng: &mut Rng) -> String {
    format!("{} {}", rng.pick(STREETS), rng.range(1, 140))
}

/// A person's e-mail address. Role addresses (info@, noreply@) are left out, because people would disagree on whether
/// they are sensitive.
pub fn email(rng: &mut Rng) -> String {
    let first = rng.pick(FIRST_NAMES).to_lowercase().replace('ê', "e");
    let last = rng.pick(LAST_NAMES).to_lowercase();
    let domain = rng.pick(DOMAINS);
    let short = first.chars().next().unwrap_or('m');
    let local = match rng.below(8) {
        0 | 1 => format!("{first}.{last}"),
        2 => format!("{short}.{last}"),
        3 => format!("{first}_{last}{}", rng.range(1, 99)),
        4 => format!("{first}{}", rng.range(1950, 2009)),
        5 => format!("{last}.{first}"),
        6 => format!("{first}.{last}+{}", rng.pick(&["news", "shop", "bahn", "work"])),
        _ => format!("{first}-{last}"),
    };
    format!("{local}@{domain}")
}
