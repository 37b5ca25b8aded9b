//! Measures precision and recall by class.
use super::text::LabelledText;
use mementory_scan::{Class, Finding};
use std::{fmt::Write, ops::Range};

/// The counts for one class: the values in the texts, the findings, and the correct findings.
#[derive(Default)]
pub struct Score {
    pub values: usize,
    pub found: usize,
    pub correct: usize,
    /// Descriptions of wrong findings and missing values.
    pub misses: Vec<String>,
}

impl Score {
    /// The share of findings that are correct. 1 if there are no findings.
    pub fn precision(&self) -> f64 {
        if self.found == 0 { 1.0 } else { self.correct as f64 / self.found as f64 }
    }

    /// The share of values that were found. 1 if there are no values.
    pub fn recall(&self) -> f64 {
        if self.values == 0 { 1.0 } else { self.correct as f64 / self.values as f64 }
    }
}

/// Whether the overlap of two ranges is at least four fifths of each of them.
pub fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    let overlap_len = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    overlap_len > 0 && overlap_len * 5 >= a.len() * 4 && overlap_len * 5 >= b.len() * 4
}

/// Scans each text and counts the findings. A second finding for the same value counts as wrong.
pub fn measure(set: &[LabelledText], scan: impl Fn(&str) -> Vec<Finding>) -> Vec<(Class, Score)> {
    let mut scores: Vec<(Class, Score)> = Class::IN_TEXT.iter().map(|class| (*class, Score::default())).collect();
    for sample in set {
        let findings = scan(&sample.text);
        for (class, score) in &mut scores {
            let values: Vec<&Range<usize>> = sample.values.iter().filter(|v| v.0 == *class).map(|v| &v.1).collect();
            let mut missing = values.clone();
            score.values += values.len();
            for finding in findings.iter().filter(|f| f.class == *class) {
                let span = finding.start..finding.end;
                score.found += 1;
                match missing.iter().position(|value| overlaps(value, &span)) {
                    Some(position) => {
                        missing.remove(position);
                        score.correct += 1;
                    }
                    None => {
                        score.misses.push(format!("wrong   {:<14} {}", finding.detector, marked_excerpt(sample, &span)))
                    }
                }
            }
            score
                .misses
                .extend(missing.iter().map(|span| format!("missing {:<14} {}", "", marked_excerpt(sample, span))));
        }
    }
    scores
}

/// An excerpt of a text in which the range is marked, with some of the text around it.
fn marked_excerpt(sample: &LabelledText, span: &Range<usize>) -> String {
    let text = &sample.text;
    let value = text.get(span.clone()).unwrap_or("(not on a character)");
    let text_before: String = text.get(..span.start).unwrap_or("").chars().rev().take(50).collect();
    let text_before: String = text_before.chars().rev().collect();
    let text_after: String = text.get(span.end..).unwrap_or("").chars().take(25).collect();
    let value: String = match value.chars().count() {
        0..=90 => value.to_owned(),
        n => format!("{}… ({n} characters)", value.chars().take(60).collect::<String>()),
    };
    let line = format!("[{}] {text_before}⟦{value}⟧{text_after}", sample.about.split(':').next().unwrap_or(""));
    line.replace('\n', "⏎")
}

pub fn score_table(scores: &[(Class, Score)]) -> String {
    let mut out = format!("{:<12} {:>7} {:>7} {:>10} {:>7}\n", "class", "values", "found", "precision", "recall");
    for (class, score) in scores {
        let (precision, recall) = (score.precision(), score.recall());
        let _ = writeln!(
            out,
            "{:<12} {:>7} {:>7} {precision:>10.4} {recall:>7.4}",
            class.as_str(),
            score.values,
            score.found
        );
    }
    out
}
