//! Property tests of the canonical forms of JSON.
#![allow(clippy::unwrap_used)]
use super::{Style, canonical};
use crate::Tree;
use proptest::prelude::*;

/// Generates numbers that all canonical forms can express.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("JSON has no others", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        (any::<i32>(), 0..400u32).prop_map(|(n, d)| format!("{n}.{d}")),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        number().prop_map(Tree::Number),
        any::<String>().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Tree::Array),
            // Keys are unique here; repeated keys have tests of their own.
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Tree::Object(map.into_iter().collect())),
        ]
    })
}

/// The same value with the members of each object in reverse order.
fn with_members_reversed(tree: &Tree) -> Tree {
    match tree {
        Tree::Array(items) => Tree::Array(items.iter().map(with_members_reversed).collect()),
        Tree::Object(members) => {
            Tree::Object(members.iter().rev().map(|(k, v)| (k.clone(), with_members_reversed(v))).collect())
        }
        other => other.clone(),
    }
}

fn canonical_forms(tree: &Tree) -> [Option<String>; 4] {
    [Style::RFC_8785, Style::PYTHON, Style::PYTHON_ASCII, Style::PYTHON_WHOLE].map(|style| canonical(tree, style).ok())
}

fn pretty_printed(tree: &Tree) -> String {
    let text = serde_json::from_str::<serde_json::Value>(&{
        let mut out = String::new();
        tree.write(&mut out);
        out
    });
    // If a number does not fit into a `serde_json::Value`, the result is empty.
    text.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The order of members does not affect the canonical form, and a canonical text is its own canonical form.
    #[test]
    fn the_canonical_form_is_unique_and_stable(tree in tree()) {
        let forms = canonical_forms(&tree);
        prop_assert_eq!(&forms, &canonical_forms(&with_members_reversed(&tree)));
        for (at, text) in forms.into_iter().enumerate() {
            let text = text.unwrap();
            let reparsed = Tree::parse(&text, 64).unwrap();
            prop_assert_eq!(canonical_forms(&reparsed)[at].clone(), Some(text.clone()));
            prop_assert!(!text.contains('\n'), "one line: {}", text);
        }
    }

    /// White space and escapes in the source do not change the canonical form.
    #[test]
    fn the_spelling_of_the_source_does_not_matter(texts in prop::collection::vec(any::<String>(), 1..5)) {
        let tree = Tree::Array(texts.into_iter().map(Tree::Text).collect());
        let from_pretty_text = Tree::parse(&pretty_printed(&tree), 64).unwrap();
        prop_assert_eq!(canonical_forms(&from_pretty_text), canonical_forms(&tree));
    }

    /// Different texts have different canonical forms, so that a signature over one text is not valid for another.
    #[test]
    fn different_texts_have_different_forms(one in any::<String>(), other in any::<String>()) {
        prop_assume!(one != other);
        for (a, b) in canonical_forms(&Tree::Text(one)).into_iter().zip(canonical_forms(&Tree::Text(other))) {
            prop_assert_ne!(a, b);
        }
    }
}
