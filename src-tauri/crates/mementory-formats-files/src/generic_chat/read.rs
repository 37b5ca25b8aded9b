//! Reads chats in common shapes.
use super::FORMAT_ID;
use super::conversation::{LooseMessages, conversation};
use super::detect::{ANYTHING_LLM, CHAINLIT, CHATBOX_PAGE, GOOSE, LLM, MARKED_PAGE, OLLAMA, VOID, ZED};
use super::shape::{Shape, wrappers};
use super::{
    adk, agentscope, amazon_q, amazon_q_tabs, anything_llm, api, chainlit, chat_databases, chat_store, chatbox_page,
    cherry_studio, cline, compliance, doubao, goose, hugging_chat, kiro, kobold, llm_json, llm_logs, marked_page,
    ollama, openrouter, poe, pydantic_ai, role_play, stores, superjson, tables, threads, tongyi, void, yuanbao, zed,
};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::json_head::candidate_head;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Kind;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(FORMAT_ID, catalog, context, sink).each_file(detected, |files, member, role| match role {
        Role::Records => tables::read(files, member),
        Role::Sidecar => files.pass_through(member, "", "sidecar"),
        Role::Attachment => hugging_chat::send_attachment(files, member),
        Role::Manifest => read_program_file(files, member, detected),
        Role::Junk => Ok(()),
        _ => read_json(files, member, detected),
    })
}

/// Reads a database or page of the program that the claim names.
fn read_program_file(files: &mut FileReader<'_>, member: &Member, detected: &Detected) -> Result<(), FormatError> {
    match detected.claim.version.as_deref() {
        Some(GOOSE) => goose::read_database(files, member),
        Some(OLLAMA) => ollama::read_database(files, member),
        Some(ANYTHING_LLM) => anything_llm::read_database(files, member),
        Some(LLM) => llm_logs::read_database(files, member),
        Some(ZED) => zed::read_database(files, member),
        Some(CHATBOX_PAGE) => chatbox_page::read(files, member),
        Some(MARKED_PAGE) => marked_page::read(files, member),
        Some(VOID) => void::read_database(files, member),
        Some(CHAINLIT) => chainlit::read_database(files, member),
        version => match version.and_then(chat_databases::program) {
            Some(program) => chat_databases::read_database(files, member, program),
            None => amazon_q::read_database(files, member),
        },
    }
}

/// Reads a file of JSON in the shape that the claim names.
fn read_json(files: &mut FileReader<'_>, member: &Member, detected: &Detected) -> Result<(), FormatError> {
    let shape = detected.claim.version.as_deref().and_then(Shape::parse).unwrap_or(Shape::Conversations);
    if let Some(read_element) = element_reader(shape) {
        let keys: &[&str] = match shape {
            Shape::Api => &api::WRAPPER_KEYS,
            Shape::AmazonQTabs => &amazon_q_tabs::WRAPPER_KEYS,
            Shape::Chainlit => &chainlit::WRAPPER_KEYS,
            _ => &[],
        };
        return superjson::each_element(files, member, keys, Kind::Conversation, |files, element| {
            read_element(files, member, element)
        });
    }
    match shape {
        Shape::Compliance => {
            let mut conversations = compliance::Conversations::default();
            superjson::each_element(files, member, &compliance::WRAPPER_KEYS, Kind::Conversation, |files, element| {
                conversations.add(files, member, element)
            })?;
            conversations.send(files, member)
        }
        Shape::Tongyi => {
            let mut sessions = tongyi::Sessions::default();
            superjson::each_element(files, member, &tongyi::WRAPPER_KEYS, Kind::Message, |files, element| {
                sessions.add(files, member, element)
            })?;
            sessions.send(files, member)
        }
        Shape::LlmJson => {
            let mut log = llm_json::Log::default();
            superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                log.add(files, member, element)
            })?;
            log.send(files, member)
        }
        Shape::PydanticAi => {
            let mut log = pydantic_ai::Log::default();
            superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                log.add(files, member, element);
                Ok(())
            })?;
            log.send(files, member)
        }
        Shape::Kiro => {
            let mut log = kiro::Log::default();
            superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                log.add(files, member, element)
            })?;
            let catalog = files.catalog;
            let mut parts = detected.claim.parts.iter().filter(|part| part.role == Role::Sidecar);
            log.send(files, member, parts.find_map(|part| catalog.members().get(part.member)))
        }
        Shape::Cline => {
            let mut task = cline::Task::default();
            superjson::each_element(files, member, &[], Kind::Message, |files, element| {
                task.add(files, member, element)
            })?;
            let catalog = files.catalog;
            let parts = detected.claim.parts.iter().filter(|part| part.role == Role::Sidecar);
            let mut others = parts.filter_map(|part| catalog.members().get(part.member));
            task.send(files, member, others.find(|other| other.file_name() == cline::ITEM_FILE))
        }
        _ => {
            let mut loose = match member.file_name() {
                cline::MODEL_FILE => LooseMessages::of_platform(cline::PLATFORM),
                _ => LooseMessages::default(),
            };
            let head = candidate_head(files.catalog, member);
            let wrappers = head.map(|head| wrappers(superjson::inner_head(&head.bytes()))).unwrap_or_default();
            superjson::each_element(files, member, &wrappers, Kind::Conversation, |files, element| {
                conversation(files, member, element, &mut loose)
            })?;
            loose.send(files, member)
        }
    }
}

/// Reads one element of a file and sends its conversations.
type ReadElement = fn(&mut FileReader<'_>, &Member, &ObjectElement<'_>) -> Result<(), FormatError>;

/// The function that reads one element of a file in this shape. None if the elements of a file are collected before
/// their conversations are known.
fn element_reader(shape: Shape) -> Option<ReadElement> {
    let read_element: ReadElement = match shape {
        Shape::OpenRouter => openrouter::read_chat,
        Shape::Threads => threads::read_threads,
        Shape::NextChat => stores::read_next_chat,
        Shape::Chatbox => stores::read_chatbox,
        Shape::LobeChat => stores::read_lobe_chat,
        Shape::CherryStudio => cherry_studio::read_backup,
        Shape::Kobold => kobold::read_story,
        Shape::ZedText => zed::read_text_thread,
        Shape::ZedThread => zed::read_thread,
        Shape::AgentScope => agentscope::read,
        Shape::RolePlay => role_play::read,
        Shape::Api => api::read_exchange,
        Shape::AmazonQ => amazon_q::read_saved,
        Shape::AmazonQTabs => amazon_q_tabs::read_collection,
        Shape::ChatStore => chat_store::read_store,
        Shape::Yuanbao => yuanbao::read,
        Shape::Doubao => doubao::read,
        Shape::Poe => poe::read,
        Shape::Void => void::read_storage,
        Shape::Chainlit => chainlit::read_thread,
        Shape::Adk => adk::read,
        Shape::Compliance
        | Shape::Tongyi
        | Shape::LlmJson
        | Shape::PydanticAi
        | Shape::Kiro
        | Shape::Cline
        | Shape::Conversations
        | Shape::Messages => return None,
    };
    Some(read_element)
}
