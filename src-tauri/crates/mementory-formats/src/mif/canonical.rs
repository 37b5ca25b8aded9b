//! RFC 8785 (JSON Canonicalization Scheme): keys by UTF-16 code units, numbers as ECMAScript prints them.
use mementory_model::json::{Tree, write_string};

/// Canonical text of a tree. Numbers that no double holds keep their own text.
pub(super) fn canonical(tree: &Tree, out: &mut String) {
    match tree {
        Tree::Number(token) => number(token, out),
        Tree::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (i, (key, value)) in sorted(members).into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                canonical(value, out);
            }
            out.push('}');
        }
        other => other.write(out),
    }
}

/// Members in canonical order; of several with one key the last.
fn sorted(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    let mut out: Vec<(&str, &Tree)> = members.iter().map(|(k, v)| (k.as_str(), v)).collect();
    out.sort_by(|a, b| order(a.0, b.0));
    out.reverse();
    out.dedup_by(|a, b| a.0 == b.0);
    out.reverse();
    out
}

/// Order of keys: UTF-16 code units.
pub(super) fn order(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn number(token: &str, out: &mut String) {
    let Some(value) = token.parse::<f64>().ok().filter(|v| v.is_finite()) else { return out.push_str(token) };
    if value == 0.0 {
        return out.push('0');
    }
    // `{:e}` gives the shortest digits that read back as the same double: `d[.ddd]e<exponent>`.
    let shortest = format!("{:e}", value.abs());
    let Some((mantissa, exponent)) = shortest.split_once('e') else { return out.push_str(token) };
    let Ok(exponent) = exponent.parse::<i32>() else { return out.push_str(token) };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if value < 0.0 {
        out.push('-');
    }
    let (len, point) = (digits.len() as i32, exponent + 1);
    if (1..=21).contains(&point) && len <= point {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', (point - len) as usize));
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else if (-5..=0).contains(&point) {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -point as usize));
        out.push_str(&digits);
    } else {
        out.push_str(&digits[..1]);
        if len > 1 {
            out.push('.');
            out.push_str(&digits[1..]);
        }
        out.push('e');
        out.push(if exponent < 0 { '-' } else { '+' });
        out.push_str(&exponent.abs().to_string());
    }
}
