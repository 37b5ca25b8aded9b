//! Parses the dates in pages of Takeout, in which the names of months are in the language of the account.

/// Returns year, month and day of the date in a text. The text must not contain a time of day.
pub(super) fn read_date(text: &str) -> Option<(i16, i8, i8)> {
    let text = text.to_lowercase();
    // Thailand counts years from 543 BC, so 543 is subtracted from a year in this range.
    let common_year = |n: u32| if (2533..=2643).contains(&n) { n - 543 } else { n };
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).map(common_year);
    let numbers: Vec<u32> = numbers.collect();
    let is_year = |n: &u32| (1990..=2100).contains(n);
    let (year, month, day) = match numbers.as_slice() {
        // A date with only two numbers must contain the name of its month.
        [a, b] => {
            let words = || {
                let words = text.split(|c: char| c.is_whitespace() || c.is_ascii_digit());
                words.map(|word| word.trim_start_matches(|c: char| !c.is_alphabetic()))
            };
            // Some Croatian months begin like other months in related languages, but only Croatian writes a full stop
            // after the year.
            let is_croatian = text.contains(&format!("{}.", a.max(b)));
            let croatian =
                words().filter(|_| is_croatian).find_map(|word| month_in(&CROATIAN, word)).map(|(_, month)| month);
            let month = croatian.or_else(|| words().find_map(month_by_name))?;
            if is_year(b) { (*b, month, *a) } else { (*a, month, *b) }
        }
        [year, month, day] if is_year(year) => (*year, *month, *day),
        // If Google writes the month as a number, the day comes first. If the second number cannot be a month, the
        // first one is the month.
        [day, month, year] if *month <= 12 => (*year, *month, *day),
        [month, day, year] => (*year, *month, *day),
        _ => return None,
    };
    let is_date = is_year(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then_some((i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?))
}

/// Beginnings of the names of months in European languages. If several match a word, the longest one is used.
const MONTHS: [(u32, &[&str]); 12] = [
    (1, &["jan", "janv", "ene", "gen", "sty", "янв", "січ", "ιαν", "oca", "tammi", "led"]),
    (2, &["feb", "fév", "fev", "lut", "фев", "лют", "φεβ", "şub", "sub", "helmi", "úno"]),
    (3, &["mar", "mär", "mrz", "mrt", "maa", "mars", "марта", "мар", "бер", "μαρ", "břez"]),
    (4, &["apr", "avr", "abr", "kwi", "апр", "кві", "απρ", "nis", "huhti", "dub"]),
    (5, &["may", "mai", "mag", "mei", "maj", "мая", "май", "тра", "μαΐ", "μαϊ", "touko", "kvě"]),
    (6, &["juin", "jun", "giu", "cze", "июн", "чер", "ιουν", "haz", "kesä", "červn"]),
    (7, &["juil", "jul", "lug", "lip", "июл", "лип", "ιουλ", "tem", "heinä", "červen"]),
    (8, &["aug", "aoû", "aou", "ago", "sie", "авг", "сер", "αυγ", "ağu", "elo", "srp"]),
    (9, &["sep", "set", "wrz", "сен", "вер", "σεπ", "eyl", "syys", "zář"]),
    (10, &["oct", "okt", "out", "ott", "paź", "окт", "жов", "οκτ", "eki", "loka", "říj"]),
    (11, &["nov", "lis", "лист", "ноя", "νοε", "kas", "marras"]),
    (12, &["dec", "déc", "dez", "des", "dic", "gru", "дек", "гру", "δεκ", "ara", "joulu", "pro"]),
];

/// Names of months in further languages, in the short forms of Unicode CLDR.
const CLDR_MONTHS: [[&str; 12]; 33] = [
    ["jan", "feb", "mar", "apr", "mei", "jun", "jul", "agu", "sep", "okt", "nov", "des"], // Indonesian
    ["jan", "feb", "mac", "apr", "mei", "jun", "jul", "ogo", "sep", "okt", "nov", "dis"], // Malay
    ["ene", "peb", "mar", "abr", "may", "hun", "hul", "ago", "set", "okt", "nob", "dis"], // Filipino
    ["ian", "feb", "mar", "apr", "mai", "iun", "iul", "aug", "sep", "oct", "nov", "dec"], // Romanian
    ["jan", "feb", "márc", "ápr", "máj", "jún", "júl", "aug", "szept", "okt", "nov", "dec"], // Hungarian
    ["jaan", "veeb", "mär", "apr", "mai", "juuni", "juuli", "aug", "sep", "okt", "nov", "dets"], // Estonian
    ["jan", "feb", "mar", "apr", "maij", "jūn", "jūl", "aug", "sep", "okt", "nov", "dec"], // Latvian
    ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "avg", "sep", "okt", "nov", "dec"], // Slovenian, Serbian
    ["gen", "febr", "març", "abr", "maig", "juny", "jul", "ag", "set", "oct", "nov", "des"], // Catalan
    ["जन", "फ", "मार्च", "अप्रै", "मई", "जून", "जुल", "अग", "सित", "अक्टू", "नव", "दिस"],        // Hindi
    ["जाने", "फेब", "मार्च", "एप्रि", "मे", "जून", "जुलै", "ऑग", "सप्टें", "ऑक्टो", "नोव्हें", "डिसें"],   // Marathi
    ["জানু", "ফেব", "মার্চ", "এপ্রি", "মে", "জুন", "জুল", "আগ", "সেপ", "অক্টো", "নভে", "ডিসে"],   // Bengali
    ["ஜன", "பிப்", "மார்", "ஏப்", "மே", "ஜூன்", "ஜூலை", "ஆக", "செப்", "அக்", "நவ", "டிச"],       // Tamil
    ["జన", "ఫిబ్ర", "మార్చి", "ఏప్రి", "మే", "జూన్", "జులై", "ఆగ", "సెప్టెం", "అక్టో", "నవం", "డిసెం"],    // Telugu
    ["જાન્યુ", "ફેબ્રુ", "માર્ચ", "એપ્રિ", "મે", "જૂન", "જુલાઈ", "ઑગ", "સપ્ટે", "ઑક્ટો", "નવે", "ડિસે"], // Gujarati
    ["ಜನ", "ಫೆಬ್ರ", "ಮಾರ್ಚ್", "ಏಪ್ರಿ", "ಮೇ", "ಜೂನ್", "ಜುಲೈ", "ಆಗ", "ಸೆಪ್ಟೆಂ", "ಅಕ್ಟೋ", "ನವೆಂ", "ಡಿಸೆಂ"],    // Kannada
    ["ജനു", "ഫെബ്രു", "മാർ", "ഏപ്രി", "മേ", "ജൂൺ", "ജൂലൈ", "ഓഗ", "സെപ്റ്റം", "ഒക്ടോ", "നവം", "ഡിസം"], // Malayalam
    ["جنوری", "فروری", "مارچ", "اپریل", "مئی", "جون", "جولائی", "اگست", "ستمبر", "اکتوبر", "نومبر", "دسمبر"], // Urdu
    ["يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"],
    ["ژانو", "فوریه", "مارس", "آوریل", "مه", "ژوئن", "ژوئیه", "اوت", "سپتامبر", "اکتبر", "نوامبر", "دسامبر"], // Persian
    ["ינו", "פבר", "מרץ", "אפר", "מאי", "יוני", "יולי", "אוג", "ספט", "אוק", "נוב", "דצמ"],                   // Hebrew
    ["ม.ค", "ก.พ", "มี.ค", "เม.ย", "พ.ค", "มิ.ย", "ก.ค", "ส.ค", "ก.ย", "ต.ค", "พ.ย", "ธ.ค"],                    // Thai
    ["xan", "feb", "mar", "abr", "maio", "xuñ", "xul", "ago", "set", "out", "nov", "dec"], // Galician
    ["jan", "feb", "mar", "apr", "maí", "jún", "júl", "ágú", "sep", "okt", "nóv", "des"],  // Icelandic
    ["jan", "shk", "mar", "pri", "maj", "qer", "korr", "gush", "sht", "tet", "nën", "dhj"], // Albanian
    ["yan", "fev", "mar", "apr", "may", "iyn", "iyl", "avq", "sen", "okt", "noy", "dek"],  // Azerbaijani, Uzbek
    ["јан", "фев", "мар", "апр", "мај", "јун", "јул", "авг", "сеп", "окт", "ное", "дек"],  // Macedonian
    ["сту", "лют", "сак", "кра", "мая", "чэр", "ліп", "жні", "вер", "кас", "ліс", "сне"],  // Belarusian
    ["қаң", "ақп", "нау", "сәу", "мам", "мау", "шіл", "там", "қыр", "қаз", "қар", "жел"],  // Kazakh
    ["հնվ", "փտվ", "մրտ", "ապր", "մյս", "հնս", "հլս", "օգս", "սեպ", "հոկ", "նոյ", "դեկ"],  // Armenian
    ["იან", "თებ", "მარ", "აპრ", "მაი", "ივნ", "ივლ", "აგვ", "სექ", "ოქტ", "ნოე", "დეკ"],  // Georgian
    ["जन", "फे", "मार्च", "अप्रि", "मे", "जुन", "जुला", "अग", "सेप्टे", "अक्टो", "नोभे", "डिसे"],      // Nepali
    ["ਜਨ", "ਫ਼ਰ", "ਮਾਰਚ", "ਅਪ੍ਰੈ", "ਮਈ", "ਜੂਨ", "ਜੁਲਾ", "ਅਗ", "ਸਤੰ", "ਅਕਤੂ", "ਨਵੰ", "ਦਸੰ"],         // Punjabi
];

/// Beginnings of the Croatian names of months. Some of them are also beginnings of other months in Polish (`lip`,
/// `lis`) or Czech (`srp`), so they are used only for dates that are certainly Croatian.
const CROATIAN: [&str; 12] = ["sij", "velj", "ožu", "tra", "svi", "lip", "srp", "kol", "ruj", "lis", "stu", "pro"];

/// Returns the number of the month whose name a word begins with. If several names match, the longest one is used.
fn month_by_name(word: &str) -> Option<u32> {
    // Catalan writes `d'` before a month that begins with a vowel, and Hebrew writes `ב` ("in") as part of the word.
    let prefixes = ["d’", "d'", "ב"];
    let word = prefixes.iter().find_map(|prefix| word.strip_prefix(*prefix)).unwrap_or(word);
    let starts = |(month, names): &(u32, &[&str])| {
        names.iter().filter(|name| word.starts_with(**name)).map(|name| (name.len(), *month)).max()
    };
    let first = MONTHS.iter().filter_map(starts).max();
    let more = CLDR_MONTHS.iter().filter_map(|names| month_in(names, word)).max();
    first.max(more).map(|(_, month)| month)
}

/// Returns the length of the longest matching name, and the number of its month.
fn month_in(names: &[&str; 12], word: &str) -> Option<(usize, u32)> {
    (1..).zip(names).filter(|(_, name)| word.starts_with(**name)).map(|(month, name)| (name.len(), month)).max()
}
