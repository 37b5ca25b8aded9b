"""Measures reference programs on the same work as Mementory. Prints one JSON object. For the commands mem-… and pam-…,
`seconds` and `cpu` cover only the work: not the start of Python, the loading of packages, or the step named as `before`.
Each call is a process of its own, so that its peak memory is that of this work.

reference_formats.py mem-validate BUNDLE      portable-memory: validate
reference_formats.py mem-import BUNDLE        portable-memory: validate, then import into its store in memory
reference_formats.py mem-export BUNDLE OUT    portable-memory: export and validate what was written (before: import)
reference_formats.py pam-checksum FILE        portable-ai-memory: read the JSON of a store and compute its checksum
reference_formats.py pam-validate FILE        portable-ai-memory: load and validate a store
reference_formats.py alf-lines FILE OUT       the memory lines of an .alf as one JSONL file
reference_formats.py alf-apply BASE DELTA FULL [APPLIED]
                                              apply the delta to the base line by line, and compare the result with FULL and
                                              with APPLIED, the export of another vault that imported both
"""
import json
import sys
import time
import zipfile

ID_KEYS = ("id", "agent_id")


def run_timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return {**answer, "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def mem_validate(bundle):
    from portable_memory import BundleValidator

    def work():
        result = BundleValidator().validate(bundle)
        return {"ok": result.ok, "records": sum(result.manifest.counts.values())}

    return run_timed(work)


def mem_import(bundle):
    from portable_memory import BundleImporter, BundleValidator, InMemoryStore

    def work():
        ok = BundleValidator().validate(bundle).ok
        store = InMemoryStore()
        BundleImporter().import_bundle(store, bundle, reembed=False)
        return {"ok": ok, "records": len(store.episodes)}

    return run_timed(work)


def mem_export(bundle, out):
    from portable_memory import BundleExporter, BundleImporter, BundleValidator, InMemoryStore

    store = InMemoryStore()
    BundleImporter().import_bundle(store, bundle, reembed=False)

    def work():
        started = time.perf_counter()
        manifest = BundleExporter().export(store, out)
        alone = time.perf_counter() - started
        ok = BundleValidator().validate(out).ok
        return {"ok": ok, "records": sum(manifest.counts.values()), "export_alone": alone}

    return run_timed(work)


def pam_checksum(path):
    from portable_ai_memory import compute_integrity_checksum

    def work():
        with open(path, encoding="utf-8") as file:
            store = json.load(file)
        checksum = compute_integrity_checksum(store["memories"])
        return {"ok": checksum == store["integrity"]["checksum"], "records": len(store["memories"])}

    return run_timed(work)


def pam_validate(path):
    from portable_ai_memory import load, validate

    def work():
        store = load(path)
        return {"ok": validate(store).is_valid, "records": len(store.memories)}

    return run_timed(work)


def read_partitions(path):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        for row in manifest["layers"]["memory"]["partitions"]:
            yield archive.read(row["file"])


def non_empty_lines(data):
    return [line for line in data.decode("utf-8").split("\n") if line.strip()]


def alf_lines(path, out):
    records = total = 0
    with open(out, "wb") as file:
        for data in read_partitions(path):
            file.write(data)
            total += len(data)
            records += len(non_empty_lines(data))
    return {"ok": records > 0, "records": records, "bytes": total}


def records_by_id(path):
    records = {}
    for data in read_partitions(path):
        for line in non_empty_lines(data):
            record = json.loads(line)
            if record["id"] in records:
                raise ValueError(f"{path}: {record['id']} occurs twice")
            records[record["id"]] = record
    return records


def delta_changes(path):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        return [json.loads(line) for line in non_empty_lines(archive.read(manifest["changes"]["memory"]["file"]))]


def records_by_key(records):
    """Maps the key of each record at its source to the record without ids, because another vault assigns other ids."""
    out = {}
    for record in records.values():
        key = record["raw_source_format"]["mementory"]["record"]["key"]["value"]
        out[key] = {name: value for name, value in record.items() if name not in ID_KEYS}
    return out


def alf_apply(base, changes, full, applied=None):
    records, counts = records_by_id(base), {"create": 0, "update": 0, "delete": 0}
    for change in delta_changes(changes):
        operation = change.pop("operation")
        counts[operation] += 1
        if change.get("mementory", {}).get("erased"):
            del records[change["id"]]
        else:
            records[change["id"]] = change
    expected = records_by_id(full)
    answer = {"ok": records == expected, "records": len(expected), **counts}
    if applied is not None:
        actual, expected = records_by_key(records_by_id(applied)), records_by_key(expected)
        answer["missing"] = len(expected.keys() - actual.keys())
        answer["more"] = len(actual.keys() - expected.keys())
        answer["different"] = sum(actual[key] != expected[key] for key in expected.keys() & actual.keys())
    return answer


COMMANDS = {
    "mem-validate": mem_validate,
    "mem-import": mem_import,
    "mem-export": mem_export,
    "pam-checksum": pam_checksum,
    "pam-validate": pam_validate,
    "alf-lines": alf_lines,
    "alf-apply": alf_apply,
}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
    else:
        sys.exit(__doc__)
