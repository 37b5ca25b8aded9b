//! Tests of file handling: links, modes, backups, changes between planning and writing, and paths that are not regular
//! files.

use crate::testing::{Home, now, server};
use mementory_clients::{Client, FileKind, plan_connect, plan_disconnect};
use std::fs;

const TEXT: &str = "{\n  \"vim_mode\": true\n}\n";

#[test]
fn a_file_that_changed_after_the_plan_is_not_written() {
    let home = Home::new();
    let path = home.write(Client::Zed, TEXT);
    let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
    home.write(Client::Zed, "{}");
    let before = home.files();
    assert_eq!(plan.apply(now()).unwrap_err().code(), "config_changed");
    assert_eq!(home.files(), before);
    fs::remove_file(&path).unwrap();
    assert_eq!(plan.apply(now()).unwrap_err().code(), "config_changed");
    assert!(home.files().is_empty());

    let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
    home.write(Client::Zed, "");
    assert_eq!(plan.apply(now()).unwrap_err().code(), "config_changed");

    home.write(Client::Zed, TEXT);
    plan_connect(Client::Zed, &home.places, &server()).unwrap().apply(now()).unwrap();
    let plan = plan_disconnect(Client::Zed, &home.places, "mementory").unwrap();
    home.write(Client::Zed, TEXT);
    assert_eq!(plan.apply(now()).unwrap_err().code(), "config_changed");
    assert_eq!(fs::read_to_string(path).unwrap(), TEXT);
}

#[test]
fn a_backup_has_the_time_in_its_name_and_never_replaces_another() {
    let home = Home::new();
    home.write(Client::GeminiCli, "{}");
    let apply = |text: &str| {
        home.write(Client::GeminiCli, text);
        plan_connect(Client::GeminiCli, &home.places, &server()).unwrap().apply(now()).unwrap().backup.unwrap()
    };
    let (first, second) = (apply("{}"), apply("{ }"));
    assert_eq!(first.file_name().unwrap(), "settings.json.mementory-backup-20261125T190000Z");
    assert_eq!(second.file_name().unwrap(), "settings.json.mementory-backup-20261125T190000Z-2");
    assert_eq!((fs::read(first).unwrap(), fs::read(second).unwrap()), (b"{}".into(), b"{ }".into()));
}

#[test]
fn a_folder_a_huge_file_and_a_file_in_place_of_a_folder_are_refused() {
    let home = Home::new();
    fs::create_dir_all(home.path(Client::Zed)).unwrap();
    let error = plan_connect(Client::Zed, &home.places, &server()).err().unwrap();
    assert!(matches!(error, mementory_clients::Error::NotAFile { kind: FileKind::Folder, .. }), "{error}");

    let path = home.write(Client::ClaudeCode, "");
    fs::File::options().write(true).open(&path).unwrap().set_len(100_000_000).unwrap();
    let error = plan_connect(Client::ClaudeCode, &home.places, &server()).err().unwrap();
    assert_eq!(error.code(), "config_too_large");

    fs::write(home.places.home.join(".gemini"), "a file").unwrap();
    let error = plan_connect(Client::GeminiCli, &home.places, &server()).err().unwrap();
    assert_eq!(error.code(), "io", "{error}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &std::path::Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn the_mode_stays_and_backups_and_new_files_are_private() {
        let home = Home::new();
        for wanted in [0o600, 0o644, 0o660] {
            let path = home.write(Client::Zed, TEXT);
            fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
            let applied = plan_connect(Client::Zed, &home.places, &server()).unwrap().apply(now()).unwrap();
            assert_eq!((mode(&path), mode(&applied.backup.unwrap())), (wanted, 0o600));
        }
        plan_connect(Client::Codex, &home.places, &server()).unwrap().apply(now()).unwrap();
        let path = home.path(Client::Codex);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_written() {
        let home = Home::new();
        let dotfiles = home.outside().join("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        fs::write(dotfiles.join("zed.json"), TEXT).unwrap();
        let link = home.write(Client::Zed, "");
        fs::remove_file(&link).unwrap();
        // The configuration is a link to another, relative link.
        symlink(dotfiles.join("current.json"), &link).unwrap();
        symlink("zed.json", dotfiles.join("current.json")).unwrap();

        let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
        assert_eq!(plan.target(), fs::canonicalize(dotfiles.join("zed.json")).unwrap());
        let backup = plan.apply(now()).unwrap().backup.unwrap();
        assert!(link.is_symlink() && dotfiles.join("current.json").is_symlink());
        assert!(fs::read_to_string(dotfiles.join("zed.json")).unwrap().contains("mementory"));
        assert_eq!(backup.parent(), link.parent(), "beside the link, not in the folder of dotfiles");
        assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), 2, "nothing is left behind");
        plan_disconnect(Client::Zed, &home.places, "mementory").unwrap().apply(now()).unwrap();
        assert_eq!(fs::read_to_string(dotfiles.join("zed.json")).unwrap(), TEXT);
    }

    #[test]
    fn a_link_that_points_elsewhere_after_the_plan_is_not_followed() {
        let home = Home::new();
        let (first, second) = (home.outside().join("first"), home.outside().join("second"));
        fs::write(&first, TEXT).unwrap();
        fs::write(&second, TEXT).unwrap();
        let link = home.write(Client::Zed, "");
        fs::remove_file(&link).unwrap();
        symlink(&first, &link).unwrap();
        let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&second, &link).unwrap();
        assert_eq!(plan.apply(now()).unwrap_err().code(), "config_changed");
        assert_eq!(
            (fs::read_to_string(first).unwrap(), fs::read_to_string(second).unwrap()),
            (TEXT.into(), TEXT.into())
        );
    }

    #[test]
    fn dangling_and_circular_links_are_refused() {
        let home = Home::new();
        let link = home.write(Client::Zed, "");
        fs::remove_file(&link).unwrap();
        symlink("nowhere", &link).unwrap();
        assert_eq!(plan_connect(Client::Zed, &home.places, &server()).err().unwrap().code(), "dangling_link");
        fs::remove_file(&link).unwrap();
        symlink(&link, &link).unwrap();
        assert_eq!(plan_connect(Client::Zed, &home.places, &server()).err().unwrap().code(), "io");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_pipe_and_a_device_are_not_opened() {
        let home = Home::new();
        let path = home.write(Client::Zed, "");
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        // Opening the pipe would wait for a writer.
        let error = plan_connect(Client::Zed, &home.places, &server()).err().unwrap();
        assert_eq!(error.code(), "not_a_file");
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(plan_connect(Client::Zed, &home.places, &server()).err().unwrap().code(), "not_a_file");
    }

    #[test]
    fn a_write_protected_file_is_not_replaced() {
        let home = Home::new();
        let path = home.write(Client::Zed, TEXT);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let before = home.files();
        let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
        assert_eq!(plan.apply(now()).unwrap_err().code(), "no_permission");
        assert_eq!(home.files(), before, "no backup either");
    }

    #[test]
    fn without_permission_nothing_is_changed() {
        let home = Home::new();
        let path = home.write(Client::Zed, TEXT);
        let folder = path.parent().unwrap();
        let plan = plan_connect(Client::Zed, &home.places, &server()).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
        let permissions_are_ignored = fs::write(folder.join("probe"), "").is_ok();
        let applied = plan.apply(now());
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        if permissions_are_ignored {
            assert!(applied.is_ok());
        } else {
            assert_eq!(applied.unwrap_err().code(), "no_permission");
            assert_eq!(fs::read_to_string(path).unwrap(), TEXT);
        }
    }
}
