#!/usr/bin/env python3
"""Lets the reference SDK (`pip install portable-memory[signing]`) judge a bundle.

  mem_check.py check BUNDLE [OUT]   validate, import into a fresh store, export to OUT when given;
                                    prints {"valid", "issues", "ids", "counts", "blocked"}
  mem_check.py decode               one JSON object {"kind", "line"} per input line;
                                    prints the canonical line, or null where the SDK refuses
"""
import json
import sys

import portable_memory as pm
from portable_memory import records

KINDS = {
    # kind: (reader of the exporter, writer of the importer, record type, id attributes)
    "context": ("contexts", "context", records.PortableContext, ("id",)),
    "category": ("categories", "category", records.PortableCategory, ("name",)),
    "preference": ("preferences", "preference", records.PortablePreference, ("key",)),
    "core": ("core_blocks", "core_block", records.PortableCore, ("id",)),
    "entity": ("entities", "entity", records.PortableEntity, ("id",)),
    "resource": ("resources", "resource", records.PortableResource, ("id",)),
    "chunk": ("chunks", "chunk", records.PortableChunk, ("id",)),
    "edge": ("edges", "edge", records.PortableEdge, ("id",)),
    "fact": ("facts", "fact", records.PortableFact, ("id",)),
    "factLink": ("fact_links", "fact_link", records.PortableFactLink, ("src_fact_id", "dst_fact_id", "link_type")),
    "episodeLink": (
        "episode_links", "episode_link", records.PortableEpisodeLink, ("src_episode_id", "dst_episode_id", "link_type"),
    ),
    "procedure": ("procedures", "procedure", records.PortableProcedure, ("id",)),
    "community": ("communities", "community", records.PortableCommunity, ("id",)),
    "secretRef": ("secret_refs", "secret_ref", records.PortableSecretRef, ("id",)),
}


class Store(pm.PortableMemoryStore):
    """A store for every kind; the SDK's own in-memory one holds three."""

    def __init__(self):
        self.rows = {kind: {} for kind in KINDS}
        self.episodes, self.ext, self.vendor, self.graves = {}, {}, {}, {}
        for kind, (reader, writer, _, ids) in KINDS.items():
            setattr(self, f"export_{reader}", lambda kind=kind: list(self.rows[kind].values()))
            setattr(self, f"import_{writer}", lambda row, kind=kind, ids=ids: self._put(kind, row, ids))

    def _put(self, kind, row, ids):
        self.rows[kind]["|".join(getattr(row, name) for name in ids)] = row

    def store_info(self):
        return pm.StoreInfo(generator="mem-check/1")

    def import_episode(self, episode, ext):
        self.episodes[episode.id] = episode
        if ext is not None:
            self.ext[episode.id] = ext

    def export_episodes(self):
        return list(self.episodes.values())

    def export_episode_ext(self):
        return dict(self.ext)

    def apply_tombstone(self, tombstone):
        self.graves[tombstone.id] = tombstone
        for rows in [self.episodes, self.ext, *self.rows.values()]:
            rows.pop(tombstone.target_id, None)

    def tombstoned_target_ids(self):
        return {t.target_id for t in self.graves.values()}

    def export_tombstones(self, since):
        return list(self.graves.values())

    def store_passthrough(self, kind, lines):
        self.vendor[kind] = list(lines)

    def export_passthrough_kinds(self):
        return sorted(self.vendor)

    def export_passthrough_lines(self, kind):
        return self.vendor[kind]


def check(bundle, out=None):
    issues = list(pm.BundleValidator().validate(bundle).issues)
    store, report = Store(), None
    try:
        report = pm.BundleImporter().import_bundle(store, bundle)
    except Exception as error:  # the SDK lets decode errors through as they are
        issues.append(f"import: {type(error).__name__}: {error}")
    if report is not None and out is not None:
        pm.BundleExporter().export(store, out)
    ids = {kind: sorted(rows) for kind, rows in store.rows.items() if rows}
    if store.episodes:
        ids["episode"] = sorted(store.episodes)
    result = {
        "valid": not issues,
        "issues": issues,
        "ids": ids,
        "counts": report.applied if report else {},
        "blocked": report.skipped_tombstoned if report else 0,
    }
    print(json.dumps(result, ensure_ascii=False, sort_keys=True))


def decode():
    types = {kind: row[2] for kind, row in KINDS.items()} | {"episode": records.PortableEpisode}
    for source in sys.stdin:
        case = json.loads(source)
        try:
            line = pm.to_line(pm.from_wire(types[case["kind"]], json.loads(case["line"])))
        except Exception:
            line = None
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"] and len(sys.argv) in (3, 4):
        check(*sys.argv[2:])
    elif sys.argv[1:] == ["decode"]:
        decode()
    else:
        sys.exit(__doc__)
