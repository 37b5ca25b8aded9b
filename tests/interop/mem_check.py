#!/usr/bin/env python3
"""Runs the reference SDK (`pip install portable-memory[signing]`) on a bundle.

  mem_check.py check BUNDLE [--onto BASE]… [--out OUT] [--trust PUBLIC_KEY]…
                                    validate, import into a new store (after BASE), export to OUT if given;
                                    prints {"valid", "issues", "ids", "counts", "blocked", "tombstones", "mode"}
  mem_check.py make OUT [--seed SEED] [--since TIME] [--evidence]
                                    write a bundle with rows before and after 2026-03-01, signed with SEED
  mem_check.py key SEED             print the public key
  mem_check.py sign SEED            print the signature of standard input
  mem_check.py verify               one JSON object {"token", "message"} (hex) per input line; prints true or false
  mem_check.py decode               one JSON object {"kind", "line"} per input line;
                                    prints the canonical line, or null where the SDK refuses
"""
import argparse
import json
import sys
from datetime import datetime, timezone

import portable_memory as pm
from portable_memory import records, signing
from portable_memory.tombstone import DerivedRefs, PortableAuditRecord, Tombstone, TombstoneOp

KINDS = {
    # kind: (end of the name of the method `export_…`, end of the name of `import_…`, record type, id attributes)
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
    """A store in memory for all kinds of records, because the one of the SDK supports only three kinds."""

    def __init__(self):
        self.rows = {kind: {} for kind in KINDS}
        self.episodes, self.ext, self.vendor, self.applied_tombstones, self.log = {}, {}, {}, {}, []
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
        self.applied_tombstones[tombstone.id] = tombstone
        for rows in [self.episodes, self.ext, *self.rows.values()]:
            rows.pop(tombstone.target_id, None)

    def tombstoned_target_ids(self):
        return {t.target_id for t in self.applied_tombstones.values()}

    def export_tombstones(self, since):
        return [t for t in self.applied_tombstones.values() if since is None or t.deleted_at >= since]

    def export_audit_log(self, since):
        return [entry for entry in self.log if since is None or entry.ts >= since]

    def store_passthrough(self, kind, lines):
        self.vendor[kind] = list(lines)

    def export_passthrough_kinds(self):
        return sorted(self.vendor)

    def export_passthrough_lines(self, kind):
        return self.vendor[kind]


def trusted(keys):
    return [signing.PortableVerifyingKey(raw_representation=bytes.fromhex(key)) for key in keys]


def check(bundle, onto=(), out=None, trust=()):
    keys = trusted(trust)
    checked = pm.BundleValidator().validate(bundle, keys)
    issues = list(checked.issues)
    store, report = Store(), None
    try:
        for base in onto:
            pm.BundleImporter().import_bundle(store, base)
        report = pm.BundleImporter().import_bundle(store, bundle, trusted_keys=keys)
    except Exception as error:  # the SDK does not catch decode errors
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
        "tombstones": {t.id: signing.tombstone_signature_valid(t, keys) for t in store.applied_tombstones.values()},
        "mode": checked.manifest.export_mode.value if checked.manifest else None,
    }
    print(json.dumps(result, ensure_ascii=False, sort_keys=True))


def at(day, month=1):
    return datetime(2026, month, day, tzinfo=timezone.utc)


def make(out, seed=None, since=None, evidence=False):
    """Writes a bundle with records and deletions before and after March 2026. Signs bundle and deletions with `seed`."""
    key = signing.PortableSigningKey(raw_representation=bytes.fromhex(seed)) if seed else None
    store = Store()
    for name, time in (("before", at(5)), ("after", at(5, 4))):
        episode = records.PortableEpisode(
            id=f"ep_{name}", event_time=time, mention_time=time, ingestion_time=time, source_type="note",
            summary=f"Written {name}.", details=f"Written {name}.", sensitivity="low", importance=0.5,
            confidence=0.7, lifecycle_state="HOT", extraction_state="done", access_count=0, pinned=False,
            actors=[], metadata={}, categories=[], vault_refs=[],
        )  # fmt: skip
        store.import_episode(episode, '{"acmeScore":0.25}')
        tombstone = Tombstone(
            id=f"tomb_{name}", op=TombstoneOp.DELETE, target_kind="episode", target_id=f"ep_gone_{name}",
            deleted_at=time, actor="actor_1", derived=DerivedRefs(fact_ids=[f"fact_gone_{name}"]), reason="erasure",
        )  # fmt: skip
        store.apply_tombstone(signing.sign_tombstone(tombstone, key) if key else tombstone)
        store.log.append(PortableAuditRecord(ts=time, actor="actor_1", op="delete", target_id=f"ep_gone_{name}"))
    store.import_entity(
        records.PortableEntity(
            id="ent_1", entity_type="person", canonical_name="Ada", aliases=[], summary="", sensitivity="low",
            updated_at=at(5),
        )  # fmt: skip
    )
    store.import_edge(
        records.PortableEdge(
            id="edge_1", src_entity_id="ent_1", dst_entity_id="ent_1", edge_type="knows", t_valid_from=at(5),
            ingestion_time=at(5), confidence=0.5, evidence_episode_ids=["ep_before"],
        )  # fmt: skip
    )
    cursor = datetime.fromisoformat(since) if since else None
    if evidence:
        manifest = pm.BundleExporter().export_evidence_pack(store, out, since=cursor, signing_key=key)
    else:
        mode = pm.ExportMode.INCREMENTAL if cursor else pm.ExportMode.FULL
        manifest = pm.BundleExporter().export(store, out, mode=mode, since=cursor, signing_key=key)
    print(json.dumps({"counts": manifest.counts, "digest": manifest.bundle_digest}, sort_keys=True))


def sign(seed):
    key = signing.PortableSigningKey(raw_representation=bytes.fromhex(seed))
    print(key.sign(sys.stdin.buffer.read()).hex())


def public(seed):
    print(signing.PortableSigningKey(raw_representation=bytes.fromhex(seed)).verifying_key.hex)


def verify():
    for source in sys.stdin:
        case = json.loads(source)
        keys = trusted([case["token"].split(":")[1]])
        print(json.dumps(signing.PortableSigning.verify(case["token"], bytes.fromhex(case["message"]), keys)))


def decode():
    types = {kind: row[2] for kind, row in KINDS.items()} | {"episode": records.PortableEpisode}
    for source in sys.stdin:
        case = json.loads(source)
        try:
            line = pm.to_line(pm.from_wire(types[case["kind"]], json.loads(case["line"])))
        except Exception:
            line = None
        print(json.dumps(line, ensure_ascii=False))


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    judge = commands.add_parser("check")
    judge.add_argument("bundle")
    judge.add_argument("--onto", action="append", default=[])
    judge.add_argument("--out")
    judge.add_argument("--trust", action="append", default=[])
    writer = commands.add_parser("make")
    writer.add_argument("out")
    writer.add_argument("--seed")
    writer.add_argument("--since")
    writer.add_argument("--evidence", action="store_true")
    for name in ("key", "sign"):
        commands.add_parser(name).add_argument("seed")
    for name in ("verify", "decode"):
        commands.add_parser(name)
    return vars(parser.parse_args())


if __name__ == "__main__":
    given = arguments()
    commands = {"check": check, "make": make, "key": public, "sign": sign, "verify": verify, "decode": decode}
    commands[given.pop("command")](**given)
