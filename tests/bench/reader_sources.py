"""Writes a large source in the format of one vendor, of about a given size, and prints {"path", "items"} as JSON.

  reader_sources.py gemini_html --mb 200 --out folder/input

Everything is invented; the same arguments give the same bytes. Memory use is bounded.
"""
import argparse
import json
import os
import random
import sqlite3

WORDS = "leek slug rain bed frost seed row moss fern hedge spade plot tray wind dusk stone path gate mulch root".split()
NOW = 1_763_632_800


def text(rng, length):
    out = []
    size = 0
    while size < length:
        word = rng.choice(WORDS)
        out.append(word)
        size += len(word) + 1
    return " ".join(out)


def iso(second):
    day, rest = divmod(second, 86_400)
    hour, rest = divmod(rest, 3600)
    return f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{hour:02}:{rest // 60:02}:{rest % 60:02}.000Z"


def turns(rng, n):
    return f"{n} {text(rng, 80)}?", f"{n} {text(rng, 700)}."


def lines(path, limit, first, item, last="", between="\n"):
    """Writes items until the file has `limit` characters. Returns the number of items."""
    size = count = 0
    with open(path, "w", encoding="utf-8") as out:
        size += out.write(first)
        while size < limit:
            size += out.write((between if count else "") + item(count))
            count += 1
        out.write(last)
    return count


def chatgpt_long(rng, path, limit):
    def node(n):
        question = n % 2 == 0
        body = turns(rng, n)[0 if question else 1]
        message = {
            "id": f"m{n}",
            "author": {"role": "user" if question else "assistant"},
            "create_time": NOW + n,
            "content": {"content_type": "text", "parts": [body]},
        }
        return json.dumps(f"m{n}") + ":" + json.dumps({"id": f"m{n}", "parent": f"m{n - 1}" if n else None, "message": message})

    head = '[{"id":"long","title":"Long","create_time":%d,"update_time":%d,"mapping":{' % (NOW, NOW)
    return lines(path + ".json", limit, head, node, "}}]", ",\n"), path + ".json"


def gemini_json(rng, path, limit):
    def row(n):
        question, answer = turns(rng, n)
        return json.dumps(
            {
                "header": "Gemini Apps",
                "title": f"Prompted {question}",
                "time": iso(n),
                "products": ["Gemini Apps"],
                "safeHtmlItem": [{"html": f"<p>{answer}</p>"}],
            }
        )

    return lines(path + ".json", limit, "[", row, "]", ",\n"), path + ".json"


def gemini_html(rng, path, limit):
    def cell(n):
        question, answer = turns(rng, n)
        stamp = f"{1 + n // 86_400 % 28} Nov 2026, {n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02} UTC"
        return (
            '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
            '<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">Gemini Apps<br></p></div>'
            '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">'
            f"Prompted\u00a0{question}<br>{stamp}<br><p>{answer}</p></div>"
            '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>'
            "&emsp;Gemini Apps</div></div></div>"
        )

    head = "<html><head><title>My Activity</title></head><body><div class=\"mdl-grid\">"
    return lines(path + ".html", limit, head, cell, "</div></body></html>"), path + ".html"


def grok(rng, path, limit):
    def chat(n):
        question, answer = turns(rng, n)
        date = {"$date": {"$numberLong": str((NOW + n) * 1000)}}
        question_row = {"_id": f"q{n}", "message": question, "sender": "human", "create_time": date}
        answer_row = {"_id": f"a{n}", "message": answer, "sender": "assistant", "parent_response_id": f"q{n}", "create_time": date}
        head = {"id": f"c{n}", "title": f"Chat {n}", "create_time": iso(n)}
        return json.dumps({"conversation": head, "responses": [{"response": question_row}, {"response": answer_row}]})

    return lines(path + ".json", limit, '{"conversations":[', chat, '],"projects":[],"tasks":[]}', ",\n"), path + ".json"


def deepseek(rng, path, limit):
    def chat(n):
        question, answer = turns(rng, n)

        def node(own, parent, kind, body):
            message = {"fragments": [{"type": kind, "content": body}], "model": "m", "files": [], "inserted_at": iso(n)}
            return {"id": own, "parent": parent, "children": [], "message": message}

        mapping = {
            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
            "1": node("1", "root", "REQUEST", question),
            "2": node("2", "1", "RESPONSE", answer),
        }
        return json.dumps({"id": f"c{n}", "title": "t", "inserted_at": iso(n), "updated_at": iso(n), "mapping": mapping})

    return lines(path + ".json", limit, "[", chat, "]", ",\n"), path + ".json"


def copilot(rng, path, limit):
    def rows(n):
        question, answer = turns(rng, n)
        stamp = iso(n)[:19]
        return f'"Chat {n}","{stamp}","AI","{answer}"\r\n"Chat {n}","{stamp}","Human","{question}"'

    return lines(path + ".csv", limit, "\ufeffConversation,Time,Author,Message\r\n", rows, "\r\n", "\r\n"), path + ".csv"


def sessions(rng, path, limit, head, pair):
    os.makedirs(path)
    count = size = 0
    while size < limit:
        name = os.path.join(path, f"session-{count}.jsonl")
        with open(name, "w", encoding="utf-8") as out:
            size += out.write(head(count))
            for n in range(500):
                size += out.write(pair(count, n, *turns(rng, n)))
                if size >= limit:
                    break
        count += 1
    return count, path


def claude_code(rng, path, limit):
    def line(kind, session, n, parent, content):
        row = {"type": kind, "uuid": f"{kind[0]}{session}-{n}", "parentUuid": parent, "sessionId": f"s{session}"}
        row |= {"timestamp": iso(n), "cwd": "/plot", "version": "2.1", "message": {"role": kind, "content": content}}
        return json.dumps(row) + "\n"

    def pair(session, n, question, answer):
        before = f"a{session}-{n - 1}" if n else None
        answered = [{"type": "text", "text": answer}]
        return line("user", session, n, before, question) + line("assistant", session, n, f"u{session}-{n}", answered)

    return sessions(rng, path, limit, lambda session: "", pair)


def codex(rng, path, limit):
    def head(session):
        meta = {"id": f"s{session}", "timestamp": iso(0), "cwd": "/plot", "originator": "codex_cli_rs", "cli_version": "1"}
        return json.dumps({"timestamp": iso(0), "type": "session_meta", "payload": meta}) + "\n"

    def item(n, role, kind, body):
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": body}]}
        return json.dumps({"timestamp": iso(n), "type": "response_item", "payload": payload}) + "\n"

    def pair(session, n, question, answer):
        return item(n, "user", "input_text", question) + item(n, "assistant", "output_text", answer)

    return sessions(rng, path, limit, head, pair)


def cursor(rng, path, limit):
    os.makedirs(path)
    database = sqlite3.connect(os.path.join(path, "state.vscdb"))
    for table in ("ItemTable", "cursorDiskKV"):
        database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    count = size = 0
    while size < limit:
        rows, headers = [], []
        for n in range(100):
            for kind, body in enumerate(turns(rng, n), 1):
                bubble = f"b{n}-{kind}"
                headers.append({"bubbleId": bubble, "type": kind})
                value = json.dumps({"type": kind, "bubbleId": bubble, "text": body, "createdAt": iso(n)})
                rows.append((f"bubbleId:c{count}:{bubble}", value))
        head = {"composerId": f"c{count}", "name": f"Chat {count}", "createdAt": NOW * 1000, "fullConversationHeadersOnly": headers}
        rows.append((f"composerData:c{count}", json.dumps(head)))
        size += sum(len(value) for _, value in rows)
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        count += 1
    database.commit()
    database.close()
    return count, path


def mem0(rng, path, limit):
    def memory(n):
        row = {"id": f"m{n}", "memory": f"{n} {text(rng, 100)}.", "hash": f"{n:032x}", "user_id": "ana", "created_at": iso(n)}
        return json.dumps(row)

    return lines(path + ".json", limit, '{"results":[', memory, "]}", ",\n"), path + ".json"


def mcp_memory(rng, path, limit):
    def entity(n):
        observations = [f"{n}.{k} {text(rng, 90)}" for k in range(3)]
        return json.dumps({"type": "entity", "name": f"Thing {n}", "entityType": "thing", "observations": observations})

    return lines(path + ".jsonl", limit, "", entity, "\n"), path + ".jsonl"


def markdown(rng, path, limit):
    os.makedirs(os.path.join(path, ".obsidian"))
    count = size = 0
    while size < limit:
        folder = os.path.join(path, f"{count // 1000:04}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"note-{count}.md"), "w", encoding="utf-8") as out:
            size += out.write(f"---\ntags: [plot]\n---\n# Note {count}\n\n{text(rng, 960)}\n")
        count += 1
    return count, path


KINDS = [
    chatgpt_long, gemini_html, gemini_json, grok, deepseek, copilot, claude_code, codex, cursor, mem0, mcp_memory, markdown,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=[kind.__name__ for kind in KINDS])
    parser.add_argument("--mb", type=float, required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    make = next(kind for kind in KINDS if kind.__name__ == args.kind)
    items, path = make(random.Random(7), args.out, args.mb * 1e6)
    print(json.dumps({"path": path, "items": items}))


if __name__ == "__main__":
    main()
