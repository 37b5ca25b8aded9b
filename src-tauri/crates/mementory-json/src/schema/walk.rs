//! The check of a tree against its rules. Recursion is no deeper than the rules and the tree, and the depth of the tree
//! was limited when it was parsed. Memory is allocated only to find repeated names in a large object or set.
use super::{
    Field, Fit, Place, Rule,
    decimal::{is_in_unit_interval, is_whole},
    text::{TimeFault, is_uuid, rfc3339},
    violation::Violation,
};
use crate::{Tree, equal_names};
use std::collections::HashSet;

/// How repeated keys of an object are handled. In both cases, only the last value of a key is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedKeys {
    /// Repeated keys are not reported.
    Accept,
    /// [`Violation::RepeatedKey`] is reported once for each object, also for an object for which the schema has no
    /// rule.
    Report,
}

/// Checks a tree and reports every violation. Members are checked in the order of the table.
pub fn check(tree: &Tree, rule: &Rule, keys: RepeatedKeys, report: &mut dyn FnMut(&Place<'_>, Violation)) {
    Checker { keys, report }.check_value(rule, tree, &Place::TOP);
}

struct Checker<'r> {
    keys: RepeatedKeys,
    report: &'r mut dyn FnMut(&Place<'_>, Violation),
}

impl Checker<'_> {
    fn check_value(&mut self, rule: &Rule, tree: &Tree, at: &Place<'_>) {
        let violation = match (rule, tree) {
            (Rule::Any, _) | (Rule::TextOrObject, Tree::Object(_)) => return self.check_repeated_keys(tree, at),
            (Rule::Bool, Tree::Bool(_)) | (Rule::Text | Rule::TextOrObject, Tree::Text(_)) => None,
            (Rule::List(item), Tree::Array(items)) => return self.check_items(item, items, at),
            (Rule::Set(item, least), Tree::Array(items)) => {
                if has_repetition(items.iter().filter_map(Tree::as_str), items.len()) {
                    (self.report)(at, Violation::RepeatedItem);
                }
                if items.len() < *least {
                    (self.report)(at, Violation::TooFewItems(*least));
                }
                return self.check_items(item, items, at);
            }
            (Rule::Map(rule), Tree::Object(members)) => {
                for (key, value) in members {
                    self.check_value(rule, value, &at.member(key));
                }
                return self.report_repeated_keys(members, at);
            }
            (Rule::Object(fields), Tree::Object(members)) => return self.check_object(fields, true, tree, members, at),
            (Rule::ClosedObject(fields), Tree::Object(members)) => {
                return self.check_object(fields, false, tree, members, at);
            }
            (Rule::Tagged(rules), Tree::Object(_)) => {
                let tag = tree.get("type").and_then(Tree::as_str);
                match rules.iter().find(|(name, _)| Some(*name) == tag) {
                    Some((_, rule)) => return self.check_value(rule, tree, at),
                    None => Some(Violation::UnknownTag),
                }
            }
            (rule, Tree::Text(text)) if rule.is_text() => text_violation(rule, text),
            (
                Rule::Number | Rule::Whole(_) | Rule::Int64(_) | Rule::Range(..) | Rule::UnitInterval,
                Tree::Number(token),
            ) => number_violation(rule, token),
            (rule, _) => Some(Violation::WrongType(expected_type(rule))),
        };
        if let Some(violation) = violation {
            (self.report)(at, violation);
        }
    }

    fn check_items(&mut self, rule: &Rule, items: &[Tree], at: &Place<'_>) {
        for (i, item) in items.iter().enumerate() {
            self.check_value(rule, item, &at.item(i));
        }
    }

    fn check_object(
        &mut self,
        fields: &[Field],
        is_open: bool,
        tree: &Tree,
        members: &[(String, Tree)],
        at: &Place<'_>,
    ) {
        for field in fields {
            let member_place = at.member(field.name);
            match tree.get(field.name) {
                None if field.required => (self.report)(&member_place, Violation::MissingField),
                None => {}
                Some(Tree::Null) if field.nullable => {}
                Some(value) => self.check_value(&field.rule, value, &member_place),
            }
        }
        if !is_open {
            for (key, _) in members.iter().filter(|(key, _)| !fields.iter().any(|f| equal_names(f.name, key))) {
                (self.report)(&at.member(key), Violation::UnknownField);
            }
        }
        if self.keys == RepeatedKeys::Report {
            // Only a list or an object can contain keys, so the names of all other members need not be compared.
            let may_have_keys = |value: &Tree| matches!(value, Tree::Array(_) | Tree::Object(_));
            for (key, value) in members.iter().filter(|(_, value)| may_have_keys(value)) {
                if !fields.iter().any(|field| equal_names(field.name, key)) {
                    self.check_repeated_keys(value, &at.member(key));
                }
            }
        }
        self.report_repeated_keys(members, at);
    }

    /// Reports the objects with repeated keys in a value for which the schema has no rule.
    fn check_repeated_keys(&mut self, tree: &Tree, at: &Place<'_>) {
        if self.keys == RepeatedKeys::Accept {
            return;
        }
        match tree {
            Tree::Object(members) => {
                for (key, value) in members {
                    self.check_repeated_keys(value, &at.member(key));
                }
                self.report_repeated_keys(members, at);
            }
            Tree::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.check_repeated_keys(item, &at.item(i));
                }
            }
            _ => {}
        }
    }

    fn report_repeated_keys(&mut self, members: &[(String, Tree)], at: &Place<'_>) {
        if self.keys == RepeatedKeys::Report
            && has_repetition(members.iter().map(|(key, _)| key.as_str()), members.len())
        {
            (self.report)(at, Violation::RepeatedKey);
        }
    }
}

fn text_violation(rule: &Rule, text: &str) -> Option<Violation> {
    match rule {
        Rule::Length(_) if text.is_empty() => Some(Violation::Empty),
        // A text cannot have more code points than bytes.
        Rule::Length(max_chars) if text.len() > *max_chars && text.chars().count() > *max_chars => {
            Some(Violation::TooLong(*max_chars))
        }
        Rule::Word(words) if !words.contains(&text) => Some(Violation::UnknownWord(words)),
        Rule::OpenWord(words) if !words.contains(&text) => Some(Violation::UnlistedWord(words)),
        Rule::Uuid if !is_uuid(text) => Some(Violation::BadForm("a UUID")),
        Rule::Form(form) => match (form.fit)(text) {
            Fit::Exact => None,
            Fit::Loose => Some(Violation::LooseForm(form.expected)),
            Fit::Other => Some(Violation::BadForm(form.expected)),
        },
        Rule::Time => match rfc3339(text) {
            Ok(()) => None,
            Err(TimeFault::NoZone) => Some(Violation::NoTimeZone),
            Err(TimeFault::Bad) => Some(Violation::BadTime),
        },
        _ => None,
    }
}

/// The smallest whole number that does not fit into a signed 64-bit integer.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn number_violation(rule: &Rule, token: &str) -> Option<Violation> {
    // A number with at most 300 characters and without an exponent always fits into a double, so it need not be parsed.
    // Most numbers in vectors are of this form.
    let is_short_decimal = token.len() <= 300 && token.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-'));
    let finite_double = || token.parse::<f64>().ok().filter(|n| n.is_finite());
    match rule {
        Rule::Whole(least) | Rule::Int64(least) => {
            let too_small = match token.parse::<i64>() {
                Ok(n) => n < *least,
                Err(_) => match finite_double().filter(|_| is_whole(token)) {
                    None => return Some(Violation::NotWhole(*least)),
                    Some(n) if n >= TWO_TO_63 && matches!(rule, Rule::Int64(_)) => return Some(Violation::TooLarge),
                    Some(n) => n < *least as f64,
                },
            };
            too_small.then_some(Violation::TooSmall(*least))
        }
        Rule::Range(least, most) => {
            let whole_number = finite_double().filter(|_| is_whole(token));
            let is_in_range = whole_number.is_some_and(|n| (*least as f64..=*most as f64).contains(&n));
            (!is_in_range).then_some(Violation::OutsideRange(*least, *most))
        }
        Rule::UnitInterval => match finite_double() {
            Some(_) => (!is_in_unit_interval(token)).then_some(Violation::OutsideUnitInterval),
            None => Some(Violation::NotFinite),
        },
        _ => (!is_short_decimal && finite_double().is_none()).then_some(Violation::NotFinite),
    }
}

fn expected_type(rule: &Rule) -> &'static str {
    match rule {
        Rule::Any => "anything",
        Rule::Bool => "true or false",
        Rule::Number => "a number",
        Rule::Whole(_) | Rule::Int64(_) | Rule::Range(..) => "a whole number",
        Rule::UnitInterval => "a number from 0 to 1",
        Rule::List(_) | Rule::Set(..) => "a list",
        Rule::Map(_) | Rule::Object(_) | Rule::ClosedObject(_) | Rule::Tagged(_) => "an object",
        Rule::TextOrObject => "a text or an object",
        _ => "a text",
    }
}

/// True if one of the names is repeated. There are at most `count` names. A hash set is used only if there are many.
fn has_repetition<'t>(names: impl Iterator<Item = &'t str> + Clone, count: usize) -> bool {
    const MAX_COMPARED_NAMES: usize = 32;
    if count > MAX_COMPARED_NAMES {
        let mut seen_names = HashSet::with_capacity(count);
        return !names.into_iter().all(|name| seen_names.insert(name));
    }
    let earlier_names = names.clone();
    names.enumerate().any(|(i, name)| earlier_names.clone().take(i).any(|other| equal_names(other, name)))
}
