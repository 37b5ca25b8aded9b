//! Parses the time of a cell in a page of Takeout. Google writes times in the language of the account: `26 Jul 2026,
//! 12:00:00 CEST`, `Jul 26, 2026, 1:00:00 PM GMT+02:00`, `2026年7月26日 12:00:00 JST`.
use super::months::read_date;
use mementory_formats_shared::local_time::{DayPart, ascii_digit};
use mementory_model::Timestamp;

/// Largest length in characters of a text that is parsed as a time.
const MAX_CHARS: usize = 64;

/// A time that a page states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The time, in UTC.
    pub time: Timestamp,
    /// False if the time zone is unknown, so that the time was read as UTC.
    pub has_zone: bool,
}

/// Parses a text that contains only a time. None for any other text.
pub(super) fn read(text: &str) -> Option<Stamp> {
    let is_direction_mark =
        |c: &char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain = |c: char| if c.is_whitespace() { ' ' } else { ascii_digit(c) };
    let text: String = text.chars().filter(|c| !is_direction_mark(c)).map(plain).collect();
    let text = text.trim();
    if text.chars().count() > MAX_CHARS || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(time) = Timestamp::parse(text).filter(|_| text.contains(':')) {
        let has_zone = text.ends_with(['Z', 'z']) || text.get(19..).is_some_and(|t| t.contains(['+', '-']));
        return Some(Stamp { time, has_zone });
    }
    let (before, [hour, minute, second], after) = split_clock(text)?;
    // In Chinese, the time zone may directly follow the date, before the time of day.
    let before = before.replace('日', "日 ");
    let mut offset_minutes = None;
    let mut without_zone = |text: &str| {
        let mut out = String::new();
        for word in text.split_whitespace() {
            match read_zone(word.trim_matches(['[', ']', '(', ')', ',']), &before) {
                Some(minutes) => offset_minutes = Some(minutes),
                None => out.extend([word, " "]),
            }
        }
        out
    };
    // In Vietnamese, the time of day comes before the date.
    let (date_before, date_after) = (without_zone(&before), without_zone(&after));
    let date = read_date(if date_before.is_empty() { &date_after } else { &date_before })?;
    let hour = DayPart::next_to_time(&before, &after).and_then(|part| part.hour_of_day(hour)).unwrap_or(hour);
    let date_time = jiff::civil::DateTime::new(
        date.0,
        date.1,
        date.2,
        i8::try_from(hour).ok()?,
        i8::try_from(minute).ok()?,
        i8::try_from(second).ok()?,
        0,
    )
    .ok()?;
    let seconds = date_time.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0)).as_secs();
    let micros = (seconds - offset_minutes.unwrap_or(0) * 60) * 1_000_000;
    Some(Stamp { time: Timestamp::from_micros(micros)?, has_zone: offset_minutes.is_some() })
}

/// Splits a text at its time of day. Returns the text before the time of day, `[hours, minutes, seconds]`, and the text
/// after the time of day.
fn split_clock(text: &str) -> Option<(String, [u16; 3], String)> {
    let text = text.replace('：', ":").replace("時", ":").replace("分", ":");
    let text = text.replace(" h ", ":").replace(" min ", ":").replace(" นาฬิกา ", ":").replace(" นาที ", ":");
    for separator in [':', '.'] {
        for (at, _) in text.match_indices(separator) {
            let start = text
                .get(..at)?
                .rfind(|c: char| !c.is_ascii_digit())
                .map_or(0, |i| i + text.get(i..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8));
            let mut parts = text.get(start..)?.splitn(3, separator);
            let (Some(hour), Some(minute), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let second: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let is_clock = (1..=2).contains(&hour.len()) && minute.len() == 2 && second.len() == 2;
            let (Ok(h), Ok(m), Ok(s)) = (hour.parse(), minute.parse(), second.parse()) else { continue };
            if is_clock && h < 24 && m < 60 && s < 61 {
                let before = text.get(..start)?.to_owned();
                let after = rest.get(2..).unwrap_or_default().trim_start_matches('秒').to_owned();
                return Some((before, [h, m, s], after));
            }
        }
    }
    None
}

/// Returns the offset of a time zone from UTC in minutes. None for an unknown time zone. Some zones have the same
/// abbreviation, so the language of `date` decides which of them is meant.
fn read_zone(zone: &str, date: &str) -> Option<i64> {
    let is_chinese = date.contains('年');
    let is_hebrew = date.contains(|c| matches!(c, '\u{5d0}'..='\u{5ea}'));
    let zone = zone.replace('\u{2212}', "-");
    let zone = zone.as_str();
    if let Some(offset) =
        ["GMT", "UTC", "غرينتش", "Гринуич"].iter().find_map(|name| zone.strip_prefix(*name)).or(Some(zone))
        && let Some(sign) = offset.chars().next().filter(|c| matches!(c, '+' | '-'))
    {
        let digits = offset.get(1..)?;
        let (hours, minutes) = match digits.split_once(':') {
            Some(parts) => parts,
            None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
            None => (digits, "0"),
        };
        let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
        return (minutes <= 16 * 60).then_some(if sign == '-' { -minutes } else { minutes });
    }
    Some(match zone {
        "UTC" | "GMT" | "Z" | "WET" => 0,
        "WEST" | "BST" | "CET" | "MEZ" | "WAT" | "HNEC" | "SEČ" => 60,
        "CEST" | "MESZ" | "HAEC" | "EET" | "OEZ" | "SAST" | "CAT" | "SELČ" => 120,
        "IST" if is_hebrew => 120,
        "EEST" | "OESZ" | "MSK" | "TRT" | "EAT" | "IDT" => 180,
        "IRST" => 210,
        "GST" => 240,
        "PKT" => 300,
        "IST" => 330,
        "NPT" => 345,
        "WIB" | "ICT" => 420,
        "HKT" | "SGT" | "AWST" | "PHT" | "MYT" | "WITA" => 480,
        "CST" if is_chinese => 480,
        "JST" | "KST" | "WIT" => 540,
        "ACST" => 570,
        "AEST" | "ChST" => 600,
        "ACDT" => 630,
        "AEDT" => 660,
        "NZST" => 720,
        "NZDT" => 780,
        "BRST" => -120,
        "NDT" => -150,
        "BRT" | "ART" | "CLST" | "ADT" | "HAA" | "UYT" => -180,
        "NST" => -210,
        "EDT" | "CLT" | "AST" | "HAE" | "HNA" | "BOT" | "VET" => -240,
        "EST" | "CDT" | "PET" | "COT" | "ECT" | "HNE" | "HAC" => -300,
        "CST" | "MDT" | "HNC" | "HAR" => -360,
        "MST" | "PDT" | "HNR" | "HAP" => -420,
        "PST" | "AKDT" | "HNP" => -480,
        "AKST" => -540,
        "HST" => -600,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> Option<(String, bool)> {
        read(text).map(|stamp| (stamp.time.to_rfc3339(), stamp.has_zone))
    }

    #[test]
    fn times_of_many_languages_are_read() {
        for (text, time) in [
            ("26 Jul 2026, 12:00:00\u{202f}CEST", "2026-07-26T10:00:00Z"),
            ("Jul 26, 2026, 1:00:00\u{202f}PM GMT+02:00", "2026-07-26T11:00:00Z"),
            ("Jan 5, 2026, 12:07:02 AM PST", "2026-01-05T08:07:02Z"),
            ("18 Sept 2025, 12:02:52 CET", "2025-09-18T11:02:52Z"),
            ("18.04.2026, 17:38:51 MESZ", "2026-04-18T15:38:51Z"),
            ("10 de mai. de 2026, 03:46:09 BRT", "2026-05-10T06:46:09Z"),
            ("4 juli 2026 09:15:00 CEST", "2026-07-04T07:15:00Z"),
            ("2026年6月19日 12:23:08 CST", "2026-06-19T04:23:08Z"),
            ("2026/07/26 21:00:00 JST", "2026-07-26T12:00:00Z"),
            ("26 juil. 2026, 12:00:00 UTC+2", "2026-07-26T10:00:00Z"),
            ("26 июл. 2026 г., 12:00:00 MSK", "2026-07-26T09:00:00Z"),
            ("2026. 7. 26. 오후 9:00:00 KST", "2026-07-26T12:00:00Z"),
            ("26 Ιουλ 2026, 1:00:00 μ.μ. EEST", "2026-07-26T10:00:00Z"),
            ("4. jul. 2026 12.00.00 CEST", "2026-07-04T10:00:00Z"),
            ("2026-07-26T12:00:00.5Z", "2026-07-26T12:00:00.500Z"),
            ("12:00:00 26 thg 7, 2026 GMT+07:00", "2026-07-26T05:00:00Z"),
            ("12:00:00, 26 thg 7, 2026 GMT+7", "2026-07-26T05:00:00Z"),
            ("26 जुल॰ 2026, 1:00:00 pm IST", "2026-07-26T07:30:00Z"),
            ("२६ जुलै, २०२६, १२:००:०० PM IST", "2026-07-26T06:30:00Z"),
            ("২৬ জুল, ২০২৬, ১:০০:০০ PM GMT+6", "2026-07-26T07:00:00Z"),
            ("26 ஜூலை, 2026, பிற்பகல் 1:00:00 IST", "2026-07-26T07:30:00Z"),
            ("26 ก.ค. 2569 12:00:00 GMT+07:00", "2026-07-26T05:00:00Z"),
            ("26 ביולי 2026, 12:00:00 GMT+3\u{200e}", "2026-07-26T09:00:00Z"),
            ("٢٦\u{200f}/٠٧\u{200f}/٢٠٢٦، ١:٠٠:٠٠ م غرينتش+٣", "2026-07-26T10:00:00Z"),
            ("2026. júl. 26. 12:00:00 CEST", "2026-07-26T10:00:00Z"),
            ("26 iul. 2026, 12:00:00 EEST", "2026-07-26T09:00:00Z"),
            ("26. srp 2026. 12:00:00 CEST", "2026-07-26T10:00:00Z"),
            ("26. srp 2026 12:00:00 SELČ", "2026-08-26T10:00:00Z"),
            ("1 d’ag. 2026, 12:00:00 CEST", "2026-08-01T10:00:00Z"),
            ("26 Agu 2026 12.00.00 WIB", "2026-08-26T05:00:00Z"),
            ("26 Ogo 2026, 1:00:00 PTG MYT", "2026-08-26T05:00:00Z"),
            ("Hul 26, 2026, 12:00:00 PM GMT+8", "2026-07-26T04:00:00Z"),
            ("12:00:00 GMT+7 26 thg 7, 2026", "2026-07-26T05:00:00Z"),
            ("2026年7月26日 GMT+8 12:00:00", "2026-07-26T04:00:00Z"),
            ("2026年7月26日 下午1:00:00 [GMT+8]", "2026-07-26T05:00:00Z"),
            ("26 ก.ค. 2569 12 นาฬิกา 00 นาที 00 วินาที GMT+7", "2026-07-26T05:00:00Z"),
            ("26 mrt 2026, 12:00:00 CET", "2026-03-26T11:00:00Z"),
            ("26 лист. 2026 р., 12:00:00 EET", "2026-11-26T10:00:00Z"),
            ("26.07.2026 г., 12:00:00 ч. Гринуич+3", "2026-07-26T09:00:00Z"),
            ("26 korr 2026, 1:00:00 m.d., GMT+2", "2026-07-26T11:00:00Z"),
            ("2026 ജൂലൈ 26, IST 1:00:00 PM", "2026-07-26T07:30:00Z"),
            ("26 juil. 2026, 12 h 00 min 00 s HAE", "2026-07-26T16:00:00Z"),
            ("2026年7月26日GMT+08:00 18:00:00", "2026-07-26T10:00:00Z"),
            ("2026年7月26日GMT+8 下午6:00:00", "2026-07-26T10:00:00Z"),
            ("26 ביולי 2026, 13:00:00 IDT", "2026-07-26T10:00:00Z"),
            ("26 בינו׳ 2026, 12:00:00 IST", "2026-01-26T10:00:00Z"),
            ("26 Jul 2026, 19:30:00 ACST", "2026-07-26T10:00:00Z"),
            ("۲۶ ژوئیهٔ ۲۰۲۶، ساعت ۱۳:۰۰:۰۰ CEST", "2026-07-26T11:00:00Z"),
            ("۲۶ ژوئن ۲۰۲۶، ۱۳:۰۰:۰۰ (\u{200e}+۳:۳۰ گرینویچ)", "2026-06-26T09:30:00Z"),
        ] {
            assert_eq!(utc(text), Some((time.into(), true)), "{text}");
        }
        assert_eq!(utc("26 Jul 2026, 12:00:00 XYZT"), Some(("2026-07-26T12:00:00Z".into(), false)));
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in [
            "",
            "at 12:00 on 26 Jul 2026",
            "Attached 1 file.",
            "1.2.3",
            "26 Jul 2026",
            "12:00:00",
            "99 Abc 2026, 12:00:00",
        ] {
            assert_eq!(utc(text), None, "{text}");
        }
    }
}
