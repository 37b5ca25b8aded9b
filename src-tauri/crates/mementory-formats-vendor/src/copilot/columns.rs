//! Names of the columns in the known layouts, in several languages. The columns may have any order.
use mementory_formats_shared::tables::{Header, Row};

pub(super) const TITLE_HEADERS: [&str; 38] = [
    "Conversation",
    "ChatName",
    "Chat",
    "Title",
    "Unterhaltung",
    "Konversation",
    "Gespräch",
    "Conversación",
    "Conversa",
    "Conversazione",
    "Gesprek",
    "Konwersacja",
    "Discussion",
    "会話",
    "对话",
    "대화",
    "Titel",
    "Titre",
    "Título",
    "Titolo",
    "Tytuł",
    "Rozmowa",
    "Samtal",
    "Samtale",
    "Keskustelu",
    "Konverzace",
    "Konuşma",
    "Sohbet",
    "Разговор",
    "Беседа",
    "Розмова",
    "Conversație",
    "Beszélgetés",
    "對話",
    "交談",
    "聊天",
    "タイトル",
    "제목",
];
pub(super) const TIME_HEADERS: [&str; 35] = [
    "Time",
    "CreatedAt",
    "Timestamp",
    "Date",
    "Zeit",
    "Uhrzeit",
    "Zeitstempel",
    "Datum",
    "Heure",
    "Hora",
    "Fecha",
    "Ora",
    "Tijd",
    "時刻",
    "时间",
    "Zeitpunkt",
    "Erstellt",
    "Date/heure",
    "Data",
    "Godzina",
    "Czas",
    "Tid",
    "Tidspunkt",
    "Aika",
    "Čas",
    "Zaman",
    "Saat",
    "Время",
    "Час",
    "Dată",
    "Idő",
    "時間",
    "日時",
    "시간",
    "날짜",
];
pub(super) const AUTHOR_HEADERS: [&str; 22] = [
    "Author",
    "Role",
    "Autor",
    "Verfasser",
    "Auteur",
    "Autore",
    "Auteur(e)",
    "Absender",
    "作成者",
    "作者",
    "投稿者",
    "작성자",
    "Schrijver",
    "Författare",
    "Forfatter",
    "Kirjoittaja",
    "Tekijä",
    "Yazar",
    "Автор",
    "Szerző",
    "撰寫者",
    "発言者",
];
pub(super) const MESSAGE_HEADERS: [&str; 32] = [
    "Message",
    "MessageContent",
    "Content",
    "Text",
    "Nachricht",
    "Mensaje",
    "Mensagem",
    "Messaggio",
    "Bericht",
    "Wiadomość",
    "メッセージ",
    "消息",
    "메시지",
    "Inhalt",
    "Contenu",
    "Contenido",
    "Conteúdo",
    "Contenuto",
    "Inhoud",
    "Treść",
    "Meddelande",
    "Meddelelse",
    "Melding",
    "Besked",
    "Viesti",
    "Zpráva",
    "Mesaj",
    "Сообщение",
    "Повідомлення",
    "Üzenet",
    "訊息",
    "内容",
];
const PROMPT_HEADERS: [&str; 15] = [
    "Prompt",
    "Eingabeaufforderung",
    "Invite",
    "Solicitud",
    "Petición",
    "プロンプト",
    "提示",
    "프롬프트",
    "Anfrage",
    "Requête",
    "Richiesta",
    "Invito",
    "Solicitação",
    "Monit",
    "Запрос",
];
const CLIENT_APP_HEADERS: [&str; 5] = ["ClientApp", "Client App", "App", "Client-App", "クライアント アプリ"];

/// Words in the author column that mean the person.
const PERSON_WORDS: [&str; 42] = [
    "human",
    "user",
    "you",
    "me",
    "mensch",
    "benutzer",
    "nutzer",
    "ich",
    "usuario",
    "humano",
    "utilisateur",
    "humain",
    "utente",
    "umano",
    "usuário",
    "gebruiker",
    "mens",
    "ユーザー",
    "用户",
    "사용자",
    "usager",
    "użytkownik",
    "człowiek",
    "användare",
    "människa",
    "bruger",
    "bruker",
    "käyttäjä",
    "ihminen",
    "uživatel",
    "kullanıcı",
    "insan",
    "пользователь",
    "человек",
    "користувач",
    "使用者",
    "人",
    "ユーザ",
    "人間",
    "人类",
    "人類",
    "사람",
];
/// Words in the author column that mean the assistant.
const ASSISTANT_WORDS: [&str; 23] = [
    "ai",
    "copilot",
    "assistant",
    "bot",
    "ki",
    "ia",
    "microsoft copilot",
    "bing",
    "bing chat",
    "assistent",
    "asistente",
    "assistente",
    "人工知能",
    "sztuczna inteligencja",
    "tekoäly",
    "yapay zeka",
    "ии",
    "ші",
    "人工智能",
    "人工智慧",
    "アシスタント",
    "助手",
    "어시스턴트",
];

/// The layout of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each row is a message of a conversation.
    Messages,
    /// Each row is a prompt from a Windows app. This layout has no answers.
    Prompts,
}

/// The layout of a table, and the positions of its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub layout: Layout,
    pub title: Option<usize>,
    pub time: Option<usize>,
    pub author: Option<usize>,
    pub text: Option<usize>,
    pub client_app: Option<usize>,
}

impl Columns {
    /// Finds the columns by the names in a header. None if the header is not that of a known layout.
    pub(super) fn from_header(header: &Header) -> Option<Self> {
        let [title, time, author] =
            [&TITLE_HEADERS[..], &TIME_HEADERS, &AUTHOR_HEADERS].map(|names| header.column(names));
        let client_app = header.column(&CLIENT_APP_HEADERS);
        if let (Some(_), Some(_), Some(text)) = (client_app, time, header.column(&PROMPT_HEADERS)) {
            let layout = Layout::Prompts;
            return Some(Self { layout, title: None, time, author: None, text: Some(text), client_app });
        }
        let text = header.column(&MESSAGE_HEADERS);
        let is_complete = [title, time, author, text].iter().all(Option::is_some);
        is_complete.then_some(Self { layout: Layout::Messages, title, time, author, text, client_app: None })
    }

    /// Returns the positions of all columns that are read. The cells of all other columns become fields.
    pub(super) fn read_columns(&self) -> [Option<usize>; 5] {
        [self.title, self.time, self.author, self.text, self.client_app]
    }
}

/// True for a header that, as far as is known, only Microsoft writes.
pub(super) fn is_microsoft_header(header: &Header) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| header.column(&[name]).is_some());
    has(&["CreatedAt", "MessageContent", "Author", "ChatName"]) || has(&["Timestamp", "ClientApp", "Prompt"])
}

/// True for the English header of the activity history in its usual layout.
pub(super) fn is_main_header(header: &Header) -> bool {
    ["Conversation", "Time", "Author", "Message"].iter().all(|name| header.column(&[name]).is_some())
}

/// Returns the role of an author: `user`, `assistant` or `system`. None for an unknown author.
pub(super) fn role(author: &str) -> Option<&'static str> {
    let author = author.trim().to_lowercase();
    if PERSON_WORDS.contains(&author.as_str()) {
        Some("user")
    } else if ASSISTANT_WORDS.contains(&author.as_str()) || author.contains("copilot") {
        Some("assistant")
    } else {
        (author == "system").then_some("system")
    }
}

/// True if the author of a row is known.
pub(super) fn has_known_author(columns: &Columns, row: &Row) -> bool {
    role(row.cell(columns.author)).is_some()
}
