//! The shapes that many programs share, recognised by the start of a file.
use super::envelope::{ENVELOPES, OUTER_ENVELOPES};
use super::head_values::values_of;
use super::{
    adk, agentscope, amazon_q_tabs, anything_llm, api, chainlit, chat_store, cline, compliance, doubao, llm_json,
    pairs, poe, pydantic_ai, role_play, tongyi, void, yuanbao, zed,
};
use mementory_formats_shared::roles;
use mementory_json::{Keys, keys_of};
use std::borrow::Cow;

/// Keys under which conversations are listed.
const WRAPPER_KEYS: [&str; 9] =
    ["conversations", "data", "chats", "threads", "items", "history", "sessions", "results", "chat_history"];
/// Keys under which a conversation lists its messages.
pub(super) const MESSAGE_LISTS: [&str; 18] = [
    "messages",
    "msgs",
    "conversations",
    "turns",
    "chat",
    "conversation",
    "dialogue",
    "dialog",
    "chat_messages",
    "history",
    "chat_history",
    "chats",
    "segments",
    "interactions",
    "entries",
    "contents",
    "items",
    "data",
];
/// Key of the messages in the answer that the page of Copilot receives. Other programs list other things under it, so
/// the speakers must be types of authors.
pub(super) const RESULTS: &str = "results";
/// Types of authors in that answer.
pub(super) const AUTHOR_TYPES: [&str; 2] = ["human", "ai"];
/// Keys of the speaker of a message.
const ROLE_KEYS: [&str; 9] =
    ["role", "sender", "author", "from", "speaker", "isUser", "is_user", "isHuman", "is_human"];
/// Keys of the text of a message.
const TEXT_KEYS: [&str; 10] =
    ["content", "text", "parts", "message", "value", "say", "body", "contentParts", "fragments", "blocks"];

/// Names of speakers that show that a file is a chat with an assistant. Names of assistants are left out, because
/// people are called Claude too.
const SPEAKERS: [&str; 17] = [
    "user",
    "human",
    "assistant",
    "system",
    "model",
    "ai",
    "bot",
    "gpt",
    "chatgpt",
    "prompt",
    "prompter",
    "response",
    "tool",
    "function",
    "developer",
    "usermessage",
    "apimessage",
];

/// Member of a backup of NextChat that contains the chats.
pub(super) const NEXT_CHAT: &str = "chat-next-web-store";
/// Beginning of the names of members in a backup of Chatbox. Each such member contains one session.
pub(super) const CHATBOX_SESSION: &str = "session:";
/// Member that contains the list of sessions in older backups of Chatbox.
pub(super) const CHATBOX_LIST: &str = "chat-sessions";
/// Members that contain the database and the settings in a backup of Cherry Studio.
pub(super) const CHERRY_DATABASE: &str = "indexedDB";
pub(super) const CHERRY_SETTINGS: &str = "localStorage";

/// Member of a story of KoboldAI that contains the texts after its beginning.
pub(super) const KOBOLD_ACTIONS: &str = "actions";

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Conversations with lists of messages. The conversations are the elements of a list, one on each line, or a
    /// single object.
    Conversations,
    /// Messages without conversations, as elements of a list or as one message on each line.
    Messages,
    /// A list of threads, and a list of messages with the ids of their threads.
    Threads,
    /// Messages and their parts in two objects whose keys are ids, as OpenRouter exports them.
    OpenRouter,
    /// The backup of NextChat.
    NextChat,
    /// The backup of Chatbox.
    Chatbox,
    /// The backup of LobeChat.
    LobeChat,
    /// The backup of Cherry Studio.
    CherryStudio,
    /// The messages that Cline or Roo Code showed on the screen during a task.
    Cline,
    /// A session that Kiro CLI saved before its version 2, or under its earlier name, Amazon Q.
    AmazonQ,
    /// The log of a session of Kiro CLI, from its version 2.
    Kiro,
    /// A story of KoboldAI.
    Kobold,
    /// A text thread of Zed.
    ZedText,
    /// A thread of Zed's agent in a separate file.
    ZedThread,
    /// Requests to an API and their answers.
    Api,
    /// Conversations of a ChatGPT workspace, from the Compliance API.
    Compliance,
    /// Responses that the command line program LLM printed as JSON.
    LlmJson,
    /// The chat store of LlamaIndex.
    ChatStore,
    /// A conversation as the page of Yuanbao receives it.
    Yuanbao,
    /// A conversation as the page of Doubao receives it.
    Doubao,
    /// Messages as the page of Tongyi Qianwen receives them.
    Tongyi,
    /// A chat as the page of Poe receives it.
    Poe,
    /// The chats that Amazon Q Developer stores in an editor.
    AmazonQTabs,
    /// The chats of the editor Void.
    Void,
    /// The state of an agent of AgentScope.
    AgentScope,
    /// A chat with a character that Agnai or Risu exported.
    RolePlay,
    /// Threads of Chainlit.
    Chainlit,
    /// A session of Google's Agent Development Kit.
    Adk,
    /// Requests and responses of an agent of Pydantic AI.
    PydanticAi,
}

impl Shape {
    /// Stable name, used as the `version` of the claim.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Conversations => "conversations",
            Shape::Messages => "messages",
            Shape::Threads => "threads",
            Shape::OpenRouter => "openrouter",
            Shape::NextChat => "nextchat",
            Shape::Chatbox => "chatbox",
            Shape::LobeChat => "lobechat",
            Shape::CherryStudio => "cherry_studio",
            Shape::Cline => "cline",
            Shape::AmazonQ => "amazon_q",
            Shape::Kiro => "kiro",
            Shape::Kobold => "kobold",
            Shape::ZedText => "zed_text",
            Shape::ZedThread => "zed_thread",
            Shape::Api => "api",
            Shape::Compliance => "compliance",
            Shape::LlmJson => "llm_json",
            Shape::ChatStore => "chat_store",
            Shape::Yuanbao => "yuanbao",
            Shape::Doubao => "doubao",
            Shape::Tongyi => "tongyi",
            Shape::Poe => "poe",
            Shape::AmazonQTabs => "amazon_q_tabs",
            Shape::Void => "void",
            Shape::AgentScope => "agentscope",
            Shape::RolePlay => "role_play",
            Shape::Chainlit => "chainlit",
            Shape::Adk => "adk",
            Shape::PydanticAi => "pydantic_ai",
        }
    }

    /// The shape with this name.
    pub fn parse(name: &str) -> Option<Self> {
        let shared = [Shape::Conversations, Shape::Messages, Shape::Threads, Shape::OpenRouter];
        let backups = [Shape::NextChat, Shape::Chatbox, Shape::LobeChat, Shape::CherryStudio];
        [
            &shared[..],
            &backups[..],
            &[Shape::Cline, Shape::AmazonQ, Shape::Kiro, Shape::Kobold, Shape::Api, Shape::Compliance, Shape::ZedText],
            &[Shape::LlmJson, Shape::ChatStore, Shape::Yuanbao, Shape::Doubao],
            &[Shape::Tongyi, Shape::Poe, Shape::AmazonQTabs, Shape::Void, Shape::ZedThread, Shape::AgentScope],
            &[Shape::RolePlay, Shape::Chainlit, Shape::Adk, Shape::PydanticAi],
        ]
        .concat()
        .into_iter()
        .find(|shape| shape.as_str() == name)
    }
}

/// Determines the shape of a file from its start. None if there are no messages, or if no speaker has a name that
/// programs use.
pub(super) fn shape(head: &[u8]) -> Option<Shape> {
    shape_of(head, &keys_of(head))
}

/// Like [`shape`], for a caller that has already found the keys in the start.
pub(super) fn shape_of(head: &[u8], keys: &Keys) -> Option<Shape> {
    let text = text_of(head);
    if has(keys, "characters") && has(keys, "messages") && text.contains("\"orpg.") {
        return Some(Shape::OpenRouter);
    }
    if let Some(backup) = backup(keys, &text) {
        return Some(backup);
    }
    if llm_json::is_log(keys) {
        return Some(Shape::LlmJson);
    }
    if yuanbao::is_conversation(keys) {
        return Some(Shape::Yuanbao);
    }
    if doubao::is_conversation(keys) {
        return Some(Shape::Doubao);
    }
    let pages = [
        (tongyi::is_chat(keys), Shape::Tongyi),
        (poe::is_chat(keys, &text), Shape::Poe),
        (amazon_q_tabs::is_history(keys), Shape::AmazonQTabs),
        (void::is_storage(keys), Shape::Void),
        (zed::is_thread(keys), Shape::ZedThread),
        (agentscope::is_state(keys), Shape::AgentScope),
        (role_play::is_chat(keys, &text), Shape::RolePlay),
        (chainlit::is_thread(keys, &text), Shape::Chainlit),
        (adk::is_session(keys), Shape::Adk),
        (pydantic_ai::is_log(keys), Shape::PydanticAi),
    ];
    if let Some((_, shape)) = pages.into_iter().find(|(is_shape, _)| *is_shape) {
        return Some(shape);
    }
    if chat_store::is_chat_store(keys) && names_speaker(&text) {
        return Some(Shape::ChatStore);
    }
    if ["gamestarted", "prompt", KOBOLD_ACTIONS].iter().all(|key| has(keys, key)) {
        return Some(Shape::Kobold);
    }
    // The messages follow the text of the whole thread, so they may be after the beginning of the file.
    let is_zed = has(keys, "zed") && has(keys, "version") && has(keys, "text");
    if is_zed && values_of(&text, "\"zed\"").contains(&"context") {
        return Some(Shape::ZedText);
    }
    if is_amazon_q(keys) {
        return Some(Shape::AmazonQ);
    }
    let objects = if keys.has_name("object") { values_of(&text, "\"object\"") } else { Vec::new() };
    if compliance::is_response(keys, &objects) {
        return Some(Shape::Compliance);
    }
    if api::is_exchange(keys, &objects) {
        return Some(Shape::Api);
    }
    if ["version", "data.message_id", "data.content.kind"].iter().all(|key| has(keys, key))
        && values_of(&text, "\"kind\"").iter().any(|kind| matches!(*kind, "Prompt" | "AssistantMessage"))
    {
        return Some(Shape::Kiro);
    }
    // An extension for Claude's website writes the speaker as the type of a message.
    if ["meta.exported_at", "chats.type", "chats.message"].iter().all(|key| has(keys, key)) {
        return Some(Shape::Conversations);
    }
    // Cody saves each prompt with its answer.
    if ["humanMessage.text", "assistantMessage"].iter().all(|key| has(keys, &format!("interactions.{key}"))) {
        return Some(Shape::Conversations);
    }
    // AnythingLLM answers an administrator with the chats of all workspaces.
    if anything_llm::is_answer(keys, "chats") {
        return Some(Shape::Messages);
    }
    // Dify returns the questions of a conversation with their answers.
    if ["data.conversation_id", "data.query", "data.answer"].iter().all(|key| has(keys, key)) {
        return Some(Shape::Conversations);
    }
    if pairs::has_pairs(keys, &text) {
        return Some(Shape::Conversations);
    }
    let is_list = matches!(head.first(), Some(b'[')) || text.trim_start().lines().take(2).count() == 2;
    let pairs = [("prompt", "response"), ("prompt", "completion"), ("instruction", "output")];
    if is_list && pairs.iter().any(|(question, answer)| has(keys, question) && has(keys, answer)) {
        return Some(Shape::Messages);
    }
    let is_screen = has(keys, "ts") && (has(keys, "say") || has(keys, "ask"));
    if is_list && is_screen && cline::is_task(&text) {
        return Some(Shape::Cline);
    }
    // LangChain writes the speaker as the type of a message, and stores the text inside `data`.
    let types = if keys.has_name("type") { values_of(&text, "\"type\"") } else { Vec::new() };
    if is_list && has(keys, "type") && has(keys, "data.content") && types.iter().copied().any(is_speaker) {
        return Some(Shape::Messages);
    }
    if is_typed_tree(keys, &types) {
        return Some(if has(keys, "messages.children.type") { Shape::Conversations } else { Shape::Messages });
    }
    if is_typed_list(keys, "messages.", &types) {
        return Some(Shape::Conversations);
    }
    if is_list && is_typed_list(keys, "", &types) {
        return Some(Shape::Messages);
    }
    if has(keys, "message_tree_id") && has(keys, "prompt.role") && has(keys, "prompt.text") {
        return Some(Shape::Conversations);
    }
    let has_pairs_in = |wrapper: &str| pairs::has_pair_objects(keys, &text, wrapper, &TEXT_KEYS);
    if has_pairs_in("") || WRAPPER_KEYS.iter().any(|wrapper| has_pairs_in(&format!("{wrapper}."))) {
        return Some(Shape::Conversations);
    }
    let has_typed_author = MESSAGE_LISTS.iter().any(|list| has(keys, &format!("{list}.author.type")));
    let names_author = has_typed_author && types.iter().copied().any(is_speaker);
    let has_results = has(keys, &format!("{RESULTS}.author.type")) && has(keys, &format!("{RESULTS}.content"));
    // Reviews have authors too, but no assistant answers them.
    if has_results && AUTHOR_TYPES.iter().all(|author| types.contains(author)) {
        return Some(Shape::Conversations);
    }
    if !names_speaker(&text) && !names_author {
        return None;
    }
    // There are thousands of possible paths, so only those are looked up whose names occur in the file.
    let (role_keys, text_keys) = (names_in(keys, &ROLE_KEYS), names_in(keys, &TEXT_KEYS));
    let message_lists = names_in(keys, &MESSAGE_LISTS);
    let is_message = |at: &str| {
        let has_any = |names: &[&str]| names.iter().any(|name| has(keys, &format!("{at}{name}")));
        has_any(&role_keys) && has_any(&text_keys)
    };
    let names_threads = ["threadId", "thread_id"].iter().any(|key| has(keys, &format!("messages.{key}")));
    if has(keys, "threads") && names_threads && is_message("messages.") {
        return Some(Shape::Threads);
    }
    let has_lists = |wrapper: &str| {
        let at = |list: &&str| format!("{wrapper}{list}.");
        // Some programs put each message into an envelope.
        message_lists.iter().any(|list| is_message(&at(list)) || is_message(&format!("{}message.", at(list))))
    };
    let is_in_envelope = |outer: &str| ENVELOPES.iter().any(|inner| has_lists(&format!("{outer}{inner}.")));
    if has_lists("")
        || WRAPPER_KEYS.iter().any(|wrapper| has_lists(&format!("{wrapper}.")))
        || is_in_envelope("")
        || OUTER_ENVELOPES.iter().any(|outer| is_in_envelope(&format!("{outer}.")))
    {
        return Some(Shape::Conversations);
    }
    // The whole file may be one message that contains its answers.
    let is_tree = is_message("") && is_message("children.");
    (is_tree || is_list && is_message("")).then_some(Shape::Messages)
}

/// True for a session of Kiro CLI or Amazon Q. In older versions, an entry of the history is a list of two objects.
fn is_amazon_q(keys: &Keys) -> bool {
    let is_prompt = |at: &str| {
        ["Prompt", "ToolUseResults", "CancelledToolUses"].iter().any(|kind| has(keys, &format!("{at}.{kind}")))
    };
    has(keys, "conversation_id") && (is_prompt("history.user.content") || is_prompt("history.content"))
}

/// True if the `type` of each message is its speaker, and its `children` are the replies to it.
fn is_typed_tree(keys: &Keys, types: &[&str]) -> bool {
    let is_tree = |list: &str| {
        ["type", "content", "children.type", "children.content"].iter().all(|key| has(keys, &format!("{list}{key}")))
    };
    let speaks = |role: &str| types.iter().any(|name| roles::role(name) == Some(role));
    (is_tree("") || is_tree("messages.")) && speaks(roles::USER) && speaks(roles::ASSISTANT)
}

/// True if the `type` of each message is its speaker, and no member names the speaker.
fn is_typed_list(keys: &Keys, list: &str, types: &[&str]) -> bool {
    let has_any = |names: &[&str]| names.iter().any(|name| has(keys, &format!("{list}{name}")));
    let speaks = |role: &str| types.iter().any(|name| roles::role(name) == Some(role));
    let is_message = has(keys, &format!("{list}type")) && has_any(&["content", "text"]) && !has_any(&ROLE_KEYS);
    is_message && speaks(roles::USER) && speaks(roles::ASSISTANT)
}

/// The program that wrote the file, if the file is the whole backup of a program.
fn backup(keys: &Keys, text: &str) -> Option<Shape> {
    let has_any = |names: &[&str]| names.iter().any(|name| has(keys, name));
    if has(keys, &format!("{}.sessions", NEXT_CHAT)) {
        return Some(Shape::NextChat);
    }
    let has_session = || text.contains(&format!("\"{}", CHATBOX_SESSION));
    let has_list = has(keys, &format!("{}.messages", CHATBOX_LIST));
    if has_list || has_any(&["chat-sessions-list", "__exported_items", "__exported_at"]) && has_session() {
        return Some(Shape::Chatbox);
    }
    let is_lobe_chat = has(keys, "exportType") && has_any(&["state.messages.role", "state.sessions", "state.topics"]);
    let has_tables = has_any(&["data.agentsToSessions", "data.messages.sessionId", "data.topics.sessionId"]);
    if is_lobe_chat || has_tables && has_any(&["data.sessions", "data.messages.role"]) {
        return Some(Shape::LobeChat);
    }
    let has_database = has_any(&[&format!("{}.topics", CHERRY_DATABASE)]);
    (has_database && has_any(&[CHERRY_SETTINGS, &format!("{}.message_blocks", CHERRY_DATABASE)]))
        .then_some(Shape::CherryStudio)
}

/// The keys under which a file lists conversations. A list under any other key is part of a conversation.
pub(super) fn wrappers(head: &[u8]) -> Vec<&'static str> {
    let (keys, text) = (keys_of(head), text_of(head));
    let (message_lists, role_keys) = (names_in(&keys, &MESSAGE_LISTS), names_in(&keys, &ROLE_KEYS));
    let is_wrapper = |wrapper: &str| {
        message_lists.iter().any(|list| role_keys.iter().any(|role| has(&keys, &format!("{wrapper}.{list}.{role}"))))
    };
    let is_answer = |wrapper: &str| anything_llm::is_answer(&keys, wrapper);
    let has_pairs = |wrapper: &str| pairs::has_pair_objects(&keys, &text, &format!("{wrapper}."), &TEXT_KEYS);
    let is_any = |wrapper: &str| is_wrapper(wrapper) || is_answer(wrapper) || has_pairs(wrapper);
    WRAPPER_KEYS.into_iter().filter(|wrapper| is_any(wrapper)).collect()
}

fn has(keys: &Keys, path: &str) -> bool {
    keys.has(path)
}

/// Those of the names that occur in the file, at any level.
fn names_in(keys: &Keys, names: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().filter(|name| keys.has_name(name)).collect()
}

/// True if the text contains a known speaker, as in `"role": "user"` or `"sender":"Human"`, or a member such as
/// `isUser`.
fn names_speaker(text: &str) -> bool {
    let keys = ["\"role\"", "\"sender\"", "\"from\"", "\"author\"", "\"speaker\""];
    keys.into_iter().any(|key| values_of(text, key).into_iter().any(is_speaker))
        || ["isUser", "is_user", "isHuman", "is_human"].iter().any(|key| text.contains(&format!("\"{key}\"")))
}

/// The start of a file as text. Invalid bytes are replaced.
fn text_of(head: &[u8]) -> Cow<'_, str> {
    // For valid text, `from_utf8` is faster than `from_utf8_lossy`.
    std::str::from_utf8(head).map_or_else(|_| String::from_utf8_lossy(head), Cow::Borrowed)
}

fn is_speaker(value: &str) -> bool {
    SPEAKERS.contains(&value.to_lowercase().as_str())
}
