//! Several exports of one source in the same import.
use crate::source::*;
use mementory_model::Kind;
use mementory_testkit::TempVault;

#[test]
fn of_two_exports_in_one_import_the_newer_one_wins_in_either_order() {
    let older = conversation(
        1,
        &[
            ("a", None, "Hello.", true),
            ("b", Some("a"), "Partial ans", true),
        ],
    );
    let newer = conversation(
        2,
        &[
            ("a", None, "Hello.", true),
            ("b", Some("a"), "Partial answer, now finished.", false),
            ("d", Some("a"), "Another answer.", true),
        ],
    );
    for drop in [
        [older.clone(), newer.clone()],
        [newer.clone(), older.clone()],
    ] {
        let t = TempVault::new();
        import_units(&t, &drop);
        let expected_texts = ["Another answer.", "Hello.", "Partial answer, now finished."];
        assert_eq!(texts(&t, Kind::Message), expected_texts);
        let shown = |value| record_with_id(&t, Kind::Message, value).0.active();
        assert_eq!((shown("a"), shown("b"), shown("d")), (true, false, true));
        assert_eq!(faults(&t), [""; 0]);
    }
    // When the same exports are imported one after the other, the older export must not undo changes of the newer one.
    let t = TempVault::new();
    import_units(&t, &[newer]);
    import_units(&t, &[older]);
    assert_eq!(
        record_with_id(&t, Kind::Message, "b").1.text,
        "Partial answer, now finished."
    );
}
