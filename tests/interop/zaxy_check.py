#!/usr/bin/env python3
"""Runs the reference (`pip install zaxy-memory[export]==3.2.0 jsonschema`) on bundles. Prints one JSON object.

  zaxy_check.py verify FILE [KEY]        validate a bundle; KEY: the public key in hex that must have signed it
  zaxy_check.py make FOLDER              a log, an unsigned bundle and for both algorithms a key (PEM and hex), a signed
                                         bundle and a disclosed part of it, for Mementory to read
  zaxy_check.py schemas FOLDER FILE      check a bundle against the JSON Schemas in FOLDER (schemas/zaxy)
"""
import json
import pathlib
import sys
import warnings
from datetime import UTC, datetime, timedelta

ALGORITHMS = ("ed25519", "ml-dsa-65")


def load(path):
    return json.loads(pathlib.Path(path).read_text("utf-8"))


def verify(path, key=None):
    from zaxy.export_view import verify_memory_export_subset
    from zaxy.portable import verify_export

    bundle = load(path)
    if bundle.get("version") == "zaxy.export.unsigned.v1":
        return {"ok": bundle["signed"] is False, "kind": "unsigned", "entries": len(bundle["entries"])}
    if "disclosed" in bundle:
        result = verify_memory_export_subset(bundle, expect_public_key=key)
        kind, entries = "subset", bundle["disclosed"]
    else:
        result = verify_export(bundle, expect_public_key=key)
        kind, entries = "signed", bundle["entries"]
    return {**result, "kind": kind, "algorithm": bundle["algorithm"], "entries": len(entries)}


def make(folder):
    from zaxy.event import EventLog
    from zaxy.export_view import ExportSelector, build_memory_export, disclose_export_bundle
    from zaxy.portable import generate_keypair
    from zaxy.retrieval_cache import SessionRetrievalCache
    from zaxy.session import SessionManager

    place = pathlib.Path(folder)
    (place / "log").mkdir(parents=True)
    log = EventLog(place / "log" / "harbour.jsonl")
    start = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)
    payloads = [
        ("goal.created", {"title": "Paint the boat", "description": "before the season, in grey"}),
        ("decision.made", {"decision": "two coats of primer", "score": 1.0, "litres": 1e-05}),
        ("memory.noted", {"text": "Oda's boat is called “Måke” 🚤", "n": 123456789012345678901234567890}),
        ("task.completed", {"task": "sanded the hull"}),
    ]
    for i, (kind, payload) in enumerate(payloads):
        log.append(kind, "oda", payload, thread="harbour", timestamp=start + timedelta(hours=i))
    cache = SessionRetrievalCache(SessionManager(base_path=place / "log"))

    def write_bundle(name, bundle):
        (place / name).write_text(json.dumps(bundle, indent=2, ensure_ascii=False), encoding="utf-8")

    unsigned = build_memory_export("harbour", retrieval_cache=cache)
    write_bundle("unsigned.json", unsigned)
    keys = {}
    for algorithm in ALGORITHMS:
        pair = generate_keypair(algorithm)
        keys[algorithm] = pair["public_key"].hex()
        (place / f"{algorithm}.pem").write_bytes(pair["private_pem"])
        (place / f"{algorithm}.pub").write_text(keys[algorithm])
        signed = build_memory_export("harbour", retrieval_cache=cache, signing_key=pair)
        write_bundle(f"signed.{algorithm}.json", signed)
        chosen = ExportSelector(grains=frozenset({"event"}), since_seq=1)
        write_bundle(f"subset.{algorithm}.json", disclose_export_bundle(signed, chosen))
    return {"entries": len(unsigned["entries"]), "events": len(payloads), "disclosed": len(payloads) - 1, "keys": keys}


def schemas(folder, path):
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas_by_name = {p.name: json.loads(p.read_text("utf-8")) for p in pathlib.Path(folder).glob("*.schema.json")}
    registry = Registry().with_resources((name, Resource.from_contents(s)) for name, s in schemas_by_name.items())
    bundle = load(path)
    if bundle["version"] == "zaxy.export.unsigned.v1":
        name = "unsigned-bundle"
    else:
        name = "subset" if "disclosed" in bundle else "signed-bundle"
    validator = Draft202012Validator(schemas_by_name[f"{name}.schema.json"], registry=registry)
    issues = [f"{e.json_path}: {e.message[:160]}" for e in validator.iter_errors(bundle)]
    return {"ok": not issues, "issues": issues[:20], "schema": name}


COMMANDS = {"verify": verify, "make": make, "schemas": schemas}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the reference warns on import that its signing is experimental
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
    else:
        sys.exit(__doc__)
