//! Changes that belong together are one transaction: if one change fails, none is made.
#![allow(clippy::unwrap_used)]
use crate::{AboutKind, Answer, EditFields, Insight, vault::Vault};
use mementory_crypto::KdfChoice;
use mementory_model::Timestamp;

fn time_at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000).unwrap()
}

struct TwoMemories {
    _folder: tempfile::TempDir,
    vault: Vault,
    ids: [String; 2],
}

impl TwoMemories {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v");
        let vault = Vault::create(&path, "correct horse battery staple", KdfChoice::Floor, time_at(1)).unwrap().0;
        let ids = ["Lives in Lyon.", "Lives in Nantes."]
            .map(|text| vault.editor().add(text, None, vec![], time_at(2)).unwrap().value);
        Self { _folder: folder, vault, ids }
    }

    /// Makes every audit log entry with the operation `op` fail, and with the entry its transaction.
    fn break_log_of(&self, op: &str) {
        let trigger = format!(
            "CREATE TRIGGER broken BEFORE INSERT ON audit WHEN NEW.op = '{op}' BEGIN SELECT RAISE(FAIL, 'disk'); END"
        );
        self.vault.context().store.write(|tx| Ok::<_, crate::VaultError>(tx.execute_batch(&trigger)?)).unwrap();
    }

    /// Returns the subject that the person chose for the first memory, its version, the answers about both memories,
    /// and whether the second memory is in the Trash.
    fn state(&self) -> (Option<String>, u32, Vec<Option<Answer>>, bool) {
        let views = self.ids.each_ref().map(|id| self.vault.reader().view(id).unwrap());
        let kind = self.vault.context().store.read(crate::insight_decisions::decided_kinds).unwrap();
        let review = self.vault.editor().review();
        let answers = views.iter().map(|view| review.answer_to(view).unwrap().map(|(answer, _)| answer)).collect();
        let kind = kind.get(&views[0].id).map(|kind| kind.as_str().to_owned());
        (kind, views[0].version, answers, views[1].trashed.is_some())
    }
}

#[test]
fn an_edit_and_the_kind_of_a_memory_are_one_change() {
    let two = TwoMemories::new();
    let edit = |text: &str| {
        let fields = EditFields { text: Some(text.into()), ..EditFields::default() };
        Insight::of(&two.vault).edit_with_kind(&two.ids[0], Some(AboutKind::Health), fields, time_at(3))
    };
    let before = two.state();
    edit("").unwrap_err();
    assert_eq!(two.state(), before, "an edit that is refused stores no kind");
    two.break_log_of("about");
    edit("Lives in Lille.").unwrap_err();
    assert_eq!(two.state(), before, "a kind that cannot be stored makes no version");
    two.vault.context().store.write(|tx| Ok::<_, crate::VaultError>(tx.execute_batch("DROP TRIGGER broken")?)).unwrap();
    assert_eq!(edit("Lives in Lille.").unwrap().value, 2);
    assert_eq!((two.state().0.as_deref(), two.state().1), (Some("health"), 2));
}

#[test]
fn answers_and_the_trash_are_one_change() {
    let two = TwoMemories::new();
    let answers = [(two.ids[0].clone(), Some(Answer::True)), (two.ids[1].clone(), Some(Answer::Wrong))];
    let settle = |trash: &str| two.vault.editor().review().answer_and_trash(&answers, &[trash.to_owned()], time_at(3));
    let before = two.state();
    settle(&"0".repeat(32)).unwrap_err();
    two.break_log_of("delete");
    settle(&two.ids[1]).unwrap_err();
    assert_eq!(two.state(), before, "no answer without the Trash");
    two.vault.context().store.write(|tx| Ok::<_, crate::VaultError>(tx.execute_batch("DROP TRIGGER broken")?)).unwrap();
    settle(&two.ids[1]).unwrap();
    assert_eq!(two.state(), (None, 1, vec![Some(Answer::True), Some(Answer::Wrong)], true));
}
