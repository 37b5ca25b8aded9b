#!/usr/bin/env python3
"""Runs the reference (`pip install apertomemory==0.2.3`) on exports. Prints one JSON object.

  amem_check.py make VAULT FILE PASSPHRASE    a vault with memories of each type in two scopes, and its export
  amem_check.py take VAULT FILE PASSPHRASE    import an export into a vault, which is made if it does not exist, and open
                                              everything in the vault
"""
import json
import sys


def make(path, file, passphrase):
    from amem.objects import MemoryObject
    from amem.vault import Vault

    vault = Vault.init(path, passphrase)
    for scope in ("default", "boat"):
        vault.add_scope(scope, passphrase)
    objects = [
        (MemoryObject("Oda’s boat is called “Måke” 🚤", tags=["boat", "names"], confidence=1.0), "boat"),
        (MemoryObject("Painted the hull in April", mem_type="episodic", created=1_775_000_000), "boat"),
        (MemoryObject("Sand before the primer", mem_type="procedural", extensions={42: {"litres": 2.5}}), "default"),
    ]
    for memory, scope in objects:
        vault.seal_object(memory, scope, passphrase)
    return {"memories": vault.export(file)}


def take(path, file, passphrase):
    from amem.vault import Vault

    vault = Vault(path)
    try:
        added = vault.import_file_into(file, passphrase)
    except ValueError as error:
        return {"ok": False, "error": str(error)}
    opened, failed = vault.open_all(passphrase)
    names = ("content", "type", "confidence", "tags", "created", "trust", "scope", "schema_violation")
    return {
        "ok": not failed,
        "added": added,
        "failed": failed,
        "memories": [{name: memory.get(name) for name in names} for memory in opened],
    }


COMMANDS = {"make": make, "take": take}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
    else:
        sys.exit(__doc__)
