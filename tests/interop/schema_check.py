"""Compares our JSON Schemas with the published ones: both have to accept and reject the same documents.

schema_check.py OURS THEIRS FIXTURES EXCEPTIONS
    OURS, FIXTURES: `schemas` and `fixtures` of this repository. THEIRS: the folder with the published ones.
    EXCEPTIONS: JSON, the places where the two may differ, each with its reason.

Tested are the samples of both sides and changed copies of them: every member dropped, every member of either schema set to
values of all types and to the limits of the schemas, and an unknown member added.
Prints one JSON object: {ok, issues, pairs: {name: {samples, both_accept, both_reject, excepted}}}.
"""
import copy
import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from schema_samples import PAIRS, samples

#: Lists in copies of a sample are cut to this many elements, to save time.
MAX_ELEMENTS = 2
#: Values to which every known member of a sample is set in turn. Some texts match patterns and formats of the schemas.
PROBE_VALUES = [None, True, 0, 1, -1, 0.5, 1.5, [], {}, [None], ["x"], ["x", "x"], [0.5], [{}], {"x": 1}, {"x": "x"}]
PROBE_VALUES += ["", "x", "X-1", "1", "1.0", "1.4.2", "2.0", "9.9", "1.0-rc1", "a/1.0.0", "none", "mem_0a", "todo_0a", "exp_0a"]
PROBE_VALUES += ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00", "2026-01-01", "2026-13-41"]
PROBE_VALUES += ["0197f2a0-1111-7000-8000-00000000000a", "5f0c1d2e-0001-4a00-8a00-000000000001"]
PROBE_VALUES += ["a" * 64, "A" * 64, "sha256:" + "a" * 64, "sha256:" + "A" * 64, "sha256:" + "a" * 63]
PROBE_VALUES += ["https://example.org/x", "did:web:example.org", "../x", "/x", "a/b.json"]


class Schema:
    """A schema, and functions which find the parts of the schema that apply to a place in a document."""

    def __init__(self, path):
        files = {file.name: json.loads(file.read_text("utf-8")) for file in path.parent.glob("*.schema.json")}
        self.roots = {**files, **{root["$id"]: root for root in files.values() if "$id" in root}}
        self.root = files[path.name]
        registry = Registry().with_resources([(k, Resource.from_contents(r)) for k, r in self.roots.items()])
        checker = Draft202012Validator.FORMAT_CHECKER
        self.validator = Draft202012Validator(self.root, registry=registry, format_checker=checker)

    def accepts(self, document):
        return self.validator.is_valid(document)

    def at(self, place):
        """Returns all parts of the schema that apply to `place`."""
        here = self.parts([(self.root, self.root)])
        for step in place:
            here = self.parts([found for one in here for found in parts_below(*one, step)])
        return here

    def parts(self, found):
        out, pending = [], list(found)
        while pending:
            schema, root = pending.pop()
            if not isinstance(schema, dict):
                continue
            out.append((schema, root))
            pending += [(part, root) for word in ("allOf", "anyOf", "oneOf") for part in schema.get(word, [])]
            pending += [(schema[word], root) for word in ("if", "then", "else") if word in schema]
            if "$ref" in schema:
                pending.append(self.follow(schema["$ref"], root))
        return out

    def follow(self, ref, root):
        name, _, pointer = ref.partition("#")
        if name:
            root = self.roots.get(name) or self.roots[name.rsplit("/", 1)[-1]]
        target = root
        for step in pointer.strip("/").split("/") if pointer else []:
            target = target[step]
        return target, root


def parts_below(schema, root, step):
    if isinstance(step, int):
        parts = [schema.get("items")] + schema.get("prefixItems", [])[step : step + 1]
    else:
        parts = [schema.get("properties", {}).get(step), schema.get("additionalProperties")]
    return [(part, root) for part in parts if isinstance(part, dict)]


def limit_values(parts):
    """Returns the values of `enum` and `const` in parts of a schema, and values at, below and above the limits."""
    out = []
    for schema, _ in parts:
        out += schema.get("enum", []) + ([schema["const"]] if "const" in schema else [])
        for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if word in schema:
                out += [schema[word] - 1, schema[word], schema[word] + 1]
        for word in ("minLength", "maxLength"):
            if word in schema:
                out += ["y" * n for n in (schema[word] - 1, schema[word], schema[word] + 1) if n >= 0]
        for word in ("minItems", "maxItems"):
            if word in schema:
                out += [["x"] * n for n in (schema[word] - 1, schema[word], schema[word] + 1) if n >= 0]
    return out


def trim_lists(value):
    if isinstance(value, dict):
        return {name: trim_lists(member) for name, member in value.items()}
    return [trim_lists(element) for element in value[:MAX_ELEMENTS]] if isinstance(value, list) else value


def places(value, at=()):
    """Yields (place, value) for a value that is an object or list, and for every object and list inside."""
    if isinstance(value, (dict, list)):
        yield at, value
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(member, (*at, step))


def changes(sample, ours, theirs):
    """Yields changes of a sample: (place, `set`, new value), or (place, `drop`, None)."""
    for at, here in places(sample):
        both = ours.at(at) + theirs.at(at)
        if isinstance(here, list):
            steps = range(len(here))
        else:
            known_names = {name for schema, _ in both for name in schema.get("properties", {})}
            steps = sorted(known_names | set(here) | {"x_unknown_member"})
            yield from (((*at, step), "drop", None) for step in here)
        for step in steps:
            there = (*at, step)
            values = PROBE_VALUES if step != "x_unknown_member" else ["x", 1, None]
            for value in values + limit_values(ours.at(there) + theirs.at(there)):
                yield there, "set", value


def changed_copy(sample, place, what, value):
    document = copy.deepcopy(sample)
    if not place:
        return value
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    if what == "drop":
        del inner[place[-1]]
    else:
        inner[place[-1]] = copy.deepcopy(value)
    return document


def place_pattern(place):
    """Returns a place as a path with `*` for list indexes: `/memories/*/id`."""
    return "".join("/*" if isinstance(step, int) else f"/{step}" for step in place)


class Pair:
    def __init__(self, name, ours, theirs, exceptions):
        self.name, self.ours, self.theirs = name, Schema(ours), Schema(theirs)
        self.exceptions = [one for one in exceptions if one["schema"] in (name, name.split("/")[0] + "/*")]
        self.count = {"samples": 0, "both_accept": 0, "both_reject": 0, "excepted": 0}
        self.found = {}
        self.seen = set()

    def compare(self, document, source, place, what, value):
        accepted, published = self.ours.accepts(document), self.theirs.accepts(document)
        if accepted == published:
            self.count["both_accept" if accepted else "both_reject"] += 1
            return accepted
        who = "ours" if accepted else "theirs"
        for one in self.exceptions:
            if one["accepted_by"] == who and one["change"] == what and place_pattern(place).endswith(one["place"]):
                if "values" not in one or any(json.dumps(v) == json.dumps(value) for v in one["values"]):
                    one["used"] = True
                    self.count["excepted"] += 1
                    return False
        self.found.setdefault((who, what, place_pattern(place)), []).append((value, source))
        return False

    def issues(self):
        """Yields a message for each place where the schemas differ, and one if no document is accepted by both."""
        for (who, what, place), shown in self.found.items():
            value = json.dumps(shown[0][0], ensure_ascii=False)[:90]
            yield f"{self.name}: only {who} accept {what} {place} {value} (and {len(shown) - 1} more; {shown[0][1]})"
        if self.count["both_accept"] == 0:
            yield f"{self.name}: no sample that both accept"

    def sample(self, document, source):
        self.count["samples"] += 1
        if not self.compare(document, source, (), "unchanged", None):
            return
        base = trim_lists(document)
        if not (self.ours.accepts(base) and self.theirs.accepts(base)):
            return
        for place, what, value in changes(base, self.ours, self.theirs):
            key = (place_pattern(place), what, json.dumps(value))
            # Required top-level members depend on other members (a signature needs the checksum), so test them in every sample.
            if key in self.seen and not (what == "drop" and len(place) == 1):
                continue
            self.seen.add(key)
            self.compare(changed_copy(base, place, what, value), source, place, what, value)


def main(ours, theirs, fixtures, exceptions):
    ours, theirs, fixtures = map(pathlib.Path, (ours, theirs, fixtures))
    listed = json.loads(pathlib.Path(exceptions).read_text("utf-8"))
    issues, counts = [], {}
    for name, published in PAIRS.items():
        pair = Pair(name, ours / f"{name}.schema.json", theirs / published, listed)
        for source, document in samples(name, fixtures, theirs):
            pair.sample(document, source)
        issues += pair.issues()
        counts[name] = pair.count
    published = {str(file.relative_to(theirs)) for file in theirs.rglob("*.schema.json")}
    issues += [f"{name}: no schema of ours is compared with this published one" for name in published - set(PAIRS.values())]
    unused = [{k: one[k] for k in ("schema", "place", "change")} for one in listed if "used" not in one]
    issues += [f"an unused exception: {json.dumps(one)}" for one in unused]
    return {"ok": not issues, "issues": issues, "pairs": counts}


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    print(json.dumps(main(*sys.argv[1:]), indent=1, ensure_ascii=False))
