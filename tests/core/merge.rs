//! Bundles of other vaults are imported in any order. A record that has an end or a successor in one of them stays
//! closed, and a deletion applies to every record that it names.
use crate::source::*;
use mementory_model::{
    Derived, Kind, Link, Record, RecordKey, Times, Tombstone, TombstoneOp, Unit,
};
use mementory_testkit::{TempVault, at};

/// A record as it is read from a `.mem` bundle.
fn bundle_row(kind: Kind, value: &str, text: &str) -> Record {
    let mut record = record(kind, value, text);
    record.key = RecordKey::new("mem", value);
    record.times = Times {
        created: Some(at(10)),
        valid_from: Some(at(10)),
        ..Times::default()
    };
    record
}

fn with_link(mut record: Record, relation: &str, kind: Kind, target: &str) -> Record {
    record.links.push(Link {
        relation: relation.into(),
        kind,
        target: RecordKey::new("mem", target),
    });
    record
}

fn tombstone(id: &str, op: TombstoneOp, kind: &str, target: &str, derived: Derived) -> Tombstone {
    Tombstone {
        id: id.into(),
        op,
        target_kind: kind.into(),
        target_id: target.into(),
        scope: "mem".into(),
        at: at(20),
        actor: "someone".into(),
        reason: String::new(),
        derived,
        signature: None,
        verbatim: None,
    }
}

/// Rows do not record when they last changed. Of two versions of a row, the vault treats the version with an end or a
/// successor as the newer one.
#[test]
fn an_older_bundle_does_not_reopen_a_closed_row() {
    for (kind, name) in [(Kind::Fact, "fact"), (Kind::Relation, "edge")] {
        let open_row = || bundle_row(kind, &format!("{name}/1"), "The launch is in May.");
        let mut ended_row = open_row();
        ended_row.times.valid_to = Some(at(50));
        let successor = format!("{name}/2");
        let succeeded_row = with_link(ended_row.clone(), "superseded_by", kind, &successor);
        let successor_row = bundle_row(kind, &successor, "The launch is in June.");
        for (closed_row, what) in [(ended_row, "its end"), (succeeded_row, "its successor")] {
            let t = TempVault::new();
            import_units(&t, &[open_row().into()]);
            let newer_report = import_units(
                &t,
                &[closed_row.clone().into(), successor_row.clone().into()],
            );
            assert_eq!(
                outcome_counts(&newer_report),
                [2, 1, 1, 0, 0],
                "{name}: {what} comes, and the new row beside it"
            );
            let older_report = import_units(&t, &[open_row().into()]);
            assert_eq!(
                outcome_counts(&older_report),
                [1, 0, 0, 1, 0],
                "{name}: {what} stays"
            );
            let stored = live_records(&t, kind)
                .into_iter()
                .find(|(_, r)| r.key == closed_row.key)
                .unwrap()
                .1;
            assert_eq!(stored.times.valid_to, closed_row.times.valid_to);
            assert_eq!(stored.links, closed_row.links);
            assert_eq!(texts(&t, kind).len(), 2, "{name}: both rows");
        }
    }
}

/// Imports an older and a newer bundle together.
#[test]
fn a_row_is_closed_if_one_of_two_bundles_in_an_import_closes_it() {
    let open_row = || bundle_row(Kind::Fact, "fact/1", "The launch is in May.");
    let mut closed_row = open_row();
    closed_row.times.valid_to = Some(at(50));
    for (order, units) in [
        ("older first", [open_row(), closed_row.clone()]),
        ("newer first", [closed_row.clone(), open_row()]),
    ] {
        for known in [false, true] {
            let t = TempVault::new();
            if known {
                import_units(&t, &[open_row().into()]);
            }
            import_units(&t, &units.clone().map(Unit::from));
            let stored = only_fact(&t);
            assert_eq!(
                stored.times.valid_to,
                Some(at(50)),
                "{order}, known: {known}"
            );
            assert_eq!(faults(&t), [""; 0], "{order}, known: {known}");
        }
    }
}

fn only_fact(t: &TempVault) -> Record {
    let rows = live_records(t, Kind::Fact);
    assert_eq!(rows.len(), 1);
    rows.into_iter().next().unwrap().1
}

/// The text of a row whose validity has ended can still be corrected, and its end can be moved.
#[test]
fn a_closed_row_can_be_corrected() {
    let closed_fact = |day: i64, text: &str| {
        let mut fact = bundle_row(Kind::Fact, "fact/1", text);
        fact.times.valid_to = Some(at(day));
        Unit::from(fact)
    };
    let t = TempVault::new();
    import_units(&t, &[closed_fact(50, "The launch is in May.")]);
    let second_report = import_units(&t, &[closed_fact(60, "The launch is in late May.")]);
    assert_eq!(outcome_counts(&second_report), [1, 0, 1, 0, 0]);
    assert_eq!(texts(&t, Kind::Fact), ["The launch is in late May."]);
}

/// Deletions of every kind remove the record and what was derived from it, and are applied before the records of the
/// same bundle.
#[test]
fn deletions_of_every_kind_apply_first_and_also_to_derived_records() {
    let kinds = [
        (Kind::Profile, "context"),
        (Kind::Profile, "core"),
        (Kind::Profile, "preference"),
        (Kind::Foreign, "category"),
        (Kind::Foreign, "community"),
        (Kind::Foreign, "acmeNote"),
        (Kind::Entity, "entity"),
        (Kind::Memory, "episode"),
        (Kind::Resource, "resource"),
        (Kind::Chunk, "chunk"),
        (Kind::Relation, "edge"),
        (Kind::Fact, "fact"),
        (Kind::Relation, "factLink"),
        (Kind::Relation, "episodeLink"),
        (Kind::Procedure, "procedure"),
        (Kind::Credential, "secretRef"),
    ];
    let rows: Vec<Unit> = kinds
        .iter()
        .map(|(kind, name)| {
            bundle_row(*kind, &format!("{name}/gone"), &format!("A {name}.")).into()
        })
        .collect();
    let tombstones: Vec<Tombstone> = kinds
        .iter()
        .map(|(_, name)| {
            tombstone(
                &format!("t_{name}"),
                TombstoneOp::Delete,
                name,
                "gone",
                Derived::default(),
            )
        })
        .collect();
    for known in [false, true] {
        let t = TempVault::new();
        if known {
            assert_eq!(import_units(&t, &rows).total().added as usize, kinds.len());
        }
        let report = import_from(&t, &|sink| {
            tombstones
                .iter()
                .cloned()
                .try_for_each(|s| sink.tombstone(s))?;
            rows.iter().cloned().try_for_each(|u| sink.unit(u))
        });
        assert_eq!(
            report.total().blocked as usize,
            kinds.len(),
            "known before: {known}"
        );
        for kind in Kind::ALL {
            assert_eq!(live_records(&t, kind).len(), 0, "{}", kind.as_str());
        }
        assert_eq!(
            import_units(&t, &rows).total().blocked as usize,
            kinds.len(),
            "nor later"
        );
    }
    let t = TempVault::new();
    let derived_ids = Derived {
        fact_ids: vec!["gone".into()],
        edge_ids: vec!["gone".into()],
        entity_ids: vec!["gone".into()],
        chunk_ids: vec!["gone".into()],
        ..Derived::default()
    };
    import_from(&t, &|sink| {
        sink.tombstone(tombstone(
            "t",
            TombstoneOp::Delete,
            "episode",
            "other",
            derived_ids.clone(),
        ))
    });
    let report = import_units(&t, &rows);
    assert_eq!(
        report.total().blocked,
        4,
        "what was derived does not come back"
    );
}

/// A redaction in an imported bundle also removes the words from this vault. The record stays, or is imported, only if
/// the words in the record are replaced.
#[test]
fn an_imported_redaction_removes_the_words_from_lists_and_search() {
    let redaction = || {
        tombstone(
            "t",
            TombstoneOp::Redact,
            "episode",
            "ep_1",
            Derived::default(),
        )
    };
    let episode_with = |text: &str| bundle_row(Kind::Memory, "episode/ep_1", text);
    let t = TempVault::new();
    import_units(&t, &[episode_with("The zanzibarquokka sleeps.").into()]);
    let report = import_from(&t, &|sink| sink.tombstone(redaction()));
    assert_eq!(texts(&t, Kind::Memory), [""; 0], "in the Trash");
    assert_eq!(hit_count(&t, "zanzibarquokka"), 0);
    assert!(
        report
            .warnings
            .keys()
            .any(|k| k.starts_with("tombstones_to_trash"))
    );
    t.vault.importer().undo(&report.batch, at(200)).unwrap();
    assert_eq!(
        hit_count(&t, "zanzibarquokka"),
        1,
        "undoing the import takes it back"
    );
    assert_eq!(faults(&t), [""; 0]);

    // A vault that redacted the record exports it with the words replaced. Import that bundle.
    import_from(&t, &|sink| {
        sink.tombstone(redaction())?;
        sink.unit(episode_with("[REDACTED:secret]").into())
    });
    assert_eq!(texts(&t, Kind::Memory), ["[REDACTED:secret]"]);
    assert_eq!(hit_count(&t, "zanzibarquokka"), 0);

    // A tombstone also deletes the derived records that it lists.
    let t = TempVault::new();
    import_units(&t, &[bundle_row(Kind::Fact, "fact/f", "It sleeps.").into()]);
    let derived_ids = Derived {
        fact_ids: vec!["f".into()],
        ..Derived::default()
    };
    import_from(&t, &|sink| {
        sink.tombstone(Tombstone {
            derived: derived_ids.clone(),
            ..redaction()
        })
    });
    assert_eq!(live_records(&t, Kind::Fact).len(), 0);
}

/// Programs choose the ids of their tombstones themselves, so two bundles may give one id to different deletions.
#[test]
fn two_deletions_with_one_id_both_apply() {
    let t = TempVault::new();
    let row = |value, text| Unit::from(bundle_row(Kind::Memory, value, text));
    let rows = [
        row("episode/1", "The first."),
        row("episode/2", "The second."),
    ];
    import_units(&t, &rows);
    let delete = |target: &'static str| {
        let deletion = tombstone(
            "t-1",
            TombstoneOp::Delete,
            "episode",
            target,
            Derived::default(),
        );
        import_from(&t, &move |sink| sink.tombstone(deletion.clone())).batch
    };
    let first = delete("1");
    assert_eq!(texts(&t, Kind::Memory), ["The second."]);
    delete("2");
    delete("2");
    assert_eq!(texts(&t, Kind::Memory), [""; 0], "both are in the Trash");
    assert_eq!(outcome_counts(&import_units(&t, &rows))[4], 2, "blocked");
    assert_eq!(t.vault.audit().tombstones().unwrap().len(), 2);
    t.vault.importer().undo(&first, at(200)).unwrap();
    assert_eq!(
        texts(&t, Kind::Memory),
        ["The first."],
        "the other still applies"
    );
    assert_eq!(faults(&t), [""; 0]);
}
