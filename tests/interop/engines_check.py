"""Loads files that Mementory wrote with the packages of two memory engines, and prints what they hold as JSON.

    engines_check.py mem0 FILE STORE                  all memories of FILE are added to a store of mem0 in folder STORE
    engines_check.py basic-memory PACKAGE FOLDER      the notes in FOLDER are parsed by the package in folder PACKAGE

Neither needs a model or a network: mem0 stores texts as they are, with the embeddings of its own tests.
"""

import asyncio
import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
import typing
from pathlib import Path


def mem0_texts(file, store):
    """Adds each element of `file` to a store and returns what the store then has: pairs of owner and text."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": store, "OPENAI_API_KEY": "unused"}
    from mem0 import Memory
    from mem0.configs.base import MemoryItem
    from mem0.embeddings.mock import MockEmbeddings

    vector_store = {"path": f"{store}/qdrant", "on_disk": True, "embedding_model_dims": 10}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": vector_store},
            "history_db_path": f"{store}/history.db",
        }
    )
    memory.embedding_model = MockEmbeddings()
    owners = set()
    for element in json.loads(Path(file).read_text("utf-8"))["results"]:
        item = MemoryItem.model_validate(element)
        owner = element.get("user_id") or "nobody"
        owners.add(owner)
        memory.add(item.memory, user_id=owner, metadata=item.metadata, infer=False)
    stored = [(owner, memory.get_all(filters={"user_id": owner}, top_k=100_000)["results"]) for owner in owners]
    return sorted([owner, one["memory"]] for owner, results in stored for one in results)


class OlderPython(importlib.abc.MetaPathFinder):
    """Imports modules of `basic_memory` on Python 3.11, which lacks the statement `type X = Y`."""

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        is_theirs = name.split(".")[0] == "basic_memory"
        if is_theirs and spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = OlderPythonLoader(name, spec.origin)
        return spec


class OlderPythonLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        source = Path(self.path).read_text("utf-8")
        return compile(re.sub(r"^type (\w+ = )", r"\1", source, flags=re.MULTILINE), self.path, "exec")


def basic_memory_notes(package, folder):
    """Parses every note below `folder`: its title, type, permalink, tags, observations and relations."""
    sys.path.insert(0, package)
    if sys.version_info < (3, 12):
        from typing_extensions import override

        typing.override = override
        sys.meta_path.insert(0, OlderPython())
    from basic_memory.markdown import EntityParser

    root = Path(folder).resolve()
    parser = EntityParser(root)

    def note(path):
        parsed = asyncio.run(parser.parse_file(path))
        front = parsed.frontmatter
        return {
            "path": path.relative_to(root).as_posix(),
            "title": front.title,
            "type": front.type,
            "permalink": front.permalink,
            "tags": front.tags,
            "observations": [[one.category, one.content] for one in parsed.observations],
            "relations": [[one.type, one.target] for one in parsed.relations],
        }

    return [note(path) for path in sorted(root.rglob("*.md"))]


if __name__ == "__main__":
    command, *args = sys.argv[1:]
    found = {"mem0": mem0_texts, "basic-memory": basic_memory_notes}[command](*args)
    print(json.dumps(found))
