//! The programs whose conversations are recognised by a mark that only the program writes.
use super::transcript::Transcript;
use super::{
    ai_chat_exporter, aider, callouts, cascade, chatbox, claude_exporter, claude_terminal, copilot_chat, duck_ai,
    headed_export, kagi, llm_log,
};

/// A program that saves or shows conversations as text.
struct Program {
    /// Reads the turns of a conversation. None for a text that is not from this program.
    read: fn(&str) -> Option<Transcript>,
    /// Description of the text, for the reason of the claim.
    name: &'static str,
    /// How the program wrote the text, for the reason of the claim.
    origin: &'static str,
    /// True if the text is checked for a list of memories first.
    may_be_list: bool,
}

/// Every program, in the order in which they are tried.
const PROGRAMS: [Program; 12] = [
    Program { read: duck_ai::read, name: "a chat", origin: "Duck.ai saves it", may_be_list: false },
    Program { read: ai_chat_exporter::read, name: "a chat", origin: "AI Chat Exporter saves it", may_be_list: false },
    Program { read: chatbox::read, name: "a session", origin: "Chatbox exports it", may_be_list: false },
    Program {
        read: llm_log::read,
        name: "a log",
        origin: "the command line program LLM prints it",
        may_be_list: false,
    },
    Program {
        read: callouts::read,
        name: "a conversation",
        origin: "an exporter writes it in callouts of Obsidian",
        may_be_list: false,
    },
    Program {
        read: claude_exporter::read,
        name: "a chat",
        origin: "an exporter of Claude saves it",
        may_be_list: false,
    },
    Program { read: kagi::read, name: "a chat", origin: "Kagi Assistant saves it", may_be_list: false },
    Program {
        read: headed_export::read,
        name: "a conversation",
        origin: "a program exports it with a heading for each turn",
        may_be_list: false,
    },
    Program {
        read: cascade::read,
        name: "a conversation",
        origin: "Windsurf's Cascade exports it",
        may_be_list: false,
    },
    Program { read: copilot_chat::read, name: "a chat", origin: "VS Code copies it", may_be_list: true },
    Program { read: aider::read, name: "a chat", origin: "Aider logs them", may_be_list: true },
    Program {
        read: claude_terminal::read,
        name: "a session",
        origin: "Claude Code shows it in a terminal",
        may_be_list: false,
    },
];

/// The conversation in a text that one of the programs wrote. `file_name` is the name of the file with the text.
pub(super) fn read(text: &str, file_name: &str) -> Option<Transcript> {
    PROGRAMS.iter().find_map(|program| (program.read)(text)).or_else(|| aider::read_log(text, file_name))
}

/// The reason to claim a text that only the name of its file shows to be from one of the programs.
pub(super) fn reason_of_name(text: &str, file_name: &str) -> Option<String> {
    let count: usize = aider::read_log(text, file_name)?.conversations().map(|chat| chat.turns.len()).sum();
    Some(format!("Found a chat of {count} turns, as Aider logs them"))
}

/// The reason to claim a text that one of the programs wrote. Tries only the programs whose `may_be_list` has this
/// value.
pub(super) fn reason(text: &str, may_be_list: bool) -> Option<String> {
    PROGRAMS.iter().filter(|program| program.may_be_list == may_be_list).find_map(|program| {
        let count: usize = (program.read)(text)?.conversations().map(|found| found.turns.len()).sum();
        Some(format!("Found {} of {count} turns, as {}", program.name, program.origin))
    })
}
