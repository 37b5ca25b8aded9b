//! Loads texts that are stored as one JSON file per language.
use crate::{ApiError, ApiResult};
use serde::de::DeserializeOwned;

/// A code for each language, and the texts in that language as JSON.
pub(crate) type Languages = [(&'static str, &'static str); 3];

/// Loads the texts in a language. `outcome` is the last sentence of the error message, such as "Nothing was changed."
///
/// # Errors
/// `usage` for a language without texts.
pub(crate) fn load<T: DeserializeOwned>(languages: &Languages, language: &str, outcome: &str) -> ApiResult<T> {
    let known = languages.iter().find(|(code, _)| *code == language);
    let (_, text) = known
        .ok_or_else(|| ApiError::usage(format!("There are no texts in {language}. {outcome} Use en, de or ja.")))?;
    serde_json::from_str(text).map_err(|_| ApiError::internal("The texts cannot be read."))
}
