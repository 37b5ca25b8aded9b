"""Pairs of our schemas and published ones, and the sample documents for both."""
import json
import zipfile

MEM_KINDS = "category chunk community context core edge entity episode episodeLink fact factLink preference procedure".split()
MEM_KINDS += ["resource", "secretRef"]
ALF_LAYERS = ["identity", "principals", "credentials", "attachments"]

#: Name of our schema (`schemas/<name>.schema.json`): file of the published one. Zaxy publishes no schemas.
PAIRS = {
    **{f"mem/{kind}": f"mem/schemas/{kind}.schema.json" for kind in [*MEM_KINDS, "manifest", "tombstone", "log"]},
    **{f"alf/{name}": f"alf/schemas/{name}.schema.json" for name in [*ALF_LAYERS, "manifest", "memory-record", "delta-manifest"]},
    "mif/mif-1": "mif/mif-v1.schema.json",
    "pam/memory-store": "pam/portable-ai-memory.schema.json",
    "pam/conversation": "pam/portable-ai-memory-conversation.schema.json",
    "pam/embeddings": "pam/portable-ai-memory-embeddings.schema.json",
}


def samples(name, fixtures, published):
    """Yields (source, document) for the schema of this name. Skips texts that are not JSON."""
    format_name, kind = name.split("/")
    texts = {"mem": mem, "alf": alf, "mif": mif, "pam": pam}[format_name](kind, fixtures / format_name, published / format_name)
    for source, text in texts:
        try:
            yield source, json.loads(text)
        except ValueError:
            continue


def lines(source, text):
    return [(f"{source}:{n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]


def mem(kind, fixtures, published):
    stream = {"manifest": "manifest.json", "tombstone": "audit/tombstones.jsonl", "log": "audit/log.jsonl"}
    for manifest in [*sorted(fixtures.rglob("manifest.json")), *sorted(published.rglob("manifest.json"))]:
        file = manifest.parent / stream.get(kind, f"items/{kind}.jsonl")
        if file.exists():
            text = file.read_text("utf-8", "replace")
            yield from [(str(file), text)] if kind == "manifest" else lines(file, text)


def alf(kind, fixtures, published):
    for folder in sorted(path for path in fixtures.glob("*/*") if path.is_dir()):
        names = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
        yield from archive(kind, folder, {name: file.read_bytes for name, file in names.items()})
    with zipfile.ZipFile(published / "synthetic-agent.alf") as file:
        entries = {name: lambda name=name: file.read(name) for name in file.namelist()}
        yield from archive(kind, "synthetic-agent.alf", entries)


def archive(kind, source, entries):
    for name, read in entries.items():
        if kind == "memory-record" and name.startswith("memory/") and name.endswith(".jsonl"):
            yield from lines(f"{source}/{name}", read().decode("utf-8", "replace"))
        elif name == f"{kind}.json":
            yield f"{source}/{name}", read().decode("utf-8", "replace")


def mif(_, fixtures, published):
    for file in [*sorted(fixtures.rglob("input*.json")), *sorted(published.glob("*.json"))]:
        text = file.read_text("utf-8", "replace")
        # Skips documents of version 2, for which no schema is published.
        if '"export"' in text:
            yield str(file), text


def pam(kind, fixtures, published):
    words = {"memory-store": "portable-ai-memory", "conversation": "portable-ai-memory-conversation"}
    wanted = words.get(kind, "portable-ai-memory-embeddings")
    for file in [*sorted(fixtures.rglob("*.json")), *sorted(published.glob("*.json"))]:
        text = file.read_text("utf-8", "replace")
        if f'"{wanted}"' in text and not file.name.endswith(".schema.json") and file.name != "case.json":
            yield str(file), text
