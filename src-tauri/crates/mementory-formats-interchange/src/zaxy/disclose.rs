//! Discloses entries of a signed bundle with proofs, and signs an existing bundle.
use super::{
    bundle::Bundle,
    entry::digests,
    envelope::BundleKind,
    merkle::Merkle,
    select::Selector,
    write::{Element, envelope_of_subset, signed, write_bundle},
};
use mementory_format::{Catalog, Disclosure, FormatError, Signer, SourceDescription};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use std::path::Path;

struct SelectedEntry {
    index: u64,
    text: String,
    tree: Tree,
}

/// Writes the entries of a signed bundle that match the selector, each with its proof, into the new file `out`. Checks
/// ids and root. The caller must verify the signature first ([`mementory_format::Format::signatures`]).
///
/// # Errors
/// Fails if the input is not exactly one Zaxy bundle, if it is not signed (`not_signed`), if its root does not match or
/// if it exceeds a limit. I/O errors are returned too.
pub fn disclose(path: &Path, selector: &Selector, out: &Path, limits: &Limits) -> Result<Disclosure, FormatError> {
    with_bundle(path, limits, |bundle| {
        if bundle.envelope.kind != BundleKind::Signed {
            let message = "only a signed bundle can be disclosed in part";
            return Err(FormatError::invalid("not_signed", bundle.place(""), message));
        }
        let tree = build_merkle(bundle)?;
        let (selected, total) = select_entries(bundle, |tree| selector.discloses(tree))?;
        let proofs: Vec<_> =
            selected.iter().map(|k| tree.proof(usize::try_from(k.index).unwrap_or(usize::MAX))).collect();
        let elements = selected.iter().zip(&proofs).map(|(k, p)| Element::disclosed(&k.tree, &k.text, k.index, p));
        write_bundle(out, &envelope_of_subset(&bundle.envelope), elements)?;
        Ok(Disclosure { disclosed: selected.len() as u64, total })
    })
}

/// Signs a bundle and writes it into the new file `out`, with the same entries in the same order. Replaces an existing
/// signature.
///
/// # Errors
/// Fails if the input is not exactly one Zaxy bundle, if it is a disclosed subset (`not_whole`), if it is empty or if
/// it exceeds a limit. I/O errors and errors of the signer are returned too.
pub fn sign(path: &Path, signer: &dyn Signer, out: &Path, now: Timestamp, limits: &Limits) -> Result<(), FormatError> {
    with_bundle(path, limits, |bundle| {
        if bundle.envelope.kind == BundleKind::Subset {
            let message = "a disclosed part of a bundle cannot be signed by another key";
            return Err(FormatError::invalid("not_whole", bundle.place(""), message));
        }
        let tree = build_merkle(bundle)?;
        let session = bundle.envelope.text_member("session_id").unwrap_or_default().to_owned();
        let description =
            SourceDescription { vault_id: String::new(), name: String::new(), generator: String::new(), now };
        let envelope = signed(signer, &session, &description, &tree.root())?;
        let (selected, _) = select_entries(bundle, |_| true)?;
        let elements =
            selected.iter().map(|k| Element { tree: &k.tree, text: Some(&k.text), disclosed: None, extra: &[] });
        write_bundle(out, &envelope, elements)
    })
}

fn with_bundle<T>(
    path: &Path,
    limits: &Limits,
    work: impl FnOnce(&Bundle<'_>) -> Result<T, FormatError>,
) -> Result<T, FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
    let detection = crate::detect(&catalog, limits, Some(super::to_record::KEY_SCOPE))?;
    let [source] = detection.sources.as_slice() else {
        return Err(FormatError::invalid("not_a_bundle", path.display().to_string(), "it is not one Zaxy bundle"));
    };
    work(&Bundle::open(&catalog, source, limits)?)
}

fn build_merkle(bundle: &Bundle) -> Result<Merkle, FormatError> {
    let tree = match bundle.require_integrity()? {
        Some(tree) => Some(tree),
        None => {
            let mut leaves = Vec::new();
            visit_entries(bundle, |_, _, tree| {
                let (_, leaf) =
                    digests(&tree).map_err(|why| FormatError::invalid("malformed_entry", bundle.place(""), why))?;
                leaves.push(leaf);
                Ok(())
            })?;
            Merkle::new(leaves)
        }
    };
    let empty_error =
        || FormatError::invalid("empty_bundle", bundle.place(""), "a signed bundle has at least one entry");
    tree.ok_or_else(empty_error)
}

fn visit_entries(
    bundle: &Bundle,
    mut visit: impl FnMut(u64, &str, Tree) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    bundle.visit_items(&mut |item| {
        let place = || bundle.place(&item.pointer(bundle.envelope.kind));
        let (wrapped, tree) =
            bundle.parse_entry(&item).map_err(|why| FormatError::invalid("malformed_entry", place(), why))?;
        visit(item.index, wrapped.content, tree)
    })
}

fn select_entries(
    bundle: &Bundle,
    is_selected: impl Fn(&Tree) -> bool,
) -> Result<(Vec<SelectedEntry>, u64), FormatError> {
    let (mut selected, mut entry_count) = (Vec::new(), 0);
    visit_entries(bundle, |index, text, tree| {
        entry_count += 1;
        if is_selected(&tree) {
            selected.push(SelectedEntry { index, text: text.to_owned(), tree });
        }
        Ok(())
    })?;
    Ok((selected, entry_count))
}
