//! Tests which documents a search returns, and in which order.
use super::{empty_index, index_of, message, ranked_rows, sorted_rows};
use crate::{FacetField, IndexDoc, IndexFilter, SearchIndex, SearchOutcome, SearchPage};
use proptest::prelude::*;

#[test]
fn hits_are_ranked_and_need_not_contain_all_words() {
    let (_dir, index) = index_of(&[
        "the key of the house",
        "spare key for the Porto flat under the piano stool, Marta has it",
        "a flat tyre",
        "nothing of the kind",
    ]);
    assert_eq!(ranked_rows(&index, "where is the spare key of the Porto flat that Marta has")[0], 2);
    assert_eq!(sorted_rows(&index, "flat key"), [1, 2, 3]);
    assert_eq!(ranked_rows(&index, "absent"), [0; 0]);
    assert_eq!(sorted_rows(&index, "MÁRTA"), [2]);
}

#[test]
fn phrases_and_signs_require_or_forbid_words() {
    let (_dir, index) = index_of(&["red green blue", "green red blue", "red blue", "東京都庁", "京都と東京", "red"]);
    let table: [(&str, &[u64]); 18] = [
        ("\"red green\"", &[1]),
        ("“red green”", &[1]),
        ("\"red blue\"", &[2, 3]),
        ("red -green", &[3, 6]),
        ("+green red", &[1, 2]),
        ("+green +blue", &[1, 2]),
        ("+green -\"red green\"", &[2]),
        ("+red-green", &[1]),
        ("-red", &[4, 5]),
        ("\"red", &[1, 2, 3, 6]),
        ("red AND \"", &[1, 2, 3, 6]),
        ("title:red^2 (", &[1, 2, 3, 6]),
        ("- red + --", &[1, 2, 3, 6]),
        ("東京", &[4, 5]),
        ("\"東京都\"", &[4]),
        ("京", &[4, 5]),
        ("庁", &[4]),
        ("都", &[4, 5]),
    ];
    for (query, expected) in table {
        assert_eq!(sorted_rows(&index, query), expected, "{query}");
    }
    for odd in ["\"\"", "+", "-", "\"", "*", "[a TO b]", "\\", "a:b:c", "+\"", "-\"\"", "\u{0}", "🧑‍🚀"] {
        index.search(odd, &IndexFilter::default(), 5, 0).unwrap();
    }
}

#[test]
fn titles_and_file_names_are_found_and_titles_rank_first() {
    let (_dir, index) = empty_index();
    index.add(&message(1, &["saffron is in this text among other words"])).unwrap();
    index
        .add(&IndexDoc { row: 2, kind: "conversation", title: Some("Saffron risotto"), ..Default::default() })
        .unwrap();
    index.add(&IndexDoc { row: 3, kind: "attachment", names: &["saffron-list.pdf"], ..Default::default() }).unwrap();
    index.commit(1).unwrap();
    assert_eq!(ranked_rows(&index, "saffron")[0], 2);
    assert_eq!(sorted_rows(&index, "saffron"), [1, 2, 3]);
    assert_eq!(ranked_rows(&index, "\"list pdf\""), [3]);
}

#[test]
fn function_words_find_nothing_beside_other_words() {
    let (_dir, index) = index_of(&["a fear of the sea", "the top of the hill", "the sea"]);
    assert_eq!(sorted_rows(&index, "fear of the sea"), [1, 3]);
    assert_eq!(ranked_rows(&index, "fear of the sea")[0], 1);
    assert_eq!(sorted_rows(&index, "of the"), [1, 2, 3], "alone, they are searched for");
    assert_eq!(sorted_rows(&index, "of the walrus"), [1, 2, 3], "the other word does not occur");
    assert_eq!(sorted_rows(&index, "\"of the\" sea"), [1, 2], "a phrase is searched for as it is");
}

#[test]
fn an_unfinished_word_matches_words_that_start_with_it() {
    let (_dir, index) = index_of(&["terracotta pot", "terrace", "pot"]);
    let typing = IndexFilter { typing: true, ..Default::default() };
    let found = |q: &str| {
        let mut rows: Vec<u64> = index.search(q, &typing, 9, 0).unwrap().hits.into_iter().map(|h| h.0).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(found("terr"), [1, 2]);
    assert_eq!(found("terraco"), [1]);
    assert_eq!(found("terr "), [0; 0], "a space ends the word");
    assert_eq!(sorted_rows(&index, "terr"), [0; 0], "not typing");
    let terms = index.search("terr", &typing, 9, 0).unwrap().terms;
    assert!(terms.contains(&"terrace".to_owned()), "for the snippet");
}

#[test]
fn filters_restrict_hits_and_facets_count_them() {
    let (_dir, index) = empty_index();
    let tags = [vec!["home".to_owned(), "keys".to_owned()], vec!["home".to_owned()], vec![]];
    for row in 0..30u64 {
        index
            .add(&IndexDoc {
                row,
                kind: if row % 3 == 0 { "memory" } else { "message" },
                platform: if row % 2 == 0 { "claude" } else { "chatgpt" },
                record_type: (row % 5 == 0).then_some("preference"),
                status: Some("active"),
                tags: &tags[row as usize % 3],
                created: (row != 7).then_some(row as i64 * 1000),
                conversation: (row % 3 != 0).then_some(row / 10),
                text: &["lantern"],
                ..Default::default()
            })
            .unwrap();
    }
    index.commit(1).unwrap();
    let total = |filter: IndexFilter| {
        let outcome = index.search("lantern", &filter, 100, 0).unwrap();
        assert_eq!(outcome.total as usize, outcome.hits.len());
        assert_eq!(index.search("", &filter, 100, 0).unwrap().total, outcome.total, "with no words");
        outcome.total
    };
    let s = |v: &str| vec![v.to_owned()];
    assert_eq!(total(IndexFilter::default()), 30);
    assert_eq!(total(IndexFilter { kinds: s("memory"), ..Default::default() }), 10);
    assert_eq!(total(IndexFilter { kinds: vec!["memory".into(), "message".into()], ..Default::default() }), 30);
    assert_eq!(total(IndexFilter { kinds: s("memory"), platforms: s("claude"), ..Default::default() }), 5);
    assert_eq!(total(IndexFilter { record_types: s("preference"), ..Default::default() }), 6);
    assert_eq!(total(IndexFilter { record_types: s(""), ..Default::default() }), 24, "those without a type");
    let untyped_or_preference = vec![String::new(), "preference".to_owned()];
    assert_eq!(total(IndexFilter { record_types: untyped_or_preference, ..Default::default() }), 30);
    assert_eq!(
        total(IndexFilter { statuses: s(""), ..Default::default() }),
        0,
        "only a type can be asked for by its lack"
    );
    assert_eq!(total(IndexFilter { statuses: s("gone"), ..Default::default() }), 0);
    assert_eq!(total(IndexFilter { tags: s("keys"), ..Default::default() }), 10);
    assert_eq!(total(IndexFilter { created_from: Some(5000), created_to: Some(9000), ..Default::default() }), 4);
    assert_eq!(total(IndexFilter { conversation: Some(1), ..Default::default() }), 7);
    let rows = Some(std::sync::Arc::new([3, 4, 77].into()));
    assert_eq!(total(IndexFilter { rows: rows.clone(), ..Default::default() }), 2);
    assert_eq!(total(IndexFilter { rows, kinds: s("memory"), ..Default::default() }), 1);
    let facet = |f| index.facets("lantern", &IndexFilter::default(), f).unwrap();
    assert_eq!(facet(FacetField::Platform), [("chatgpt".to_owned(), 15), ("claude".to_owned(), 15)].into());
    assert_eq!(facet(FacetField::Tag), [("home".to_owned(), 20), ("keys".to_owned(), 10)].into());
    let memory = IndexFilter { kinds: s("memory"), ..Default::default() };
    assert_eq!(index.facets("", &memory, FacetField::RecordType).unwrap(), [("preference".to_owned(), 2)].into());
    let newest = index.search("", &IndexFilter::default(), 3, 0).unwrap();
    assert_eq!(newest.hits.iter().map(|h| h.0).collect::<Vec<_>>(), [29, 28, 27], "newest first");
}

#[test]
fn pages_do_not_overlap() {
    let texts: Vec<String> = (0..400).map(|i| format!("lamp {}", "word ".repeat(i % 17))).collect();
    let (_dir, index) = index_of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let all = index.search("lamp", &IndexFilter::default(), 400, 0).unwrap();
    assert_eq!((all.total, all.hits.len()), (400, 400));
    assert!(all.hits.windows(2).all(|w| w[0].1 >= w[1].1), "best first");
    let mut rows_of_all_pages = Vec::new();
    for offset in (0..400).step_by(30) {
        rows_of_all_pages.extend(index.search("lamp", &IndexFilter::default(), 30, offset).unwrap().hits);
    }
    let distinct: std::collections::HashSet<u64> = rows_of_all_pages.iter().map(|h| h.0).collect();
    assert_eq!(distinct.len(), 400);
}

#[test]
fn a_commit_publishes_changes_and_a_rollback_drops_them() {
    let (dir, index) = index_of(&["first lamp", "second lamp"]);
    index.add(&message(3, &["third lamp"])).unwrap();
    assert_eq!(sorted_rows(&index, "lamp"), [1, 2], "not committed");
    index.rollback().unwrap();
    index.commit(2).unwrap();
    assert_eq!(sorted_rows(&index, "lamp"), [1, 2], "rolled back");
    index.delete_row(1).unwrap();
    index.add(&message(1, &["first candle"])).unwrap();
    index.commit(3).unwrap();
    assert_eq!((sorted_rows(&index, "lamp"), sorted_rows(&index, "candle")), (vec![2], vec![1]));
    drop(index);
    let reopened = crate::SearchIndex::open(dir.path(), &super::KEY).unwrap();
    assert_eq!((reopened.seq(), reopened.documents()), (3, 2));
    assert_eq!(sorted_rows(&reopened, "candle"), [1]);
    reopened.release_writer().unwrap();
    reopened.add(&message(9, &["candle"])).unwrap();
    reopened.commit(4).unwrap();
    assert_eq!(sorted_rows(&reopened, "candle"), [1, 9]);
}

#[test]
fn after_a_failed_write_nothing_is_committed_before_a_rollback() {
    let (dir, index) = index_of(&["first lamp"]);
    let moved_dir = dir.path().with_extension("elsewhere");
    index.add(&message(2, &["second lamp"])).unwrap();
    std::fs::rename(dir.path(), &moved_dir).unwrap();
    assert!(index.close_segments().is_err());
    std::fs::rename(&moved_dir, dir.path()).unwrap();

    let before = index.seq();
    index.add(&message(3, &["third lamp"])).unwrap();
    assert!(index.commit(before + 1).is_err(), "the second document is lost");
    assert_eq!((index.seq(), sorted_rows(&index, "lamp")), (before, vec![1]));
    index.rollback().unwrap();
    for (row, text) in [(2, "second lamp"), (3, "third lamp")] {
        index.add(&message(row, &[text])).unwrap();
    }
    index.commit(before + 1).unwrap();
    assert_eq!(sorted_rows(&index, "lamp"), [1, 2, 3]);
}

#[test]
fn a_commit_publishes_closed_segments_and_a_rollback_removes_them() {
    let (dir, index) = index_of(&["first lamp", "second lamp"]);
    let files = || std::fs::read_dir(dir.path()).unwrap().count();
    index.close_segments().unwrap();
    let before = files();
    index.delete_row(1).unwrap();
    index.add(&message(1, &["first candle"])).unwrap();
    index.close_segments().unwrap();
    assert!(files() > before, "written out");
    assert_eq!((sorted_rows(&index, "lamp"), sorted_rows(&index, "candle")), (vec![1, 2], vec![]), "not committed");
    index.rollback().unwrap();
    assert_eq!(files(), before, "and taken away");
    index.commit(2).unwrap();
    assert_eq!((sorted_rows(&index, "lamp"), sorted_rows(&index, "candle")), (vec![1, 2], vec![]), "rolled back");
    index.delete_row(1).unwrap();
    index.add(&message(1, &["first candle"])).unwrap();
    index.close_segments().unwrap();
    index.add(&message(3, &["third candle"])).unwrap();
    index.close_segments().unwrap();
    index.delete_row(3).unwrap();
    index.commit(3).unwrap();
    assert_eq!((sorted_rows(&index, "lamp"), sorted_rows(&index, "candle")), (vec![2], vec![1]));
}

#[test]
fn several_segments_rank_like_one() {
    let texts: Vec<String> =
        (0..180).map(|i| format!("lamp {} {}", "word ".repeat(i % 13), ["candle", "kite", ""][i % 3])).collect();
    let text = |row: u64| [texts[row as usize - 1].as_str()];
    let kinds = ["message", "memory"];
    let (one_segment, three_segments) = (empty_index(), empty_index());
    for row in 1..=180 {
        let words = text(row);
        let doc = IndexDoc { kind: kinds[row as usize % 2], ..message(row, &words) };
        one_segment.1.add(&doc).unwrap();
        three_segments.1.add(&doc).unwrap();
        if row % 60 == 0 {
            three_segments.1.commit(row).unwrap();
        }
    }
    one_segment.1.commit(180).unwrap();
    let filters = kinds.map(|kind| IndexFilter { kinds: vec![kind.to_owned()], ..IndexFilter::default() });
    let pages = [(0, 250, 0), (1, 250, 7)].map(|(i, limit, offset)| SearchPage { filter: &filters[i], limit, offset });
    for query in ["lamp", "candle word", "\"lamp word\"", "kite -word", "cand", ""] {
        let search = |index: &SearchIndex| index.search_pages(query, &pages).unwrap();
        let (one, several) = (search(&one_segment.1), search(&three_segments.1));
        for (i, page) in pages.iter().enumerate() {
            let single_result = three_segments.1.search(query, page.filter, page.limit, page.offset).unwrap();
            assert_eq!(several[i], single_result, "{query}: asked together and alone");
            let scored = |outcome: &SearchOutcome| {
                let mut hits: Vec<_> = outcome.hits.iter().map(|(row, score)| (score.to_bits(), *row)).collect();
                hits.sort_unstable();
                hits
            };
            assert_eq!((one[i].total, one[i].hits.len()), (several[i].total, several[i].hits.len()), "{query}");
            if page.offset == 0 {
                assert_eq!(scored(&one[i]), scored(&several[i]), "{query}: the same rows, the same scores");
            }
        }
    }
}

#[test]
fn many_small_commits_leave_few_segments() {
    let (dir, index) = empty_index();
    for row in 1..=80u64 {
        index.add(&message(row, &["lamp"])).unwrap();
        index.commit(row).unwrap();
    }
    index.release_writer().unwrap();
    let segments = std::fs::read_dir(dir.path())
        .unwrap()
        .filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "term"));
    assert!(segments.count() <= 12);
    assert_eq!(index.search("lamp", &IndexFilter::default(), 1, 0).unwrap().total, 80);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_query_is_an_error(query in any::<String>(), typing in any::<bool>()) {
        thread_local! {
            static INDEX: (tempfile::TempDir, crate::SearchIndex) = index_of(&["a b c", "red green", "東京都"]);
        }
        INDEX.with(|(_, index)| {
            index.search(&query, &IndexFilter { typing, ..Default::default() }, 5, 0).unwrap();
        });
    }
}
