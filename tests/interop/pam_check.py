"""Validates exports of Mementory with the Python SDK of PAM and JSON Schemas. Prints one JSON object.

pam_check.py judge FOLDER [SCHEMAS]   validate every bundle in FOLDER (each a folder with memory-store.json and companions)
                                      with the SDK, the published rules for checksum and signature, and the JSON Schemas
                                      in SCHEMAS (names: *store*/portable-ai-memory.schema.json …) if given
pam_check.py make FOLDER              write a small bundle with the SDK, for Mementory to read
pam_check.py resave FROM TO           load a bundle with the SDK and save it again, for Mementory to read
pam_check.py schemas SCHEMAS FOLDER   check the documents of all bundles below FOLDER against JSON Schemas only

Needs portable-ai-memory, jsonschema, rfc8785 and cryptography (PyPI).
"""
import base64
import datetime
import hashlib
import json
import pathlib
import sys

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def documents(bundle):
    return sorted(path for path in pathlib.Path(bundle).rglob("*.json") if "attachments" not in path.parts)


def read(path):
    return json.loads(path.read_text("utf-8"))


def checksum(memories):
    import rfc8785

    ordered = sorted(memories, key=lambda memory: memory["id"])
    return "sha256:" + hashlib.sha256(rfc8785.dumps(ordered)).hexdigest()


def ed25519(text):
    number = 0
    for letter in text.removeprefix("z"):
        number = number * 58 + ALPHABET.index(letter)
    raw = number.to_bytes(34, "big")
    assert raw[:2] == b"\xed\x01", "not an Ed25519 key"
    return raw[2:]


def signature(store):
    """Returns whether the signature is valid by section 18.4 of PAM. None if the store has no signature."""
    import rfc8785
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    block = store.get("signature")
    if block is None:
        return None
    payload = rfc8785.dumps({
        "checksum": store["integrity"]["checksum"],
        "export_id": store["export_id"],
        "export_date": store["export_date"],
        "owner_id": store["owner"]["id"],
    })
    value = block["value"]
    try:
        key = Ed25519PublicKey.from_public_bytes(ed25519(block["public_key"]))
        key.verify(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)), payload)
    except (InvalidSignature, ValueError, AssertionError):
        return False
    return block["signed_at"] >= store["export_date"] and "=" not in value


def validators(folder):
    from jsonschema import Draft202012Validator, FormatChecker

    out = {}
    for path in pathlib.Path(folder).glob("*.schema.json"):
        name = path.name
        kind = "-conversation" if "conversation" in name else "-embeddings" if "embeddings" in name else ""
        out["portable-ai-memory" + kind] = Draft202012Validator(read(path), format_checker=FormatChecker())
    return out


def against_schemas(paths, schemas):
    issues = []
    for path in paths:
        document = read(path)
        validator = schemas.get(document.get("schema"))
        for error in validator.iter_errors(document) if validator else []:
            issues.append(f"{path.parent.name}/{path.name}: {error.json_path}: {error.message[:120]}")
    return issues


def judge_one(bundle, schemas):
    from portable_ai_memory import load, validate, validate_embeddings

    issues = against_schemas(documents(bundle), schemas)
    store_path = bundle / "memory-store.json"
    raw = read(store_path)
    store = load(store_path)
    found = [validate(store)]
    vectors = bundle / "embeddings.json"
    if vectors.exists():
        found.append(validate_embeddings(load(vectors), store))
    for entry in raw.get("conversations_index", []):
        reference = entry.get("storage", {}).get("ref")
        if not reference or not (bundle / reference).exists():
            issues.append(f"{bundle.name}: no file for conversation {entry['id']}")
            continue
        talk = load(bundle / reference)
        found.append(validate(talk))
        if entry.get("message_count") not in (None, len(talk.messages)):
            issues.append(f"{bundle.name}: message_count of {entry['id']}")
    issues += [f"{bundle.name}: {issue}" for result in found for issue in result.errors]
    if raw.get("integrity") and checksum(raw["memories"]) != raw["integrity"]["checksum"]:
        issues.append(f"{bundle.name}: checksum by the specification")
    signed = signature(raw)
    return {
        "issues": issues,
        "memories": len(store.memories),
        "conversations": len(store.conversations_index),
        "messages": sum(len(read(p).get("messages", [])) for p in documents(bundle)),
        "export_type": str(raw.get("export_type")),
        "signed": signed,
    }


def judge(folder, schemas=None):
    schemas = validators(schemas) if schemas else {}
    root = pathlib.Path(folder)
    bundles = [root] if (root / "memory-store.json").exists() else sorted(p.parent for p in root.glob("*/memory-store.json"))
    results = {}
    for bundle in bundles:
        try:
            results[bundle.name] = judge_one(bundle, schemas)
        except Exception as error:  # the SDK reports invalid stores by raising
            results[bundle.name] = {"issues": [f"{bundle.name}: {type(error).__name__}: {str(error)[:300]}"]}
    issues = [issue for result in results.values() for issue in result["issues"]]
    return {"ok": bool(results) and not issues, "issues": issues[:40], "bundles": results}


def make(folder):
    from portable_ai_memory import (
        Conversation, ConversationIndexEntry, ConversationTemporal, IntegrityBlock, MemoryObject, MemoryStore,
        MemoryType, Message, MessageContent, MessageRole, Owner, ProviderInfo, StorageReference,
        compute_integrity_checksum, save,
    )

    root = pathlib.Path(folder)
    start = datetime.datetime(2026, 5, 1, 8, tzinfo=datetime.UTC)
    temporal = ConversationTemporal(created_at=start)
    memories = [
        MemoryObject.create(id="m-1", type=MemoryType.PREFERENCE, content="Keeps a tortoise called Rui.",
                            platform="claude", tags=["pets"]),
        MemoryObject.create(id="m-2", type=MemoryType.CUSTOM, custom_type="pet_name", content="Rui  is\na tortoise.",
                            platform="chatgpt"),
    ]
    memories[0].provenance.conversation_ref = "talk"
    dumped = [memory.model_dump(mode="json", by_alias=True, exclude_none=True) for memory in memories]
    entry = ConversationIndexEntry(id="talk", platform="claude", title="Rui", message_count=2, temporal=temporal,
                                   derived_memories=["m-1"],
                                   storage=StorageReference(type="file", ref="conversations/talk.json", format="json"))
    store = MemoryStore(schema_version="1.0", owner=Owner(id="someone"), memories=memories,
                        conversations_index=[entry],
                        integrity=IntegrityBlock(checksum=compute_integrity_checksum(dumped), total_memories=2))
    say = lambda text: MessageContent(type="text", text=text)
    talk = Conversation(schema_version="1.0", id="talk", provider=ProviderInfo(name="claude"), title="Rui",
                        temporal=temporal,
                        messages=[
                            Message(id="a", role=MessageRole.USER, content=say("Who is Rui?"), created_at=start),
                            Message(id="b", role=MessageRole.ASSISTANT, content=say("A tortoise."), created_at=start,
                                    parent_id="a"),
                        ])
    save(store, root / "memory-store.json")
    save(talk, root / "conversations" / "talk.json")
    return {"memories": 2, "conversations": 1, "messages": 2}


def resave(source, target):
    from portable_ai_memory import load, save

    paths = documents(source)
    for path in paths:
        save(load(path), pathlib.Path(target) / path.relative_to(source))
    return {"documents": len(paths)}


def schemas(folder, bundles):
    paths = documents(bundles)
    issues = against_schemas(paths, validators(folder))
    return {"ok": bool(paths) and not issues, "issues": issues[:40], "documents": len(paths)}


COMMANDS = {"judge": judge, "make": make, "resave": resave, "schemas": schemas}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
