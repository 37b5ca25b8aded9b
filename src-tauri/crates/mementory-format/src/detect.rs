//! Detection: every format claims members by their content. The strongest claim wins; if two claims are nearly equal,
//! the user decides.
use crate::{Candidate, Catalog, Claim, Detected, Detection, Format, FormatError, Role};
use mementory_model::Limits;
use std::collections::HashSet;

/// Smallest confidence with which a claim takes a member from a claim in which the member only has the role
/// [`Role::Beside`]. Claims on plain lists of sentences have a lower confidence, because such a list may be anything.
const MIN_CONFIDENCE_OVER_BESIDE: f64 = 0.4;

/// Asks every format of `formats` for its claims, or only the format with the id `only_format`. Assigns each member to
/// the strongest claim on it. If the strongest claims of two formats differ by less than 0.05, the member is listed in
/// `ties` and assigned to neither. Exception: if its role in one of the two claims is sidecar, junk or duplicate
/// rendering, it is assigned to the other claim. A member with the role [`Role::Beside`] is assigned to any format that
/// claims records in it, so that folders of notes do not hide the chats among them. A claim is ignored if all its
/// members are in an archive that another format owns ([`Format::owns_archive`]).
pub fn detect(
    formats: &[&'static dyn Format],
    catalog: &Catalog,
    limits: &Limits,
    only_format: Option<&str>,
) -> Result<Detection, FormatError> {
    let mut claims: Vec<(&'static dyn Format, Claim)> = Vec::new();
    for format in formats.iter().copied().filter(|f| only_format.is_none_or(|id| f.id() == id)) {
        let found = match only_format {
            Some(_) => format.detect_selected(catalog, limits)?,
            None => format.detect(catalog, limits)?,
        };
        claims.extend(found.into_iter().map(|c| (format, c)));
    }
    drop_claims_inside_others(&mut claims);
    // The sort is stable, so claims with equal confidence stay in the order of the formats.
    claims.sort_by(|a, b| b.1.confidence.total_cmp(&a.1.confidence));
    let mut has_records = vec![false; catalog.members().len()];
    for part in claims
        .iter()
        .filter(|(_, claim)| claim.confidence >= MIN_CONFIDENCE_OVER_BESIDE)
        .flat_map(|(_, claim)| &claim.parts)
    {
        if let Some(slot) = has_records.get_mut(part.member) {
            *slot |= is_record_role(part.role);
        }
    }
    // For each member, the index of the claim that it is assigned to, and its role in that claim.
    let mut owner: Vec<Option<(usize, Role)>> = vec![None; catalog.members().len()];
    let mut ties: Vec<(usize, Vec<Candidate>)> = Vec::new();
    for (index, (_, claim)) in claims.iter().enumerate() {
        for part in &claim.parts {
            let Some(slot) = owner.get_mut(part.member) else { continue };
            if part.role == Role::Beside && has_records.get(part.member) == Some(&true) {
                continue;
            }
            match *slot {
                None => *slot = Some((index, part.role)),
                Some((other, role))
                    if other != index
                        && (claims[other].1.confidence - claim.confidence).abs() < 0.05
                        && claims[other].0.id() != claims[index].0.id()
                        && !is_side_role(part.role) =>
                {
                    // The weaker claim wins if the file is no record file of the stronger claim: an export of one
                    // program may contain an export of another program among its files.
                    if is_side_role(role) {
                        *slot = Some((index, part.role));
                    } else {
                        let both_candidates = [other, index].into_iter().map(|i| to_candidate(&claims[i]));
                        ties.push((part.member, both_candidates.collect()));
                    }
                }
                Some(_) => {}
            }
        }
    }
    for (member, _) in &ties {
        owner[*member] = None;
    }
    let mut sources = Vec::new();
    for (index, (format, mut claim)) in claims.into_iter().enumerate() {
        claim.parts.retain(|p| owner.get(p.member).copied().flatten().is_some_and(|(at, _)| at == index));
        if claim.parts.is_empty() {
            continue;
        }
        let total_bytes = claim.parts.iter().filter_map(|p| catalog.members().get(p.member)).map(|m| m.size).sum();
        sources.push(Detected { format: format.id(), claim, total_bytes });
    }
    sources.sort_by_key(|s| s.claim.parts.iter().map(|p| p.member).min());
    let unknown = owner
        .iter()
        .enumerate()
        .filter(|(i, o)| o.is_none() && !ties.iter().any(|(m, _)| m == i))
        .map(|(i, _)| i)
        .collect();
    Ok(Detection { sources, ties, unknown })
}

/// Removes claims whose members are all in an archive that another format owns ([`Format::owns_archive`]).
fn drop_claims_inside_others(claims: &mut Vec<(&'static dyn Format, Claim)>) {
    let owning_claims = claims.iter().filter(|(format, _)| format.owns_archive());
    let owned_members: Vec<HashSet<usize>> =
        owning_claims.map(|(_, claim)| claim.parts.iter().map(|p| p.member).collect()).collect();
    let is_inside =
        |claim: &Claim| owned_members.iter().any(|members| claim.parts.iter().all(|p| members.contains(&p.member)));
    claims.retain(|(format, claim)| format.owns_archive() || !is_inside(claim));
}

/// True for the role of a file of an export that contains no records.
fn is_side_role(role: Role) -> bool {
    matches!(role, Role::Sidecar | Role::Junk | Role::DuplicateRendering)
}

/// True for the role of a file with records.
fn is_record_role(role: Role) -> bool {
    matches!(role, Role::Conversations | Role::Memories | Role::Projects | Role::Manifest | Role::Records)
}

fn to_candidate((format, claim): &(&'static dyn Format, Claim)) -> Candidate {
    Candidate { format: format.id(), confidence: claim.confidence, reason: claim.reason.clone() }
}

/// Returns, for each of `members` (which no format recognised), the formats that could read it if the user chose them.
/// The most confident format comes first.
///
/// # Errors
/// The errors of the formats.
pub fn nearest(
    formats: &[&'static dyn Format],
    catalog: &Catalog,
    limits: &Limits,
    members: &[usize],
) -> Result<Vec<(usize, Vec<Candidate>)>, FormatError> {
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<(usize, Vec<Candidate>)> = members.iter().map(|member| (*member, Vec::new())).collect();
    for format in formats.iter().copied() {
        for claim in format.detect_selected(catalog, limits)? {
            let candidate = to_candidate(&(format, claim.clone()));
            for (_, candidates) in found.iter_mut().filter(|(m, _)| claim.parts.iter().any(|part| part.member == *m)) {
                if candidates.iter().all(|known| known.format != candidate.format) {
                    candidates.push(candidate.clone());
                }
            }
        }
    }
    for (_, candidates) in &mut found {
        candidates.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    }
    Ok(found)
}
