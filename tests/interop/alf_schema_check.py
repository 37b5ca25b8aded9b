#!/usr/bin/env python3
"""Check an .alf against JSON Schemas (draft 2020-12).

Prints JSON: {valid, errors, id_version_errors, unknown_values, counts}.

usage: alf_schema_check.py FILE.alf SCHEMA_FOLDER

The folder contains manifest, memory-record, identity, principals, credentials and attachments `.schema.json`.
Needs `jsonschema` (PyPI). Two kinds of findings are listed separately from `errors`, because files of other programs contain them:
- `id_version_errors`: memory ids that are UUIDs of another version than 7 (preserved as they are);
- `unknown_values`: words outside an `enum`, which the specification (section 8.2) says to accept.
"""
import json
import pathlib
import sys
import zipfile

import jsonschema

LAYERS = ("identity", "principals", "credentials", "attachments")


def load(folder, name):
    schema = json.loads((folder / f"{name}.schema.json").read_text())
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker)


def main(path, folder):
    out = {"valid": False, "errors": [], "id_version_errors": [], "unknown_values": [], "counts": {}}

    def check(validator, value, place):
        for error in validator.iter_errors(value):
            at = place + "#/" + "/".join(map(str, error.absolute_path))
            if error.validator == "pattern" and list(error.absolute_path) == ["id"]:
                out["id_version_errors"].append(at)
            elif error.validator == "enum":
                out["unknown_values"].append(at)
            else:
                out["errors"].append({"place": at, "rule": error.validator})

    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
        check(load(folder, "manifest"), manifest, "manifest.json")
        layers = manifest.get("layers", {})
        for layer in LAYERS:
            if layer not in layers:
                continue
            name = layers[layer]["file"]
            if name not in names:
                out["errors"].append({"place": name, "rule": "missing"})
                continue
            document = json.loads(archive.read(name))
            check(load(folder, layer), document, name)
            if layer != "identity":
                count = len(document[layer])
                out["counts"][layer] = count
                if count != layers[layer]["count"]:
                    out["errors"].append({"place": name, "rule": "count"})
        record = load(folder, "memory-record")
        total, last = 0, ""
        for row in layers.get("memory", {}).get("partitions", []):
            if row["from"] < last:
                out["errors"].append({"place": row["file"], "rule": "order"})
            last = row["from"]
            lines = [line for line in archive.read(row["file"]).split(b"\n") if line.strip()]
            for number, line in enumerate(lines, 1):
                check(record, json.loads(line), f"{row['file']}:{number}")
            if len(lines) != row["record_count"]:
                out["errors"].append({"place": row["file"], "rule": "record_count"})
            total += len(lines)
        out["counts"]["memory"] = total
        if "memory" in layers and layers["memory"]["record_count"] != total:
            out["errors"].append({"place": "manifest.json", "rule": "record_count"})
    out["valid"] = not out["errors"]
    print(json.dumps(out, indent=1))
    return 0 if out["valid"] else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
