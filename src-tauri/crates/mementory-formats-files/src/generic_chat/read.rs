//! Reads chats in common shapes.
use super::FORMAT_ID;
use super::conversation::{LooseMessages, conversation};
use super::detect::{ANYTHING_LLM, CHATBOX_PAGE, GOOSE, LLM, MARKED_PAGE, OLLAMA, VOID, ZED};
use super::shape::{Shape, wrappers};
use super::{
    agentscope, amazon_q, amazon_q_tabs, anything_llm, api, chat_store, chatbox_page, cherry_studio, cline, compliance,
    doubao, goose, hugging_chat, kiro, kobold, llm_json, llm_logs, marked_page, ollama, openrouter, poe, role_play,
    stores, superjson, tables, threads, tongyi, void, yuanbao, zed,
};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::json_head::candidate_head;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let shape = detected.claim.version.as_deref().and_then(Shape::parse).unwrap_or(Shape::Conversations);
    FileReader::new(FORMAT_ID, catalog, context, sink).each_file(detected, |files, member, role| {
        match role {
            Role::Records => return tables::read(files, member),
            Role::Sidecar => return files.pass_through(member, "", "sidecar"),
            Role::Attachment => return hugging_chat::send_attachment(files, member),
            Role::Manifest => {
                return match detected.claim.version.as_deref() {
                    Some(GOOSE) => goose::read_database(files, member),
                    Some(OLLAMA) => ollama::read_database(files, member),
                    Some(ANYTHING_LLM) => anything_llm::read_database(files, member),
                    Some(LLM) => llm_logs::read_database(files, member),
                    Some(ZED) => zed::read_database(files, member),
                    Some(CHATBOX_PAGE) => chatbox_page::read(files, member),
                    Some(MARKED_PAGE) => marked_page::read(files, member),
                    Some(VOID) => void::read_database(files, member),
                    _ => amazon_q::read_database(files, member),
                };
            }
            Role::Junk => return Ok(()),
            _ => {}
        }
        match shape {
            Shape::OpenRouter => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    openrouter::read_chat(files, member, e)
                })?;
            }
            Shape::Threads => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    threads::read_threads(files, member, e)
                })?;
            }
            Shape::NextChat | Shape::Chatbox | Shape::LobeChat | Shape::CherryStudio => {
                let read_backup = match shape {
                    Shape::NextChat => stores::read_next_chat,
                    Shape::Chatbox => stores::read_chatbox,
                    Shape::LobeChat => stores::read_lobe_chat,
                    _ => cherry_studio::read_backup,
                };
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    read_backup(files, member, e)
                })?;
            }
            Shape::Kobold => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    kobold::read_story(files, member, e)
                })?;
            }
            Shape::ZedText => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    zed::read_text_thread(files, member, e)
                })?;
            }
            Shape::AgentScope => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    agentscope::read(files, member, e)
                })?;
            }
            Shape::RolePlay => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    role_play::read(files, member, e)
                })?;
            }
            Shape::ZedThread => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    zed::read_thread(files, member, e)
                })?;
            }
            Shape::Api => {
                superjson::each_element(files, member, &api::WRAPPER_KEYS, Kind::Conversation, |files, e| {
                    api::read_exchange(files, member, e)
                })?;
            }
            Shape::Compliance => {
                let mut conversations = compliance::Conversations::default();
                superjson::each_element(files, member, &compliance::WRAPPER_KEYS, Kind::Conversation, |files, e| {
                    conversations.add(files, member, e)
                })?;
                conversations.send(files, member)?;
            }
            Shape::AmazonQ => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    amazon_q::read_saved(files, member, e)
                })?;
            }
            Shape::ChatStore => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    chat_store::read_store(files, member, e)
                })?;
            }
            Shape::Yuanbao => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    yuanbao::read(files, member, e)
                })?;
            }
            Shape::Doubao => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    doubao::read(files, member, e)
                })?;
            }
            Shape::Tongyi => {
                let mut sessions = tongyi::Sessions::default();
                superjson::each_element(files, member, &tongyi::WRAPPER_KEYS, Kind::Message, |files, e| {
                    sessions.add(files, member, e)
                })?;
                sessions.send(files, member)?;
            }
            Shape::Poe => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    poe::read(files, member, e)
                })?;
            }
            Shape::AmazonQTabs => {
                superjson::each_element(
                    files,
                    member,
                    &amazon_q_tabs::WRAPPER_KEYS,
                    Kind::Conversation,
                    |files, e| amazon_q_tabs::read_collection(files, member, e),
                )?;
            }
            Shape::Void => {
                superjson::each_element(files, member, &[], Kind::Conversation, |files, e| {
                    void::read_storage(files, member, e)
                })?;
            }
            Shape::LlmJson => {
                let mut log = llm_json::Log::default();
                superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                    log.add(files, member, element)
                })?;
                log.send(files, member)?;
            }
            Shape::Kiro => {
                let mut log = kiro::Log::default();
                superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                    log.add(files, member, element)
                })?;
                let mut parts = detected.claim.parts.iter().filter(|part| part.role == Role::Sidecar);
                log.send(files, member, parts.find_map(|part| catalog.members().get(part.member)))?;
            }
            Shape::Cline => {
                let mut task = cline::Task::default();
                superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                    task.add(files, member, element)
                })?;
                let parts = detected.claim.parts.iter().filter(|part| part.role == Role::Sidecar);
                let mut others = parts.filter_map(|part| catalog.members().get(part.member));
                task.send(files, member, others.find(|other| other.file_name() == cline::ITEM_FILE))?;
            }
            Shape::Conversations | Shape::Messages => {
                let mut loose = match member.file_name() {
                    cline::MODEL_FILE => LooseMessages::of_platform(cline::PLATFORM),
                    _ => LooseMessages::default(),
                };
                let head = candidate_head(files.catalog, member);
                let wrappers = head.map(|head| wrappers(superjson::inner_head(&head.bytes()))).unwrap_or_default();
                superjson::each_element(files, member, &wrappers, Kind::Conversation, |files, element| {
                    conversation(files, member, element, &mut loose)
                })?;
                loose.send(files, member)?;
            }
        }
        Ok(())
    })
}
