"""Runs reference programs on files that Mementory wrote. Prints one JSON object.

reference.py mem BUNDLE            validate and read a .mem bundle with the portable-memory SDK
reference.py make-mem BUNDLE       write a small bundle with the SDK, for Mementory to read
reference.py transfer FILE         read a text of memories with the SDK's adapter
reference.py schemas FOLDER FILE   check an .alf archive against the JSON Schemas in FOLDER
"""
import json
import pathlib
import sys
import zipfile


def read_mem(bundle):
    from portable_memory import BundleImporter, BundleValidator, InMemoryStore

    result = BundleValidator().validate(bundle)
    answer = {"ok": result.ok, "issues": [str(issue) for issue in result.issues]}
    if result.ok:
        store = InMemoryStore()
        report = BundleImporter().import_bundle(store, bundle, reembed=False)
        answer["counts"] = {kind: count for kind, count in result.manifest.counts.items() if count}
        answer["applied"] = report.applied
        answer["texts"] = sorted(episode.details for episode in store.episodes.values())
        answer["other_kinds"] = {kind: len(lines) for kind, lines in store.passthrough.items()}
    return answer


def make_mem(bundle):
    from portable_memory import BundleExporter, InMemoryStore
    from portable_memory.adapters.transfer import TransferTextAdapter

    text = "[2026-03-01] - Keeps a tortoise called Rui.\n[2026-03-02] - Drinks no coffee after noon.\n"
    store = InMemoryStore(generator="interop")
    for episode in TransferTextAdapter.parse_episodes(text, source="chatgpt"):
        store.import_episode(episode, None)
    BundleExporter().export(store, bundle)
    return {"episodes": len(store.episodes)}


def read_transfer(file):
    from portable_memory.adapters.transfer import TransferTextAdapter

    return {"episodes": len(TransferTextAdapter.parse_episodes(pathlib.Path(file).read_bytes()))}


def check_schemas(folder, archive):
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in pathlib.Path(folder).glob("*.schema.json")}
    resources = [(key, Resource.from_contents(s)) for name, s in schemas.items() for key in (name, s.get("$id", name))]
    registry = Registry().with_resources(resources)

    def problems(name, document, place):
        validator = Draft202012Validator(schemas[name], registry=registry)
        return [f"{place}: {error.json_path}: {error.message[:160]}" for error in validator.iter_errors(document)]

    issues, records = [], 0
    with zipfile.ZipFile(archive) as file:
        manifest = json.loads(file.read("manifest.json"))
        issues += problems("manifest.schema.json", manifest, "manifest.json")
        for partition in manifest["layers"].get("memory", {}).get("partitions", []):
            for number, line in enumerate(file.read(partition["file"]).decode("utf-8").splitlines(), 1):
                records += 1
                issues += problems("memory-record.schema.json", json.loads(line), f"{partition['file']}:{number}")
    return {"ok": not issues, "issues": issues[:20], "records": records}


COMMANDS = {"mem": read_mem, "make-mem": make_mem, "transfer": read_transfer, "schemas": check_schemas}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
