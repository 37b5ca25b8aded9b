//! stub
#![allow(missing_docs, clippy::all)]
use std::{collections::BTreeMap, path::Path};
#[derive(Debug, thiserror::Error)]
pub enum IndexError { #[error("missing")] Missing, #[error("damaged {0}")] Damaged(String), #[error("{0}")] Io(#[from] std::io::Error) }
#[derive(Default, Clone, Debug)]
pub struct IndexFilter { pub kind: Option<String>, pub platform: Option<String>, pub record_type: Option<String>, pub status: Option<String>, pub tag: Option<String>, pub since: Option<i64>, pub until: Option<i64> }
pub struct IndexDoc<'a> { pub row: u64, pub kind: &'a str, pub platform: &'a str, pub record_type: Option<&'a str>, pub status: Option<&'a str>, pub sensitivity: Option<&'a str>, pub tags: &'a [String], pub created: Option<i64>, pub conversation: Option<u64>, pub title: Option<&'a str>, pub text: &'a [&'a str], pub names: &'a [&'a str] }
pub struct SearchOutcome { pub total: u64, pub hits: Vec<(u64, f32)>, pub terms: Vec<String> }
pub struct SearchIndex { seq: u64 }
impl SearchIndex {
  pub fn create(_: &Path, _: &[u8;32]) -> Result<Self, IndexError> { Ok(Self{seq:0}) }
  pub fn open(_: &Path, _: &[u8;32]) -> Result<Self, IndexError> { Ok(Self{seq:0}) }
  pub fn seq(&self) -> u64 { self.seq }
  pub fn add(&mut self, _: &IndexDoc) -> Result<(), IndexError> { Ok(()) }
  pub fn delete_row(&mut self, _: u64) -> Result<(), IndexError> { Ok(()) }
  pub fn commit(&mut self, s: u64) -> Result<(), IndexError> { self.seq = s; Ok(()) }
  pub fn rollback(&mut self) -> Result<(), IndexError> { Ok(()) }
  pub fn documents(&self) -> u64 { 0 }
  pub fn verify_files(&self) -> Result<(), IndexError> { Ok(()) }
  pub fn search(&self, _: &str, _: &IndexFilter, _: usize, _: usize) -> Result<SearchOutcome, IndexError> { Ok(SearchOutcome{total:0,hits:vec![],terms:vec![]}) }
  pub fn facets(&self, _: &str, _: &IndexFilter, _: &str) -> Result<BTreeMap<String,u32>, IndexError> { Ok(BTreeMap::new()) }
  pub fn erase(&mut self, _: &[u64], s: u64) -> Result<(), IndexError> { self.seq = s; Ok(()) }
}
pub mod snippet { pub fn snippet(text: &str, _: &[String], max: usize) -> (String, Vec<(u32,u32)>) { (text.chars().take(max).collect(), vec![]) } }
pub mod verify { pub struct Residue { pub findings: Vec<String>, pub files: u32 } pub fn residue(_: &std::path::Path, _: &[u8;32], _: &[u64], _: &[String]) -> Result<Residue, super::IndexError> { Ok(Residue{findings:vec![],files:0}) } }
