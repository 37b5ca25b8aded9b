//! Scans records for sensitive values. The results never contain the values themselves.
use super::{context::Context, filter};
use crate::{ApiError, ApiResult, Job, types::*};
use mementory_vault::{Sensitive, SensitiveClass};

/// The scan of records for sensitive values.
#[derive(Clone, Copy)]
pub struct Scanner<'s> {
    context: &'s Context,
}

impl<'s> Scanner<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Scanner<'_> {
    /// Scans records for sensitive values. The kind in the filter may also be a class of sensitive values.
    ///
    /// # Errors
    /// `usage` for an unknown class or kind, `cancelled`.
    pub fn records(&self, request: &ScanRequest, job: &Job) -> ApiResult<Scan> {
        let mut filter = request.filter.clone();
        let mut classes = parse_classes(&request.classes)?;
        if let Some(class) = filter.kind.as_deref().and_then(SensitiveClass::parse) {
            classes.push(class);
            filter.kind = None;
        }
        let mut out = Scan::default();
        for found in self.find_sensitive(&filter, &classes, job)? {
            *out.by_class.entry(found.class.as_str().to_owned()).or_default() += 1;
            out.findings.push(finding_view(found));
        }
        Ok(out)
    }

    /// Returns the spans of sensitive values in one record's text, in the form that a redaction expects.
    ///
    /// # Errors
    /// `usage` for an unknown class, `not_found`, `nothing_found`.
    pub fn detected(&self, id: &str, classes: &[String], job: &Job) -> ApiResult<Vec<Span>> {
        let classes = parse_classes(classes)?;
        self.context.vault.reader().view(id)?;
        let filter = Filter { ids: Some(vec![id.to_owned()]), ..Filter::default() };
        let findings = self.find_sensitive(&filter, &classes, job)?;
        let spans: Vec<Span> = findings
            .into_iter()
            .filter(|f| f.field == "text")
            .map(|f| Span { start: f.start, end: f.end, class: Some(f.class.as_str().into()) })
            .collect();
        if spans.is_empty() {
            let message = "No sensitive value was found in the text of this record. Nothing was changed.";
            return Err(ApiError::new("nothing_found", 1, message).with("id", id));
        }
        Ok(spans)
    }

    fn find_sensitive(&self, filter: &Filter, classes: &[SensitiveClass], job: &Job) -> ApiResult<Vec<Sensitive>> {
        let cancel = job.cancel_flag();
        let progress = |done, total| {
            let records = u32::try_from(done).unwrap_or(u32::MAX);
            job.report(Progress { stage: "scan".into(), done, total, unit: "records".into(), records });
        };
        let mut findings =
            self.context.vault.scanner().find(&filter::query(&self.context.vault, filter)?, &cancel, &progress)?;
        findings.retain(|f| classes.is_empty() || classes.contains(&f.class));
        Ok(findings)
    }
}

pub(super) fn parse_classes(words: &[String]) -> ApiResult<Vec<SensitiveClass>> {
    let class_names = || SensitiveClass::ALL.map(SensitiveClass::as_str).join(", ");
    let class = |word: &String| {
        SensitiveClass::parse(word).ok_or_else(|| {
            ApiError::usage(format!("{word} is not a class of sensitive values. Use {}.", class_names()))
        })
    };
    words.iter().map(class).collect()
}

fn finding_view(found: Sensitive) -> SensitiveFinding {
    SensitiveFinding {
        kind: found.kind.as_str().into(),
        field: found.field.into(),
        class: found.class.as_str().into(),
        detector: found.detector.into(),
        confidence: found.confidence.as_str().into(),
        start: found.start,
        end: found.end,
        value: found.value,
        id: found.id,
    }
}
