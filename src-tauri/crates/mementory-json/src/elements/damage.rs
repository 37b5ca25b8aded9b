//! After a damaged element of an array, continues with the next complete element.
use super::{Elements, Level};
use crate::{
    element_error::ElementError,
    object_scan::{ObjectScan, Step, is_word},
    resync::{ElementSearch, SearchOutcome},
};
use memchr::memchr;

/// Number of bytes that may always be read twice, in addition to twice the number of bytes read so far.
const FREE_RESCAN_BYTES: u64 = 64 << 20;
/// Largest number of white space bytes after a closing bracket in which the next byte is searched for.
const MAX_SPACE_BYTES: usize = 1 << 20;

impl Elements<'_> {
    /// The end of the object at `start`. None if the object was only a candidate and turned out not to be an element.
    pub(super) fn scan_object(&mut self, is_candidate: bool) -> Result<Option<usize>, ElementError> {
        self.object_scan = ObjectScan::default();
        loop {
            match self.object_scan.advance(&self.buf, &mut self.pos) {
                Step::End(end) => {
                    let len = end - self.start;
                    // If the end of an element is lost, the closing brackets of the array and of the object around the array
                    // seem to close the element.
                    if self.level.is_wrapped_array() && self.is_last(len) && self.return_to_nested_element() {
                        return self.damaged_error();
                    }
                    return Ok(self.accept_object(self.start + len, is_candidate));
                }
                Step::Fault => return self.leave_damaged_object(is_candidate),
                Step::More => {}
            }
            if self.pos - self.start > self.limit {
                // The remaining elements of the array may be nested in an element whose end is lost.
                if self.return_to_nested_element() {
                    return self.damaged_error();
                }
                self.search = None;
                self.skips_object = true;
                return self.too_large_error();
            }
            if !self.refill()? {
                if self.return_to_nested_element() {
                    return self.damaged_error();
                }
                self.cut_end = Some(self.buf.len());
                return self.truncated_error();
            }
        }
    }

    /// True if the stream ends after the value of this length at `start`.
    fn is_last(&mut self, len: usize) -> bool {
        loop {
            let rest = &self.buf[self.start + len..];
            if rest.len() > MAX_SPACE_BYTES || rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
                return false;
            }
            match self.refill() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    self.pending_error = Some(error);
                    return false;
                }
            }
        }
    }

    fn accept_object(&mut self, end: usize, is_candidate: bool) -> Option<usize> {
        let keys = std::mem::take(&mut self.object_scan.keys);
        if is_candidate && !self.siblings.has_similar(&keys) {
            if let Some(search) = &mut self.search {
                search.skip_candidate(0);
            }
            self.pos = end;
            return None;
        }
        self.siblings.add(keys);
        self.search = None;
        Some(end)
    }

    /// Leaves out the object that is damaged at `pos`. A candidate that does not look like an element is skipped
    /// without an error.
    fn leave_damaged_object(&mut self, is_candidate: bool) -> Result<Option<usize>, ElementError> {
        let depth = self.object_scan.depth();
        if let Some(search) = self.search.as_mut().filter(|_| is_candidate)
            && !self.siblings.has_similar_start(&self.object_scan.keys)
        {
            search.skip_candidate(depth);
            return Ok(None);
        }
        if !self.return_to_nested_element() {
            self.cut_end = Some(self.pos);
            // A string without its closing quote ends at the first quote of the next element.
            let text = self.buf.get(..self.object_scan.last_quote).unwrap_or_default().trim_ascii_end();
            if text.ends_with(b"{") && text.len() - 1 > self.start {
                self.pos = text.len() - 1;
            }
            self.search = Some(ElementSearch::new(depth, self.level.is_wrapped_array()));
        }
        self.damaged_error()
    }

    /// Starts a search at `pos`, which is between elements, but where no element starts and the array does not end.
    fn leave_damaged_place<T>(&mut self) -> Result<T, ElementError> {
        self.siblings.forget_uncertain();
        self.cut_end = Some(self.pos);
        self.search = Some(ElementSearch::new(0, self.level.is_wrapped_array()));
        self.damaged_error()
    }

    /// Starts a search at `pos`, in a damaged object that was being skipped because it is too large.
    pub(super) fn search_after_skip(&mut self) {
        self.search = Some(ElementSearch::new(self.object_scan.depth(), self.level.is_wrapped_array()));
    }

    fn damaged_error<T>(&self) -> Result<T, ElementError> {
        let offset = self.buf_offset + self.cut_end.unwrap_or(self.start) as u64;
        let pointer = match self.key.as_str() {
            "" => format!("/{}", self.index),
            key => format!("/{key}/{}", self.index),
        };
        Err(ElementError::Damaged { pointer, offset })
    }

    /// Continues the search. Returns the end of the next element, or None if `next` must search for the element at
    /// `pos`.
    pub(super) fn next_after_damage(&mut self) -> Result<Option<usize>, ElementError> {
        let Some(mut search) = self.search.take() else { return Ok(None) };
        let mut at_end = false;
        let outcome = loop {
            match search.advance(&self.buf, &mut self.pos, at_end, &self.siblings) {
                SearchOutcome::More => {
                    self.start = self.pos;
                    at_end = !self.refill()?;
                }
                outcome => break outcome,
            }
        };
        self.start = self.pos;
        match outcome {
            SearchOutcome::Next if !self.siblings.has_complete() => {
                self.siblings.mark_as_guess();
                Ok(None)
            }
            SearchOutcome::Candidate | SearchOutcome::Next => {
                // After an element whose brackets are complete, the next object is accepted as an element, regardless
                // of its keys.
                let is_candidate = outcome == SearchOutcome::Candidate || !search.is_past_element();
                self.search = Some(search);
                self.scan_object(is_candidate)
            }
            SearchOutcome::End(is_closed) => {
                self.wrapper_incomplete = true;
                if !is_closed || self.source.is_truncated() {
                    return self.truncated_error();
                }
                self.level = Level::Done;
                Ok(None)
            }
            SearchOutcome::ArrayEnd | SearchOutcome::More => Ok(None),
        }
    }

    /// If a complete element is nested in the damaged object between `start` and `pos`, moves `pos` to it and returns
    /// true. If the end of an element is lost, the following elements seem to be nested in it.
    fn return_to_nested_element(&mut self) -> bool {
        self.siblings.add_damaged(&self.object_scan.keys, self.object_scan.has_nested);
        let Some(nested) = self.find_nested_element() else { return false };
        // In a file with much damage, the same bytes could be scanned again for every element, so the number of
        // rescanned bytes is limited.
        self.rescanned_bytes += (self.pos - nested) as u64;
        let offset = self.buf_offset + self.pos as u64;
        if self.rescanned_bytes > FREE_RESCAN_BYTES.saturating_add(2 * offset) {
            return false;
        }
        self.search = None;
        self.cut_end = Some(nested);
        self.pos = nested;
        true
    }

    /// The start of the first complete element that is nested in the damaged object. None as long as the keys of an
    /// element are not known.
    fn find_nested_element(&self) -> Option<usize> {
        if !self.siblings.can_recognise() {
            return None;
        }
        let region = self.buf.get(..self.pos)?;
        let mut bytes_left = 2 * (self.pos - self.start);
        let mut at = self.start + 1;
        while let Some(skip) = memchr(b'{', region.get(at..)?) {
            at += skip;
            let mut end = at + 1;
            if self.siblings.starts_like_element(&region[at..]) {
                let mut scan = ObjectScan::default();
                let mut pos = at;
                let step = scan.advance(region, &mut pos);
                if matches!(step, Step::End(_)) {
                    if self.siblings.has_similar(&scan.keys) {
                        return Some(at);
                    }
                    end = pos;
                }
                bytes_left = bytes_left.checked_sub(pos - at)?;
            }
            at = end;
        }
        None
    }

    /// True if the bytes between the elements of the array can be checked, because the keys of a complete element are
    /// known.
    pub(super) fn can_check_places(&self) -> bool {
        self.resync && self.siblings.has_complete()
    }

    /// True if the closing bracket at `pos` does not close the array, because a comma and an object follow. Returns an
    /// error if anything else follows that is not allowed there.
    pub(super) fn is_stray_bracket(&mut self, is_wrapped: bool) -> Result<bool, ElementError> {
        let [next, second] = self.bytes_after(1)?;
        if (next, second) == (Some(b','), Some(b'{')) {
            return Ok(true);
        }
        let closes_array = match next {
            None => true,
            Some(byte) if is_wrapped => matches!(byte, b'}' | b','),
            Some(byte) => !matches!(byte, b',' | b'}' | b']' | b':' | b'"'),
        };
        if closes_array {
            return Ok(false);
        }
        self.pos += 1;
        self.leave_damaged_place()
    }

    /// Checks that the value between `start` and `end`, which is not an object, can be an element. Returns the position
    /// of `end` in the current buffer. Fails if the value is a key or a part of a damaged value.
    pub(super) fn check_place(&mut self, end: usize) -> Result<usize, ElementError> {
        if !self.can_check_places() {
            return Ok(end);
        }
        let len = end - self.start;
        let value = self.buf[self.start..end].trim_ascii_end();
        let (first, is_word) = (value.first().copied(), is_word(value));
        let is_fragment = match first {
            Some(b'"') => self.bytes_after(len)?[0] == Some(b':'),
            Some(b'[') => false,
            _ => !is_word,
        };
        if is_fragment {
            self.pos = self.start;
            return self.leave_damaged_place();
        }
        Ok(self.start + len)
    }

    /// The first two bytes that are not white space, from `start + len` on.
    fn bytes_after(&mut self, len: usize) -> Result<[Option<u8>; 2], ElementError> {
        loop {
            let rest = &self.buf[self.start + len..];
            let mut bytes = rest.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
            let first_two = [bytes.next(), bytes.next()];
            if first_two[1].is_some() || rest.len() > MAX_SPACE_BYTES || !self.refill()? {
                return Ok(first_two);
            }
        }
    }
}
