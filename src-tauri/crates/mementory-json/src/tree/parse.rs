//! Parses JSON text into a [`Tree`] in one pass, by the grammar of RFC 8259.
use super::{Tree, TreeError};
use memchr::memchr2;
use mementory_model::Bounds;
use serde_json::value::RawValue;

/// Reads one JSON value; see [`Tree::parse`].
pub(super) fn parse(text: &str, bounds: Bounds) -> Result<Tree, TreeError> {
    TreeParser::new(text, bounds).read_text().map_err(|error| first_error(text, error))
}

/// Reads one JSON value without the members of one object; see [`Tree::parse_without_members_of`].
pub(super) fn parse_without_members_of(key: &str, text: &str, bounds: Bounds) -> Result<Tree, TreeError> {
    let mut parser = TreeParser::new(text, bounds);
    parser.key_to_skip = Some(key).filter(|_| parser.next_byte() == b'{');
    parser.read_text().map_err(|error| first_error(text, error))
}

/// Reads a value whose grammar is already checked (see [`Tree::from_raw`]). Also returns how many bytes of memory the
/// value needs.
pub(super) fn read_tree(raw: &RawValue, bounds: Bounds) -> Result<(Tree, u64), TreeError> {
    let mut parser = TreeParser::new(raw.get(), bounds);
    let tree = parser.read_text()?;
    Ok((tree, bounds.bytes - parser.bytes_left))
}

/// Memory in bytes that an allocator uses for a text of this length.
pub(super) fn allocated_bytes(len: usize) -> u64 {
    if len == 0 { 0 } else { (len as u64 + 8).next_multiple_of(16).max(32) }
}

/// Returns the error to report for a text that was refused. A fault in the grammar takes precedence over every other
/// fault, wherever it is in the text. serde_json finds its position without recursion, so the text may be nested to any
/// depth.
fn first_error(text: &str, refusal: TreeError) -> TreeError {
    match serde_json::from_str::<&RawValue>(text) {
        Err(error) => syntax_error(error),
        Ok(_) => refusal,
    }
}

fn syntax_error(error: serde_json::Error) -> TreeError {
    TreeError::Syntax(error.to_string())
}

/// Error of a string literal that the grammar allows, but that is not valid Unicode. [`first_error`] replaces it if the
/// grammar does not allow the literal either.
fn surrogate_error(_: serde_json::Error) -> TreeError {
    TreeError::Syntax("an escape is half of a surrogate pair, which is not valid Unicode".into())
}

/// Error at a byte that the grammar does not allow.
fn unexpected_byte() -> TreeError {
    TreeError::Syntax("unexpected character or end of the text".into())
}

/// A position in a text.
struct TreeParser<'t> {
    text: &'t str,
    at: usize,
    bounds: Bounds,
    /// Memory in bytes that the value may still use.
    bytes_left: u64,
    /// The items of all open arrays, and the members of all open objects. When an array or object ends, its items or
    /// members are split off. Sharing two lists is much faster than growing a separate list for each array and object.
    items: Vec<Tree>,
    members: Vec<(String, Tree)>,
    /// Key of the member of the next object whose members are checked, but not added to the tree.
    key_to_skip: Option<&'t str>,
}

/// A string literal, with its quotes. Its escapes are of the kinds that JSON has, but the digits of numbered escapes
/// are not checked.
struct Literal<'t> {
    text: &'t str,
    has_escapes: bool,
    /// True if a character is written as `\u` and its number. Only such an escape can be half of a surrogate pair.
    has_numbered_escapes: bool,
}

impl<'t> TreeParser<'t> {
    fn new(text: &'t str, bounds: Bounds) -> Self {
        let (items, members) = (Vec::new(), Vec::new());
        Self { text, at: 0, bounds, bytes_left: bounds.bytes, items, members, key_to_skip: None }
    }

    /// Reads the value, after which only white space may follow.
    fn read_text(&mut self) -> Result<Tree, TreeError> {
        let tree = self.read_value(self.bounds.depth)?;
        self.next_byte();
        if self.at == self.text.len() { Ok(tree) } else { Err(unexpected_byte()) }
    }

    fn read_value(&mut self, depth_left: u32) -> Result<Tree, TreeError> {
        self.reserve_memory(size_of::<Tree>() as u64)?;
        Ok(match self.next_byte() {
            b'n' => self.skip_word("null").map(|()| Tree::Null)?,
            b't' => self.skip_word("true").map(|()| Tree::Bool(true))?,
            b'f' => self.skip_word("false").map(|()| Tree::Bool(false))?,
            b'"' => Tree::Text(self.read_string()?),
            b'[' => self.read_array(self.depth_inside(depth_left)?)?,
            b'{' => self.read_object(self.depth_inside(depth_left)?)?,
            _ => Tree::Number(self.read_number()?.to_owned()),
        })
    }

    fn read_array(&mut self, depth_left: u32) -> Result<Tree, TreeError> {
        let first = self.items.len();
        self.at += 1;
        let mut is_open = !self.skip_if(b']');
        while is_open {
            let item = self.read_value(depth_left)?;
            self.items.push(item);
            is_open = self.skip_separator(b']')?;
        }
        Ok(Tree::Array(self.items.split_off(first)))
    }

    fn read_object(&mut self, depth_left: u32) -> Result<Tree, TreeError> {
        let key_to_skip = self.key_to_skip.take();
        let first = self.members.len();
        self.at += 1;
        let mut is_open = !self.skip_if(b'}');
        while is_open {
            self.reserve_memory(size_of::<String>() as u64)?;
            self.next_byte();
            let key = self.read_string()?;
            self.skip_colon()?;
            let value = if key_to_skip == Some(key.as_str()) && self.next_byte() == b'{' {
                self.check_value(depth_left)?;
                Tree::Object(Vec::new())
            } else {
                self.read_value(depth_left)?
            };
            self.members.push((key, value));
            is_open = self.skip_separator(b'}')?;
        }
        Ok(Tree::Object(self.members.split_off(first)))
    }

    /// Checks a value as [`Self::read_value`] does, but does not make a tree of it.
    fn check_value(&mut self, depth_left: u32) -> Result<(), TreeError> {
        self.reserve_memory(size_of::<Tree>() as u64)?;
        match self.next_byte() {
            b'n' => self.skip_word("null")?,
            b't' => self.skip_word("true")?,
            b'f' => self.skip_word("false")?,
            b'"' => self.check_string()?,
            b'[' => {
                let depth_left = self.depth_inside(depth_left)?;
                self.at += 1;
                let mut is_open = !self.skip_if(b']');
                while is_open {
                    self.check_value(depth_left)?;
                    is_open = self.skip_separator(b']')?;
                }
            }
            b'{' => {
                let depth_left = self.depth_inside(depth_left)?;
                self.at += 1;
                let mut is_open = !self.skip_if(b'}');
                while is_open {
                    self.reserve_memory(size_of::<String>() as u64)?;
                    self.next_byte();
                    self.check_string()?;
                    self.skip_colon()?;
                    self.check_value(depth_left)?;
                    is_open = self.skip_separator(b'}')?;
                }
            }
            _ => self.read_number().map(drop)?,
        }
        Ok(())
    }

    fn check_string(&mut self) -> Result<(), TreeError> {
        let literal = self.read_literal()?;
        match literal.has_numbered_escapes {
            true => serde_json::from_str::<String>(literal.text).map(drop).map_err(surrogate_error),
            false => Ok(()),
        }
    }

    /// Reads a string literal and decodes its escapes. A lone surrogate is an error.
    fn read_string(&mut self) -> Result<String, TreeError> {
        let literal = self.read_literal()?;
        match literal.text.get(1..literal.text.len().saturating_sub(1)) {
            Some(inner) if !literal.has_escapes => Ok(inner.to_owned()),
            _ => serde_json::from_str(literal.text).map_err(surrogate_error),
        }
    }

    /// Reads the string literal at this position, and subtracts the memory of its text.
    fn read_literal(&mut self) -> Result<Literal<'t>, TreeError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        if self.byte() != b'"' {
            return Err(unexpected_byte());
        }
        let (mut end, mut has_escapes, mut has_numbered_escapes) = (start + 1, false, false);
        loop {
            end += memchr2(b'"', b'\\', bytes.get(end..).unwrap_or_default()).ok_or_else(unexpected_byte)?;
            if bytes[end] == b'"' {
                break;
            }
            has_escapes = true;
            match bytes.get(end + 1) {
                Some(b'u') => has_numbered_escapes = true,
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                _ => return Err(unexpected_byte()),
            }
            end += 2;
        }
        self.at = end + 1;
        if has_control_characters(&bytes[start + 1..end]) {
            return Err(unexpected_byte());
        }
        // The decoded text is never longer than the literal, because every escape is longer than the character that it
        // represents.
        self.reserve_memory(allocated_bytes(end.saturating_sub(start + 1)))?;
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(Literal { text, has_escapes, has_numbered_escapes })
    }

    /// The depth that is left inside an array or object.
    fn depth_inside(&self, depth_left: u32) -> Result<u32, TreeError> {
        depth_left.checked_sub(1).ok_or(TreeError::Depth(self.bounds.depth))
    }

    /// Subtracts the memory of a value that is about to be read. Fails if less memory is left.
    fn reserve_memory(&mut self, bytes: u64) -> Result<(), TreeError> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(TreeError::Size(self.bounds.bytes))?;
        Ok(())
    }

    /// Reads the number at this position, and subtracts the memory of its text.
    fn read_number(&mut self) -> Result<&'t str, TreeError> {
        let start = self.at;
        self.at += usize::from(self.byte() == b'-');
        match self.byte() {
            b'0' => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), b'+' | b'-'));
            self.skip_digits()?;
        }
        let token = self.text.get(start..self.at).unwrap_or_default();
        self.reserve_memory(allocated_bytes(token.len()))?;
        Ok(token)
    }

    /// Skips one digit or more.
    fn skip_digits(&mut self) -> Result<(), TreeError> {
        let first = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at > first { Ok(()) } else { Err(unexpected_byte()) }
    }

    fn skip_word(&mut self, word: &str) -> Result<(), TreeError> {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        self.at += word.len();
        if found { Ok(()) } else { Err(unexpected_byte()) }
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(END_OF_TEXT)
    }

    /// Skips white space and returns the byte after it.
    fn next_byte(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
        self.byte()
    }

    /// Skips white space, and `byte` if it follows. Returns true if it followed.
    fn skip_if(&mut self, byte: u8) -> bool {
        let follows = self.next_byte() == byte;
        self.at += usize::from(follows);
        follows
    }

    fn skip_colon(&mut self) -> Result<(), TreeError> {
        if self.skip_if(b':') { Ok(()) } else { Err(unexpected_byte()) }
    }

    /// Skips the separator after an item of an array or a member of an object: a comma, or the closing bracket `end`.
    /// Returns true after a comma.
    fn skip_separator(&mut self, end: u8) -> Result<bool, TreeError> {
        if self.skip_if(b',') {
            Ok(true)
        } else if self.skip_if(end) {
            Ok(false)
        } else {
            Err(unexpected_byte())
        }
    }
}

/// True if a text has a character that JSON allows in strings only as an escape.
fn has_control_characters(text: &[u8]) -> bool {
    // A whole chunk is checked without an early exit, so that the compiler can vectorise the loop.
    text.chunks(32).any(|chunk| chunk.iter().fold(false, |any, byte| any | (*byte < 0x20)))
}

/// The byte returned at the end of the text. No JSON has it outside strings.
const END_OF_TEXT: u8 = 0;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::value_of;
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = String> {
        let space = "[ \n\t\r]{0,2}";
        let text = prop_oneof![
            "[a-z \u{e9}\u{1F600}]{0,8}".prop_map(|s| format!("\"{s}\"")),
            Just(r#""\u00e9\ud83d\ude00\\\"\/\n""#.to_owned()),
            any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
        ];
        let number = prop_oneof!["-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?"];
        let word = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
        let leaf = prop_oneof![text.clone(), number, word];
        leaf.prop_recursive(6, 60, 6, move |inner| {
            prop_oneof![
                (prop::collection::vec(inner.clone(), 0..6), space)
                    .prop_map(|(items, s)| format!("[{s}{}{s}]", items.join(&format!("{s},{s}")))),
                (prop::collection::vec((text.clone(), inner), 0..6), space).prop_map(|(members, s)| {
                    let members: Vec<String> = members.iter().map(|(k, v)| format!("{k}{s}:{s}{v}")).collect();
                    format!("{{{s}{}{s}}}", members.join(&format!("{s},{s}")))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_string_literal_equals_that_of_serde(text in "([a-z \u{e9}\u{1F600}]{0,40}[\"\\\\\\x00-\\x1f\\x7f]{0,2}){0,4}") {
            let mut out = String::new();
            super::super::write_string(&text, &mut out);
            prop_assert_eq!(out, serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn a_tree_equals_the_value_of_serde(text in json()) {
            let tree = Tree::parse(&text, 16).unwrap();
            prop_assert_eq!(value_of(&tree), serde_json::from_str::<serde_json::Value>(&text).unwrap());
            let within = Tree::Object(vec![("a".into(), tree.clone()), ("b".into(), tree.clone())]);
            let mut without = within.clone();
            if let (Tree::Object(members), Tree::Object(_)) = (&mut without, &tree) {
                members[1].1 = Tree::Object(vec![]);
            }
            let outer = format!("{{\"a\":{text},\"b\":{text}}}");
            prop_assert_eq!(Tree::parse_without_members_of("b", &outer, 17), Ok(without));
            prop_assert_eq!(
                Tree::parse_without_members_of("b", &format!("[{outer}]"), 18),
                Ok(Tree::Array(vec![within])),
                "only the members of the outermost object are meant"
            );
            // A tree that is written and read again is equal, including number texts and duplicate keys.
            let mut out = String::new();
            tree.write(&mut out);
            prop_assert_eq!(Tree::parse(&out, 16).unwrap(), tree);
        }

        #[test]
        fn a_damaged_text_is_read_if_serde_reads_it(text in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = text.into_bytes();
            let place = at.index(bytes.len());
            bytes[place] = byte;
            for changed in [&bytes[..], &bytes[..place]] {
                let Ok(changed) = std::str::from_utf8(changed) else { continue };
                let serde = serde_json::from_str::<serde_json::Value>(changed).is_ok();
                // A tree may accept more texts than serde_json, which rejects a number outside the range of a double.
                // The grammar, which a raw value shows, is the same.
                let tree = Tree::parse(changed, 128);
                let has_grammar = serde_json::from_str::<&RawValue>(changed).is_ok();
                let outer = format!("{{\"b\":{changed}}}");
                let without = Tree::parse_without_members_of("b", &outer, 128);
                prop_assert_eq!(without.err(), Tree::parse(&outer, 128).err(), "the same checks");
                prop_assert!(tree.is_ok() || !serde, "{:?} {:?}", changed, tree);
                prop_assert!(tree.is_err() || has_grammar, "{:?} {:?}", changed, tree);
            }
        }
    }

    #[test]
    fn is_shortest_accepts_only_shortest_tokens() {
        for token in ["0", "7", "-7", "0.9", "-0.25", "10", "120.5", "99999999999999"] {
            assert!(crate::is_shortest(token), "{token}");
        }
        for token in ["-0", "0.0", "1.0", "0.90", "0.05", "01", "1e3", "1.", ".5", "", "-", "9999999999999999", "+1"] {
            assert!(!crate::is_shortest(token), "{token}");
        }
    }

    #[test]
    fn a_value_that_needs_more_memory_than_allowed_is_an_error() {
        let within = |text: &str, bytes: u64| Tree::parse(text, Bounds { depth: 8, bytes });
        let zeros = format!("[{}0]", "0,".repeat(999));
        let members = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(999));
        let text = format!("\"{}\"", "a".repeat(1000));
        for dense in [&zeros, &members, &text, &"[[],[],{},[\"a\",null]]".to_owned()] {
            let raw: &RawValue = serde_json::from_str(dense).unwrap();
            let (tree, spent) = read_tree(raw, Bounds::from(8)).unwrap();
            assert_eq!(within(dense, spent).unwrap(), tree, "exactly enough");
            assert_eq!(within(dense, spent - 1), Err(TreeError::Size(spent - 1)));
            let mut left = Bounds { depth: 8, bytes: spent * 2 - 1 };
            assert!(
                Tree::from_raw_within(raw, &mut left).is_ok() && Tree::from_raw_within(raw, &mut left).is_err(),
                "two share it"
            );
            let outer = format!("{{\"b\":{{\"c\":{dense}}}}}");
            let spent = read_tree(serde_json::from_str(&outer).unwrap(), Bounds::from(8)).unwrap().1;
            let without = |bytes| Tree::parse_without_members_of("b", &outer, Bounds { depth: 8, bytes });
            assert!(without(spent).is_ok());
            assert_eq!(without(spent - 1), Err(TreeError::Size(spent - 1)), "what is left out counts too");
        }
        assert!(within(&zeros, 1000 * 50).is_err(), "each digit is a value with an allocation of its own");
        assert!(within(&text, 1100).is_ok(), "a text is little more than its bytes");
    }

    #[test]
    fn invalid_or_too_deep_json_is_an_error() {
        let depth = |n: usize| Tree::parse(&format!("{}1{}", "[".repeat(n), "]".repeat(n)), 4);
        assert!(depth(4).is_ok());
        assert_eq!(depth(5), Err(TreeError::Depth(4)));
        assert_eq!(depth(200_000), Err(TreeError::Depth(4)));
        let left_out = |n: usize| {
            let text = format!("{{\"b\":{{\"c\":{}1{}}}}}", "[".repeat(n), "]".repeat(n));
            Tree::parse_without_members_of("b", &text, 4)
        };
        assert!(left_out(2).is_ok());
        assert_eq!(left_out(3), Err(TreeError::Depth(4)));
        assert_eq!(left_out(200_000), Err(TreeError::Depth(4)));
        let surrogate = Tree::parse_without_members_of("b", r#"{"b":{"c":["\ud800"]}}"#, 4);
        assert!(matches!(surrogate, Err(TreeError::Syntax(_))), "{surrogate:?}");
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":}",
            "{\"a\" 1}",
            "01",
            "1.",
            "NaN",
            "\"\\ud800\"",
            "\"\u{1}\"",
            "[\"a",
            "1 2",
        ] {
            assert!(matches!(Tree::parse(text, 8), Err(TreeError::Syntax(_))), "{text}");
        }
    }
}
