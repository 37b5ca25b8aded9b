// Makes the .rpm from the content of the .deb with rpmbuild. Tauri's bundler can make one too, but writes the time of
// the build into it, does not mark documentation, and cannot add a changelog.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removalText } from "./package_deb.mjs";
import { ROOT, WORKSPACE } from "./places.mjs";
import { must } from "./sh.mjs";

/** This machine's architecture, as rpm names it. */
const ARCHITECTURE = { x64: "x86_64", arm64: "aarch64" }[process.arch] ?? process.arch;
/** Texts of licences, which are always installed. */
const LICENCE = /^\/usr\/share\/doc\/mementory\/(?:copyright|licences\.txt\.gz)$|\/LICENSE$/;
/** Folders in which zsh looks for completions of packages, on Debian and on Fedora. */
const ZSH_FOLDERS = ["/usr/share/zsh/vendor-completions", "/usr/share/zsh/site-functions"];
/** Folders of documentation, which a person can leave out when installing. */
const DOCUMENTATION = /^\/usr\/share\/(?:doc|man)\//;

/**
 * Packs the files in `content`, which is an unpacked .deb, into an .rpm in `folder`. All files get the time `seconds`,
 * which is that of the commit.
 */
export async function packRpm(content, folder, { staging, seconds, maintainer, debug, env }) {
  const top = join(staging, "rpm");
  rmSync(top, { recursive: true, force: true });
  mkdirSync(top, { recursive: true });
  const spec = join(top, "mementory.spec");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(spec, specification(content, version, { seconds, maintainer, debug }));
  await must("rpmbuild", ["-bb", "--quiet", "--target", ARCHITECTURE, "--define", `_topdir ${top}`, spec], { env });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [built] = readdirSync(join(top, "RPMS", ARCHITECTURE));
  copyFileSync(join(top, "RPMS", ARCHITECTURE, built), join(folder, built));
}

/** The spec file for rpmbuild. */
function specification(content, version, { seconds, maintainer, debug }) {
  const { bundle } = JSON.parse(readFileSync(join(WORKSPACE, "tauri.conf.json"), "utf8"));
  // A date such as "Thu Nov 26 2026", which rpm needs in English whatever the language of this machine.
  const [weekday, day, month, year] = new Date(seconds * 1000).toUTCString().replace(",", "").split(" ");
  return `Name: mementory
Version: ${version}
Release: 1
Summary: ${bundle.shortDescription}
License: MIT AND Apache-2.0
Group: Applications/Productivity
Packager: ${maintainer}
# The libraries that the programs link are found by rpmbuild.
AutoReqProv: yes

# The files are packed as they were built, with the time of the commit.
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost reproducible
%global _binary_payload ${debug ? "w1.gzdio" : "w9.xzdio"}

%description
${bundle.longDescription}

%prep
%build

%install
mkdir -p %{buildroot}
cp -a ${content}/usr %{buildroot}/
mv %{buildroot}${ZSH_FOLDERS[0]} %{buildroot}${ZSH_FOLDERS[1]}

%postun
# 0: the package is removed, and not replaced by a newer one.
if [ "$1" -eq 0 ]; then
cat <<'TEXT'
${removalText().trimEnd()}
TEXT
fi

%files
%defattr(-,root,root,-)
${filesIn(content, "/usr")
  .map((path) => `${markOf(path)}"${path.replace(...ZSH_FOLDERS)}"`)
  .join("\n")}

%changelog
* ${weekday} ${month} ${day} ${year} ${maintainer} - ${version}-1
- The changes are listed in CHANGELOG.md of the source.
`;
}

/** The marker that precedes a file's path in the list of files of the spec file. */
const markOf = (path) => (LICENCE.test(path) ? "%license " : DOCUMENTATION.test(path) ? "%doc " : "");

/** Paths of all files below a folder of `root`, in a fixed order. */
function filesIn(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => !statSync(join(root, path)).isDirectory())
    .sort();
}
