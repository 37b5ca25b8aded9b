//! Which records a deletion in an import removes (specification of `.mem` v1.1 §5, receiver obligations): the target
//! and everything that was derived only from it, even if the tombstone does not list it as derived.
use crate::{requirements::*, source::*};
use mementory_model::{Derived, Kind, Record, RecordKey, Tombstone, TombstoneOp};
use mementory_testkit::{TempVault, at};
use mementory_vault::{ListQuery, RowView};

/// Replaces the evidence of the bundle's edge by `episodes`.
fn with_evidence(bundle: Bundle, episodes: &str) -> Bundle {
    bundle.with("items/edge.jsonl", |text| {
        text.replace("[\"ep_move\"]", episodes)
    })
}

const ONLY_TEA: &str = "[\"ep_tea\"]";

/// Records that a deletion of `ep_tea` removes if `ep_tea` is the only evidence of `edge_1`.
const REMOVED: [&str; 7] = [
    "episode/ep_tea",
    "fact/fact_1",
    "fact/fact_2",
    "factLink/fact_1|fact_2|refines",
    "episodeLink/ep_move|ep_tea|before",
    "edge/edge_1",
    "entity/ent_sea",
];

/// Records that stay after a deletion of `ep_tea`: another memory, an entity that a community still names, and that
/// community.
const REMAINING: [&str; 3] = ["episode/ep_move", "entity/ent_ada", "community/com_1"];

fn deletion(id: &str) -> Tombstone {
    Tombstone {
        id: format!("tomb_{id}"),
        op: TombstoneOp::Delete,
        target_kind: "episode".into(),
        target_id: id.into(),
        scope: "mem".into(),
        at: at(0),
        actor: "somebody".into(),
        reason: String::new(),
        derived: Derived::default(),
        signature: None,
        verbatim: None,
    }
}

fn mem_record(kind: Kind, key: &str, text: &str) -> Record {
    Record::new(kind, RecordKey::new("mem", key), text)
}

fn with_link(mut record: Record, relation: &str, kind: Kind, key: &str) -> Record {
    record.links.push(mementory_model::Link {
        relation: relation.into(),
        kind,
        target: RecordKey::new("mem", key),
    });
    record
}

/// Returns the rows that the Trash lists.
fn in_trash(t: &TempVault) -> Vec<RowView> {
    let query = ListQuery {
        trash: true,
        limit: 50,
        ..ListQuery::default()
    };
    t.vault.queries().list(&query).unwrap().rows
}

#[test]
fn l2_a_deletion_removes_derived_records_whatever_its_proof_lists() {
    let t = TempVault::new();
    import(&t, &with_evidence(Bundle::of("all-kinds"), ONLY_TEA));
    let before = records_by_key(&t);
    for key in REMOVED.iter().chain(&REMAINING) {
        assert!(has_record(&t, key), "{key}: the control");
    }
    // The bundle still contains the rows, and its tombstone lists nothing as derived.
    let bundle = with_evidence(Bundle::deleting("delete", "episode", "ep_tea"), ONLY_TEA);
    let report = t.import(std::slice::from_ref(&bundle.at)).unwrap();
    for key in REMOVED {
        assert!(!has_record(&t, key), "{key}");
    }
    for key in REMAINING {
        assert!(has_record(&t, key), "{key} has other support");
    }
    assert_eq!(hit_count(&t, "\"green tea\""), 0, "full text");
    assert_eq!(hit_count(&t, "coffee"), 0, "full text");
    assert_eq!(faults(&t), [""; 0]);

    let second_import = t.import(std::slice::from_ref(&bundle.at)).unwrap();
    assert_eq!(second_import.total().added, 0, "nothing comes back");
    import(&t, &with_evidence(Bundle::of("all-kinds"), ONLY_TEA));
    for key in REMOVED {
        assert!(!has_record(&t, key), "{key}: a stale bundle");
    }

    // The Trash shows one entry, and restoring it restores the derived records too.
    let trash = in_trash(&t);
    assert_eq!(trash.len(), 1, "{trash:?}");
    t.vault
        .trash()
        .restore(&[trash[0].id_text()], at(300))
        .unwrap();
    let after = records_by_key(&t);
    assert!(before.iter().all(|(k, v)| after.get(k) == Some(v)));
    assert!(!report.batch.is_empty());
}

#[test]
fn undoing_an_import_restores_what_its_deletion_removed() {
    let t = TempVault::new();
    import(&t, &with_evidence(Bundle::of("all-kinds"), ONLY_TEA));
    let before = records_by_key(&t);
    let bundle = with_evidence(Bundle::deleting("delete", "episode", "ep_tea"), ONLY_TEA);
    let report = t.import(std::slice::from_ref(&bundle.at)).unwrap();
    assert!(!has_record(&t, "entity/ent_sea"));
    t.vault.importer().undo(&report.batch, at(300)).unwrap();
    assert_eq!(records_by_key(&t), before, "all of it, and nothing else");
    assert!(hit_count(&t, "\"green tea\"") >= 2);
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn records_trashed_by_a_cascade_are_erased_with_its_target() {
    let t = TempVault::new();
    import(&t, &with_evidence(Bundle::of("all-kinds"), ONLY_TEA));
    let id = one_row(&t, "episode/ep_tea").id_text();
    import(
        &t,
        &with_evidence(Bundle::deleting("delete", "episode", "ep_tea"), ONLY_TEA),
    );
    assert!(t.number("SELECT count(*) FROM records WHERE trashed IS NOT NULL") >= 7);
    let done = erase(&t, &id, "test", 400);
    assert!(done.receipt.complete);
    let trashed_count = t.number("SELECT count(*) FROM records WHERE trashed IS NOT NULL");
    assert_eq!(
        trashed_count, 0,
        "nothing is left in the Trash where nobody sees it"
    );
    assert_no_trace_of(&t, &["never coffee", "drinks green tea"]);
}

/// §5 (no resurrection), for a vault that receives the deletion before it has any of the records.
#[test]
fn l2_records_derived_from_deleted_ones_are_blocked_at_the_next_import() {
    let t = TempVault::new();
    import_from(&t, &|sink| sink.tombstone(deletion("ep_tea")));
    import(&t, &with_evidence(Bundle::of("all-kinds"), ONLY_TEA));
    for key in REMOVED {
        assert!(!has_record(&t, key), "{key}");
    }
    for key in REMAINING {
        assert!(has_record(&t, key), "{key}");
    }
}

#[test]
fn l2_a_record_with_other_evidence_stays_until_that_is_deleted() {
    let t = TempVault::new();
    let both_episodes = "[\"ep_move\",\"ep_tea\"]";
    import(&t, &with_evidence(Bundle::of("all-kinds"), both_episodes));
    import_from(&t, &|sink| sink.tombstone(deletion("ep_tea")));
    assert!(!has_record(&t, "fact/fact_1"));
    for key in ["edge/edge_1", "entity/ent_sea", "entity/ent_ada"] {
        assert!(has_record(&t, key), "{key} is evidenced by another episode");
    }
    let last = import_from(&t, &|sink| sink.tombstone(deletion("ep_move")));
    for key in ["edge/edge_1", "entity/ent_sea"] {
        assert!(!has_record(&t, key), "{key}");
    }
    t.vault.importer().undo(&last.batch, at(300)).unwrap();
    for key in ["edge/edge_1", "entity/ent_sea", "episode/ep_move"] {
        assert!(has_record(&t, key), "{key}: undone");
    }
    assert!(!has_record(&t, "fact/fact_1"), "the other import stays");
}

/// Deleting an entity also deletes every edge that starts or ends at it, but not the entities at the other end.
#[test]
fn deleting_an_entity_removes_its_edges_but_not_its_neighbours() {
    let t = TempVault::new();
    import(&t, &Bundle::of("all-kinds"));
    let entity_deletion = Tombstone {
        target_kind: "entity".into(),
        ..deletion("ent_ada")
    };
    import_from(&t, &|sink| sink.tombstone(entity_deletion.clone()));
    assert!(!has_record(&t, "entity/ent_ada") && !has_record(&t, "edge/edge_1"));
    assert!(has_record(&t, "entity/ent_sea"));
}

/// §4.1, in two steps: a fact that refers to a blocked episode is not imported, and neither is a link to that fact.
#[test]
fn l2_no_link_to_a_blocked_record_is_left() {
    let t = TempVault::new();
    let bundle = Bundle::deleting("delete", "episode", "ep_tea").with("items/fact.jsonl", |text| {
        let with_other_source = |line: &str| match line.contains("\"id\":\"fact_2\"") {
            true => line.replace("ep_tea", "ep_move"),
            false => line.to_owned(),
        };
        text.lines()
            .map(|line| with_other_source(line) + "\n")
            .collect()
    });
    import(&t, &bundle);
    assert!(has_record(&t, "fact/fact_2"), "of another episode");
    assert!(!has_record(&t, "fact/fact_1"));
    assert!(!has_record(&t, "factLink/fact_1|fact_2|refines"));
}

/// A redaction replaces words in the record. Statements derived from it are removed, except those that the bundle still
/// contains.
#[test]
fn l2_a_redaction_removes_derived_statements_that_the_bundle_lacks() {
    let episode_with = |text: &str| mem_record(Kind::Memory, "episode/ep_1", text);
    let derived_fact = |key: &str, text: &str| {
        let fact = mem_record(Kind::Fact, key, text);
        with_link(fact, "derived_from", Kind::Memory, "episode/ep_1")
    };
    let tombstone = Tombstone {
        op: TombstoneOp::Redact,
        ..deletion("ep_1")
    };
    let t = TempVault::new();
    import_units(
        &t,
        &[
            episode_with("The pin is 4711, and tea is green.").into(),
            derived_fact("fact/pin", "The pin is 4711.").into(),
            derived_fact("fact/tea", "Tea is green.").into(),
        ],
    );
    for time in ["first", "second"] {
        import_from(&t, &|sink| {
            sink.tombstone(tombstone.clone())?;
            sink.unit(episode_with("The pin is [REDACTED:pin], and tea is green.").into())?;
            sink.unit(derived_fact("fact/tea", "Tea is green.").into())
        });
        assert_eq!(hit_count(&t, "4711"), 0, "{time}");
        assert_eq!(texts(&t, Kind::Memory).len(), 1, "{time}: the skeleton");
        assert_eq!(texts(&t, Kind::Fact), ["Tea is green."], "{time}");
        // The episode is not in the Trash, so the Trash lists the derived fact as an entry of its own.
        let trash = in_trash(&t);
        assert_eq!(trash.len(), 1, "{time}");
        assert_eq!(trash[0].kind, Kind::Fact, "{time}");
    }
    let ids = in_trash(&t)
        .iter()
        .map(RowView::id_text)
        .collect::<Vec<_>>();
    t.vault.trash().restore(&ids, at(300)).unwrap();
    assert_eq!(texts(&t, Kind::Fact).len(), 2);
    assert_eq!(hit_count(&t, "4711"), 1);
}

/// An import deletes a record that is already in the Trash. Records derived from that record are then moved to the
/// Trash too, and are restored with it.
#[test]
fn a_record_already_in_the_trash_cascades_to_what_was_derived_from_it() {
    let t = TempVault::new();
    import_units(
        &t,
        &[
            mem_record(Kind::Memory, "episode/ep_1", "Lives by the sea.").into(),
            with_link(
                mem_record(Kind::Memory, "episode/ep_2", "Lives near Lisbon."),
                "derived_from",
                Kind::Memory,
                "episode/ep_1",
            )
            .into(),
        ],
    );
    import_from(&t, &|sink| sink.tombstone(deletion("ep_1")));
    assert_eq!(in_trash(&t).len(), 1);
    // A fact with two sources, of which only one is in the Trash.
    let fact = with_link(
        mem_record(Kind::Fact, "fact/late", "Sees the sea."),
        "derived_from",
        Kind::Memory,
        "episode/ep_2",
    );
    let other = with_link(fact, "derived_from", Kind::Memory, "episode/ep_3");
    import_units(
        &t,
        &[
            mem_record(Kind::Memory, "episode/ep_3", "Has a window.").into(),
            other.into(),
        ],
    );
    assert!(has_record(&t, "fact/late"), "it has other support");
    import_from(&t, &|sink| {
        sink.tombstone(deletion("ep_3"))?;
        sink.tombstone(deletion("ep_2"))
    });
    assert!(!has_record(&t, "fact/late"));
    let trash = in_trash(&t);
    assert!(
        trash.iter().all(|row| row.kind == Kind::Memory),
        "{trash:?}"
    );
    let ids = trash.iter().map(RowView::id_text).collect::<Vec<_>>();
    t.vault.trash().restore(&ids, at(300)).unwrap();
    assert!(has_record(&t, "fact/late"), "with what brings it back");
    let trashed_count = t.number("SELECT count(*) FROM records WHERE trashed IS NOT NULL");
    assert_eq!(trashed_count, 0, "nothing stays where nobody sees it");
}

/// An entity was removed because its evidence was deleted, but no tombstone names the entity. It is restored when other
/// evidence is imported.
#[test]
fn an_entity_that_no_tombstone_names_is_restored_with_other_evidence() {
    let entity = |id: &str, name: &str| mem_record(Kind::Entity, &format!("entity/{id}"), name);
    let edge = |id: &str, episode: &str| {
        let edge = mem_record(Kind::Relation, &format!("edge/{id}"), "lives by");
        let edge = with_link(edge, "source", Kind::Entity, "entity/ada");
        let edge = with_link(edge, "target", Kind::Entity, "entity/sea");
        with_link(
            edge,
            "derived_from",
            Kind::Memory,
            &format!("episode/{episode}"),
        )
    };
    let episode_record = |id: &str| {
        mem_record(
            Kind::Memory,
            &format!("episode/{id}"),
            &format!("The words of {id}."),
        )
    };
    let old_units = || {
        [
            entity("ada", "Ada").into(),
            entity("sea", "The sea").into(),
            episode_record("ep_1").into(),
            edge("old", "ep_1").into(),
        ]
    };
    let entities = ["entity/ada", "entity/sea"];
    let t = TempVault::new();
    import_units(&t, &old_units());
    import_from(&t, &|sink| sink.tombstone(deletion("ep_1")));
    for key in entities {
        assert!(!has_record(&t, key), "{key} lost its last edge");
    }
    import_units(&t, &old_units());
    for key in entities.iter().chain(&["edge/old", "episode/ep_1"]) {
        assert!(!has_record(&t, key), "{key}: a stale bundle is no evidence");
    }
    // A new edge that is derived from another episode.
    import_units(
        &t,
        &[
            entity("ada", "Ada").into(),
            entity("sea", "The sea").into(),
            episode_record("ep_2").into(),
            edge("new", "ep_2").into(),
        ],
    );
    for key in entities.iter().chain(&["edge/new", "episode/ep_2"]) {
        assert!(has_record(&t, key), "{key}: told with living evidence");
    }
    for key in ["edge/old", "episode/ep_1"] {
        assert!(!has_record(&t, key), "{key} is deleted");
    }
    assert!(hit_count(&t, "sea") >= 1, "full text");
    assert_eq!(faults(&t), [""; 0]);
}

/// A statement that was removed with its only source is restored when another source for it is imported.
#[test]
fn a_statement_is_restored_when_another_source_supports_it() {
    let fact_from = |episode: &str| {
        let fact = mem_record(Kind::Fact, "fact/1", "Tea is green.");
        with_link(
            fact,
            "derived_from",
            Kind::Memory,
            &format!("episode/{episode}"),
        )
    };
    let episode_record = |id: &str| {
        mem_record(
            Kind::Memory,
            &format!("episode/{id}"),
            &format!("The words of {id}."),
        )
    };
    let t = TempVault::new();
    import_units(
        &t,
        &[episode_record("ep_1").into(), fact_from("ep_1").into()],
    );
    import_from(&t, &|sink| sink.tombstone(deletion("ep_1")));
    import_units(
        &t,
        &[episode_record("ep_1").into(), fact_from("ep_1").into()],
    );
    assert!(!has_record(&t, "fact/1"), "of the deleted episode alone");
    import_units(
        &t,
        &[episode_record("ep_2").into(), fact_from("ep_2").into()],
    );
    assert!(
        has_record(&t, "fact/1")
            && has_record(&t, "episode/ep_2")
            && !has_record(&t, "episode/ep_1")
    );
}

/// A deletion names an id and a kind. A record of another kind that is keyed by name stays, even if its name equals
/// that id.
#[test]
fn a_deletion_reaches_no_record_of_another_kind_that_is_keyed_by_name() {
    let t = TempVault::new();
    import_from(&t, &|sink| sink.tombstone(deletion("tea")));
    let names = ["preference/tea", "category/tea"];
    import_units(
        &t,
        &names.map(|key| mem_record(Kind::Profile, key, "About tea.").into()),
    );
    for key in names {
        assert!(has_record(&t, key), "{key}");
    }
}
