//! Compares a scratch file with a plain buffer in memory.
use crate::SpoolFile;
use proptest::prelude::*;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<u8>),
    Read(usize),
    Seek(u64),
    Back(i64),
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<u8>(), 0usize..150_000)
            .prop_map(|(b, n)| Step::Write((0..n).map(|i| b.wrapping_add(i as u8)).collect())),
        (0usize..150_000).prop_map(Step::Read),
        (0u64..400_000).prop_map(Step::Seek),
        (-1000i64..10).prop_map(Step::Back),
        Just(Step::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_scratch_file_behaves_like_a_file(steps in proptest::collection::vec(step(), 1..24)) {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = SpoolFile::create_in(dir.path()).unwrap();
        let mut expected = Cursor::new(Vec::new());
        for s in steps {
            match s {
                Step::Write(bytes) => { spool.write_all(&bytes).unwrap(); expected.write_all(&bytes).unwrap(); }
                Step::Read(n) => {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    (&mut spool).take(n as u64).read_to_end(&mut a).unwrap();
                    (&mut expected).take(n as u64).read_to_end(&mut b).unwrap();
                    prop_assert!(a == b);
                }
                Step::Seek(position) => prop_assert_eq!(spool.seek(SeekFrom::Start(position)).unwrap(), expected.seek(SeekFrom::Start(position)).unwrap()),
                Step::Back(by) => prop_assert_eq!(spool.seek(SeekFrom::End(by)).ok(), expected.seek(SeekFrom::End(by)).ok()),
                Step::Flush => spool.flush().unwrap(),
            }
            prop_assert_eq!(spool.len(), expected.get_ref().len() as u64);
        }
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it has no name");
    }
}

/// The contents of the unnamed files that this process has open in a folder.
#[cfg(target_os = "linux")]
fn unnamed_files_in(dir: &std::path::Path) -> Vec<Vec<u8>> {
    let dir = dir.canonicalize().unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten().map(|entry| entry.path());
    // Other tests open and close files at the same time, so a link may no longer be readable.
    let links_in_folder = open.filter(|link| std::fs::read_link(link).is_ok_and(|target| target.starts_with(&dir)));
    links_in_folder.filter_map(|link| std::fs::read(link).ok()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_disk_never_has_the_bytes_of_a_scratch_file() {
    const CANARY: &[u8] = b"quixotry zephyr 7310 ";
    let dir = tempfile::tempdir().unwrap();
    let mut spool = SpoolFile::create_in(dir.path()).unwrap();
    let text = CANARY.repeat(200_000 / CANARY.len());
    for _ in 0..2 {
        spool.seek(SeekFrom::Start(0)).unwrap();
        spool.write_all(&text).unwrap();
        spool.flush().unwrap();
        let files = unnamed_files_in(dir.path());
        assert!(files.len() == 1 && files[0].len() > text.len(), "{} files", files.len());
        let has_canary = files[0].windows(8).any(|bytes| CANARY.windows(8).any(|canary| canary == bytes));
        assert!(!has_canary, "the text is on the disk");
    }
    let mut read = Vec::new();
    spool.seek(SeekFrom::Start(0)).unwrap();
    spool.read_to_end(&mut read).unwrap();
    assert!(read == text);
}
