// ChatGPT exports made for a test: as many conversations as it needs, with the words it needs.

const FIRST = 1_700_000_000;

/** One conversation whose messages stand one below the other. `messages`: `[{role, text, files, to, tags}]`. */
export function conversation(id, title, messages) {
  const mapping = { root: { id: "root", parent: null, children: [], message: null } };
  let parent = "root";
  for (const [i, { role, text, to = "all", files = [] }] of messages.entries()) {
    const node = `${id}-${i}`;
    mapping[parent].children.push(node);
    mapping[node] = {
      id: node,
      parent,
      children: [],
      message: {
        id: node,
        author: { role, name: null, metadata: {} },
        create_time: FIRST + i,
        update_time: null,
        content: { content_type: "text", parts: [text] },
        status: "finished_successfully",
        end_turn: true,
        weight: 1,
        metadata: files.length > 0 ? { attachments: files } : {},
        recipient: to,
      },
    };
    parent = node;
  }
  return { id, conversation_id: id, title, create_time: FIRST, update_time: FIRST + messages.length, mapping, current_node: parent };
}

/** An export of short conversations, of distinct words in every message. */
export function manyConversations(name, conversations, messages) {
  return JSON.stringify(
    Array.from({ length: conversations }, (_, c) =>
      conversation(
        `${name}-${c}`,
        `${name} about subject ${c}`,
        Array.from({ length: messages }, (_, m) => ({
          role: m % 2 ? "assistant" : "user",
          text: `${name} ${c} ${m}: the ${m % 3 ? "harbour" : "orchard"} needs ${c * 7 + m} lanterns before winter`,
        })),
      ),
    ),
  );
}
