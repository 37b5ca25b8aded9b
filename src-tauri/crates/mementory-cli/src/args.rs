//! Commands and options of the command line.
use crate::client_args::{GrantsCommand, McpArgs, SuggestionsArgs};
use crate::connect::ConnectCommand;
use crate::guide::GuideArgs;
use crate::input_args::InputArgs;
use crate::release_args::ReleaseArgs;
use crate::review::{ReportArgs, ReviewArgs, TodoArgs};
use crate::select_args::{ExportSelectArgs, SelectArgs};
use clap::{
    Args, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};
use std::path::PathBuf;

/// Keep what AI assistants remember about you in an encrypted vault on this machine.
#[derive(Parser)]
#[command(name = "mementory", version)]
pub struct Cli {
    /// Use this vault folder.
    #[arg(long, global = true, env = "MEMENTORY_VAULT", value_name = "DIR", value_parser = path())]
    pub vault: Option<PathBuf>,
    /// Print one JSON object on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only results on standard output.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Print progress as JSON lines on standard error.
    #[arg(long, global = true)]
    pub progress: bool,
    /// Read the passphrase or recovery code from this file; `-` reads standard input.
    #[arg(long, global = true, env = "MEMENTORY_PASSPHRASE_FILE", value_name = "FILE", value_parser = path())]
    pub passphrase_file: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// Parses a path that may be empty, because an empty environment variable counts as unset.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Parses the size of a page. It is at least 1, because a list of empty pages would never end.
fn at_least_one() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..)
}

/// Filters of `list`, `search` and `export`.
#[derive(Args, Default)]
pub struct Filters {
    /// Only records of this kind: memory, conversation, message, fact, attachment …
    #[arg(long)]
    pub kind: Option<String>,
    /// Only records from this source: chatgpt, claude, me …
    #[arg(long)]
    pub source: Option<String>,
    /// Only records with this status.
    #[arg(long)]
    pub status: Option<String>,
    /// Only records with this tag.
    #[arg(long)]
    pub tag: Option<String>,
    /// Only records with this type; an empty value selects records without a type.
    #[arg(long = "type", value_name = "TYPE")]
    pub record_type: Option<String>,
    /// Only what was said by this party: user, assistant, system, or unknown if the source does not say.
    #[arg(long, value_name = "WHO")]
    pub said_by: Option<String>,
    /// Only from this date or time on.
    #[arg(long)]
    pub since: Option<String>,
    /// Only up to and including this date or time.
    #[arg(long)]
    pub until: Option<String>,
    /// Only records that have this state in the newest export of their assistant: new, changed or gone.
    #[arg(long = "standing", value_name = "STANDING")]
    pub export_diff_status: Option<String>,
    /// Only attachments of this kind: picture, document, code, sound, video, other; or missing, for
    /// attachments whose file is not in the vault.
    #[arg(long, value_name = "KIND")]
    pub file_kind: Option<String>,
    /// Only records of this import; may be given several times.
    #[arg(long)]
    pub batch: Vec<String>,
    /// Only memories about this: who_you_are, people, work, projects, health, money, places_travel, home, food, tastes,
    /// beliefs, plans, how_to_answer; an empty value selects memories without a subject.
    #[arg(long, value_name = "SUBJECT")]
    pub about: Option<String>,
    /// Only memories on this private topic: health, beliefs, politics, origin, sexuality, biometrics, union, money,
    /// minors, exact_address, or any.
    #[arg(long, value_name = "CATEGORY")]
    pub special: Option<String>,
}

/// Options of commands that write an export.
#[derive(Args, Default)]
pub struct ExportArgs {
    /// Sign with the vault's key, or with the key from --signing-key-file.
    #[arg(long)]
    pub sign: bool,
    /// Sign with this private key (PKCS#8 PEM).
    #[arg(long, value_name = "FILE")]
    pub signing_key_file: Option<PathBuf>,
    /// Encrypt the export. Required for amem; refused for a format that cannot be encrypted.
    #[arg(long, requires = "export_passphrase_file")]
    pub encrypt: bool,
    /// Read the passphrase for the encrypted export from this file.
    #[arg(long, value_name = "FILE", requires = "encrypt")]
    pub export_passphrase_file: Option<PathBuf>,
    /// Write a delta or an incremental export that is based on this earlier export. An amem file gets the owner of this
    /// earlier export.
    #[arg(long, value_name = "EXPORT")]
    pub base: Option<PathBuf>,
    /// Write json, yaml or jsonl; for mif also mem0, generic or markdown, which contain only memories.
    #[arg(long)]
    pub encoding: Option<String>,
    /// Write this version of the format.
    #[arg(long = "version", id = "format_version", value_name = "V")]
    pub version: Option<String>,
    /// Replace sensitive values that a scan detects with [REDACTED:class] in the export; ignored values and attached
    /// files are not changed.
    #[arg(long, value_name = "detected", value_parser = ["detected"])]
    pub redact: Option<String>,
    /// Leave out identifiers of platforms and accounts.
    #[arg(long)]
    pub strip_identifiers: bool,
    /// Include workspace files smaller than this in an .alf; larger ones are only listed [default: 102400].
    #[arg(long, value_name = "BYTES")]
    pub artifact_threshold: Option<u64>,
    /// Replace an existing export.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Subcommand)]
pub enum KeysCommand {
    /// Make a key pair.
    Make {
        /// Make a key of this kind: ed25519 or ml-dsa-65.
        #[arg(long)]
        algorithm: String,
        /// Write the private key (PKCS#8 PEM) to this file.
        #[arg(long, value_name = "FILE")]
        out_private: PathBuf,
        /// Write the public key (hex) to this file.
        #[arg(long, value_name = "FILE")]
        out_public: PathBuf,
    },
    /// List the vault's key, the keys it trusts, and the keys it has seen on imports.
    List,
    /// Trust a public key.
    Trust {
        /// Public key in hex or as did:key.
        key: String,
        /// Name under which the key is listed.
        #[arg(long)]
        name: Option<String>,
    },
    /// Forget a key.
    Forget {
        /// Public key or its fingerprint.
        key: String,
    },
}

#[derive(Subcommand)]
pub enum Command {
    /// Create a vault and print its recovery code, once.
    Create {
        /// Folder for the new vault; it must be new or empty.
        dir: PathBuf,
        /// Use the lowest permitted Argon2id cost instead of calibrating.
        #[arg(long)]
        kdf_floor: bool,
    },
    /// Make a vault with the records of an invented person, to try the program with.
    Demo {
        /// Folder for the vault; it must be new or empty.
        dir: PathBuf,
    },
    /// Write man pages, shell completions and the bundle for Claude Desktop into a folder, for packages.
    #[command(hide = true)]
    Packaging {
        dir: PathBuf,
        #[command(flatten)]
        release: ReleaseArgs,
    },
    /// Show what is in the vault.
    Info,
    /// Change the passphrase.
    Passwd {
        /// Read the new passphrase from this file.
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: PathBuf,
        /// Use the lowest permitted Argon2id cost instead of calibrating.
        #[arg(long)]
        kdf_floor: bool,
    },
    /// Make a new recovery code and print it, once; the old code stops working.
    RecoveryCode,
    /// Copy the vault to a new folder and check the copy. The copy is a separate vault with the same passphrase.
    Backup { out: PathBuf },
    /// Copy a backup to a new folder and check the copy. Asks for the passphrase that was valid when the backup was
    /// made; the backup is not changed.
    RestoreBackup { backup: PathBuf, dir: PathBuf },
    /// Detect the format of files, folders and archives. Needs no vault.
    Detect {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Show how to get your data from an assistant or program, and what it will contain. Needs no vault.
    Guide(GuideArgs),
    /// Check whether an export is valid. Needs no vault and changes nothing.
    Validate {
        path: PathBuf,
        /// Read the file as this format instead of detecting its format.
        #[arg(long)]
        format: Option<String>,
        /// Fail unless the file is this: signed, unsigned, subset (some entries of a Zaxy bundle), log (an Eventloom
        /// log), full, incremental or delta.
        #[arg(long, value_name = "KIND")]
        expect: Option<String>,
        /// Trust this public key (hex or did:key); may be given several times.
        #[arg(long)]
        trust: Vec<String>,
        /// For a delta: also check it against this base.
        #[arg(long)]
        base: Option<PathBuf>,
        #[command(flatten)]
        reading: InputArgs,
    },
    /// Import files, folders and archives as one batch.
    Import {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Read the input as this format instead of detecting one.
        #[arg(long)]
        format: Option<String>,
        /// Only show what would happen.
        #[arg(long)]
        dry_run: bool,
        /// Require a valid signature by this public key (hex or did:key); with several keys, by one of them.
        #[arg(long)]
        trust: Vec<String>,
        /// For records that the vault already has: skip_duplicates keeps those of the vault, overwrite replaces them even by
        /// older versions, rename keeps both under different ids. Without this option, the newer version wins.
        #[arg(long, value_name = "skip_duplicates|overwrite|rename")]
        merge: Option<String>,
        #[command(flatten)]
        reading: InputArgs,
        /// Also import records that are blocked because they, or the same words, were deleted before.
        #[arg(long, alias = "let-in")]
        include_blocked: bool,
        /// Also import a file whose signature is invalid; the signature is dropped.
        #[arg(long)]
        accept_invalid_signature: bool,
        /// Import a damaged or incomplete file as far as it can be read.
        #[arg(long)]
        salvage: bool,
    },
    /// List the imports.
    Imports,
    /// Undo a whole import.
    Undo {
        /// Id of the import, as `imports` lists it.
        batch: String,
    },
    /// List records, page by page.
    List {
        #[command(flatten)]
        filters: Filters,
        /// List the Trash instead.
        #[arg(long)]
        trash: bool,
        /// Sort by newest, oldest, title or changed; with --trash also by trashed, the last one first.
        #[arg(long)]
        sort: Option<String>,
        /// List at most this many records.
        #[arg(long, value_parser = at_least_one())]
        limit: Option<u32>,
        /// Continue after the page that gave this cursor.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show one record with all its fields.
    Show {
        id: String,
        /// Also show older versions.
        #[arg(long)]
        history: bool,
        /// Also show the original record from the import.
        #[arg(long)]
        verbatim: bool,
    },
    /// Show a conversation with all its branches.
    Thread { id: String },
    /// Search the full text of all records.
    Search {
        #[arg(required_unless_present = "queries", allow_hyphen_values = true)]
        query: Option<String>,
        /// Run the queries in this file (one per line), and print a list of answers.
        #[arg(long, value_name = "FILE", conflicts_with = "query")]
        queries: Option<PathBuf>,
        #[command(flatten)]
        filters: Filters,
        /// Also find memories that mean nearly the same in other words or languages.
        #[arg(long)]
        meaning: bool,
        /// Print at most this many hits.
        #[arg(long, value_parser = at_least_one())]
        limit: Option<u32>,
    },
    /// List groups of memories with the same or nearly the same text.
    Duplicates,
    /// List memories by topic.
    Topics,
    /// List everyone whom the memories mention, and how they are related to you.
    People,
    /// List the memories about one person or one topic by date, the oldest first.
    Timeline {
        /// Name of a person, or a relation such as `boss`, as `people` lists it.
        #[arg(long, value_name = "NAME", required_unless_present = "topic", conflicts_with = "topic")]
        person: Option<String>,
        /// Name of a topic, as `topics` lists it.
        #[arg(long, value_name = "NAME")]
        topic: Option<String>,
    },
    /// List memories that contradict each other, and plans whose date has passed.
    Contradictions {
        /// Instead of listing, remember that both memories of this pair are true.
        #[arg(long, num_args = 2, value_names = ["ID", "ID"])]
        both_true: Option<Vec<String>>,
    },
    /// Scan for sensitive values; shows where they are, never the values.
    Scan {
        #[command(flatten)]
        filters: Filters,
        /// Only this class: access_key, private_key, password, card, iban, email, phone, national_id or stored_secret.
        #[arg(long, value_name = "CLASS")]
        class: Vec<String>,
    },
    /// Add a memory written by hand.
    Add {
        /// Type of the memory.
        #[arg(long = "type", value_name = "TYPE")]
        record_type: Option<String>,
        /// Read the text from this file; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        text_file: PathBuf,
        /// Add this tag; may be given several times.
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Edit a record; the old version stays in its history.
    Edit {
        id: String,
        /// Read the new text from this file; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        text_file: Option<PathBuf>,
        /// Set this title.
        #[arg(long)]
        title: Option<String>,
        /// Replace all tags with this one; may be given several times.
        #[arg(long)]
        tag: Option<Vec<String>>,
        /// Set this type.
        #[arg(long = "type", value_name = "TYPE")]
        record_type: Option<String>,
        /// Say what the memory is about, if the suggestion is wrong. This makes no new version.
        #[arg(long, value_name = "SUBJECT")]
        about: Option<String>,
    },
    /// Redact parts of a record's text for good.
    Redact {
        id: String,
        /// Redact START:END[:CLASS], counted in code points of the text; may be given several times.
        #[arg(long, required_unless_present = "detected")]
        span: Vec<String>,
        /// Redact the sensitive values that `scan` detects in the record; with classes, only values of these classes.
        #[arg(long, value_name = "CLASS", num_args = 0.., conflicts_with = "span")]
        detected: Option<Vec<String>>,
        /// Also redact the same words in other records.
        #[arg(long)]
        everywhere: bool,
    },
    /// Move records to the Trash.
    Delete {
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Restore records from the Trash.
    Restore {
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Erase records for good and print a receipt.
    Erase {
        #[arg(required = true)]
        ids: Vec<String>,
        /// Record this reason in the tombstone.
        #[arg(long)]
        reason: Option<String>,
        /// Only show what would be erased.
        #[arg(long)]
        dry_run: bool,
        /// Also redact other records that contain sentences of these records.
        #[arg(long)]
        with_copies: bool,
    },
    /// List the tombstones.
    Tombstones,
    /// Print the audit log.
    Audit {
        /// Also check the hash chain and its signatures.
        #[arg(long)]
        verify: bool,
    },
    /// Export records, then read the export back and validate it.
    Export {
        /// Write this format.
        #[arg(long)]
        format: String,
        out: PathBuf,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        export_args: ExportArgs,
        #[command(flatten)]
        select: Box<ExportSelectArgs>,
        /// Only show what would be exported and what the format can't express.
        #[arg(long)]
        dry_run: bool,
    },
    /// Convert from one format to another without a vault; nothing is stored.
    Convert {
        input: PathBuf,
        out: PathBuf,
        /// Write this format.
        #[arg(long)]
        format: String,
        /// Read the input as this format instead of detecting one.
        #[arg(long, value_name = "FORMAT")]
        from: Option<String>,
        #[command(flatten)]
        reading: InputArgs,
        #[command(flatten)]
        export_args: ExportArgs,
        /// Also convert a file whose signature is invalid; the signature is dropped.
        #[arg(long)]
        accept_invalid_signature: bool,
    },
    /// Sign a bundle or export that can carry a signature.
    Sign {
        path: PathBuf,
        /// Sign with this private key (PKCS#8 PEM).
        #[arg(long, value_name = "FILE")]
        signing_key_file: PathBuf,
        /// Write the signed copy here instead of changing PATH.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Manage signing keys.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Write a provable subset of a signed Zaxy bundle.
    Disclose {
        bundle: PathBuf,
        out: PathBuf,
        #[command(flatten)]
        select: SelectArgs,
    },
    /// Apply .alf deltas to their base, in order; all of them or none.
    Apply {
        base: PathBuf,
        #[arg(required = true)]
        deltas: Vec<PathBuf>,
        /// Write the new archive here.
        #[arg(long)]
        out: PathBuf,
        /// Read the passphrase of encrypted files from this file; the new archive is encrypted with it if the base was.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
    },
    /// Delete records from a local .alf archive for good.
    Purge {
        archive: PathBuf,
        #[arg(required_unless_present = "whole_agent", conflicts_with = "whole_agent")]
        ids: Vec<String>,
        /// Delete the archive and the given deltas as a whole; only the audit record stays.
        #[arg(long, conflicts_with_all = ["out", "strip_links"])]
        whole_agent: bool,
        /// Also delete the records from this delta of the same agent; may be given several times.
        #[arg(long, value_name = "FILE")]
        delta: Vec<PathBuf>,
        /// Id of the principal who requested the deletion, for the audit record.
        #[arg(long, value_name = "ID")]
        requested_by: Option<String>,
        /// Read the passphrase of encrypted files from this file; they are encrypted with it again.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
        /// Write a new archive here instead of changing the old one.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Record this reason in the audit record.
        #[arg(long)]
        reason: Option<String>,
        /// Also remove links to the deleted records.
        #[arg(long)]
        strip_links: bool,
        /// Only show what would happen.
        #[arg(long)]
        dry_run: bool,
    },
    /// Send an exported file once, to another file or to a webhook. This is the only command that may open a
    /// connection.
    Push {
        file: PathBuf,
        /// The kind of destination: file or webhook.
        #[arg(long, value_name = "file|webhook")]
        sink: String,
        /// Path of the file or https address of the webhook.
        #[arg(long)]
        dest: String,
        /// Read the bearer token for the webhook from this file.
        #[arg(long, value_name = "FILE")]
        auth_token_file: Option<PathBuf>,
    },
    /// Show where a memory comes from, or write an Evidence Pack.
    ///
    /// With the id of a record: the messages that it comes from, and who said it. Anything else is taken as the name of
    /// a new folder or archive (`pack`, `pack.zip`): an Evidence Pack is written there. It shows what was deleted and
    /// what else was done, but no content. To give an Evidence Pack a name that looks like a record's id, write a path:
    /// `./0123…`.
    Evidence {
        /// Id of a record, or folder or archive for the Evidence Pack.
        #[arg(value_name = "ID|OUT")]
        out: PathBuf,
        /// Only from this date or time on.
        #[arg(long)]
        since: Option<String>,
        /// Only up to and including this date or time.
        #[arg(long)]
        until: Option<String>,
        /// Include only these parts: tombstones (with receipts), log (with signatures), key (with instructions to
        /// verify the pack), transfers (imports and exports, with file names).
        #[arg(long, value_delimiter = ',', value_name = "PART,…")]
        parts: Option<Vec<String>>,
        /// Sign with the vault's key.
        #[arg(long)]
        sign: bool,
    },
    /// Review memories one by one: store answers, then show the next memory and where it comes from.
    ///
    /// Memories with sensitive values come before the others; both groups begin with the oldest. Afterwards, `todo`
    /// lists what to delete in the assistants.
    Review(ReviewArgs),
    /// List what to delete in an assistant after the review, and whether later imports still have it.
    Todo(TodoArgs),
    /// Write what the assistants know about you as one printable page, with sensitive values masked.
    ///
    /// The page shows counts, where memories come from, what was reviewed and erased, and a letter to the providers.
    Report(ReportArgs),
    /// Check for a valid signature by a trusted key. Needs no vault and changes nothing.
    Verify {
        path: PathBuf,
        /// Trust this public key (hex or did:key); may be given several times.
        #[arg(long)]
        trust: Vec<String>,
        #[command(flatten)]
        reading: InputArgs,
    },
    #[command(flatten)]
    Connect(ConnectCommand),
    /// List the grants of clients (assistants, coding agents), or make or end one.
    Grants {
        #[command(subcommand)]
        command: Option<GrantsCommand>,
    },
    /// List the suggestions of clients, or accept or refuse them.
    Suggestions(SuggestionsArgs),
    /// Answer clients on this computer until Ctrl-C.
    Serve,
    /// Talk to a client over standard input and output (Model Context Protocol); clients start this.
    Mcp(McpArgs),
    /// Check the integrity of the vault.
    Check {
        /// Rebuild the search index first.
        #[arg(long)]
        rebuild_index: bool,
    },
}
