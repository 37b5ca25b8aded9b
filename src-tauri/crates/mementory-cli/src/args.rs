//! The command line's words, as in cli.md.
use clap::{
    Args, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};
use std::path::PathBuf;

/// Keep what AI assistants remember about you in an encrypted vault on this machine.
#[derive(Parser)]
#[command(name = "mementory", version)]
pub struct Cli {
    /// Vault folder.
    #[arg(long, global = true, env = "MEMENTORY_VAULT", value_name = "DIR", value_parser = path())]
    pub vault: Option<PathBuf>,
    /// One JSON object on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Nothing on standard output but results.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Progress as JSON lines on standard error.
    #[arg(long, global = true)]
    pub progress: bool,
    /// File with the passphrase or recovery code; `-` = standard input.
    #[arg(long, global = true, env = "MEMENTORY_PASSPHRASE_FILE", value_name = "FILE", value_parser = path())]
    pub passphrase_file: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// A path that may be empty: an environment variable set to nothing is as good as unset.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Filters of `list`, `search` and `export`.
#[derive(Args, Default)]
pub struct Filters {
    /// memory, conversation, message, fact, attachment …
    #[arg(long)]
    pub kind: Option<String>,
    /// chatgpt, claude, me …
    #[arg(long)]
    pub source: Option<String>,
    #[arg(long)]
    pub status: Option<String>,
    #[arg(long)]
    pub tag: Option<String>,
    /// The record's own type; an empty one: records without a type.
    #[arg(long = "type", value_name = "TYPE")]
    pub record_type: Option<String>,
    /// Date or time, inclusive.
    #[arg(long)]
    pub since: Option<String>,
    /// Date or time, inclusive.
    #[arg(long)]
    pub until: Option<String>,
    /// By the newest export of their assistant: new, changed, gone.
    #[arg(long)]
    pub standing: Option<String>,
    /// Attachments only: picture, document, code, sound, video, other, missing.
    #[arg(long, value_name = "KIND")]
    pub file_kind: Option<String>,
    /// Brought by this import; may be given several times.
    #[arg(long)]
    pub batch: Vec<String>,
}

/// How an export is written.
#[derive(Args, Default)]
pub struct Means {
    /// Sign with the vault's own key, or with the one that is given.
    #[arg(long)]
    pub sign: bool,
    /// Private key (PKCS#8 PEM) to sign with.
    #[arg(long, value_name = "FILE")]
    pub signing_key_file: Option<PathBuf>,
    /// Encrypt, where the format has a way to.
    #[arg(long, requires = "export_passphrase_file")]
    pub encrypt: bool,
    /// Passphrase of the encrypted file.
    #[arg(long, value_name = "FILE", requires = "encrypt")]
    pub export_passphrase_file: Option<PathBuf>,
    /// The export that a delta or an incremental export builds on.
    #[arg(long, value_name = "EXPORT")]
    pub base: Option<PathBuf>,
    /// json, yaml or jsonl; for mif also mem0, generic or markdown, which hold memories only.
    #[arg(long)]
    pub encoding: Option<String>,
    /// Version of the format.
    #[arg(long = "version", id = "format_version", value_name = "V")]
    pub version: Option<String>,
    /// Replace what was detected by [REDACTED:class] in the file; ignored values and attached files stay as they are.
    #[arg(long, value_name = "detected", value_parser = ["detected"])]
    pub redact: Option<String>,
    /// Leave identifiers of platforms and accounts out.
    #[arg(long)]
    pub strip_identifiers: bool,
    /// Files of a workspace below this many bytes travel inside an .alf, others are only named; 102400 without it.
    #[arg(long, value_name = "BYTES")]
    pub artifact_threshold: Option<u64>,
    /// Replace what is there.
    #[arg(long)]
    pub overwrite: bool,
}

/// Which entries of a Zaxy bundle.
#[derive(Args, Default)]
pub struct Select {
    /// event, semantic
    #[arg(long, value_delimiter = ',', value_name = "G,…")]
    pub grains: Vec<String>,
    #[arg(long, value_delimiter = ',', value_name = "K,…")]
    pub kinds: Vec<String>,
    /// Above this number.
    #[arg(long, value_name = "N")]
    pub since_seq: Option<u64>,
    /// Up to this number.
    #[arg(long, value_name = "N")]
    pub max_seq: Option<u64>,
    #[arg(long, value_name = "T")]
    pub since_time: Option<String>,
    #[arg(long, value_name = "T")]
    pub until_time: Option<String>,
}

/// More ways to select, for exports.
#[derive(Args, Default)]
pub struct SelectExport {
    #[command(flatten)]
    pub select: Select,
    /// Only what says some of these words.
    #[arg(long)]
    pub query: Option<String>,
    #[arg(long, value_name = "N")]
    pub query_limit: Option<usize>,
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    pub exclude_sensitivities: Vec<String>,
    /// Only the most recent so many.
    #[arg(long, value_name = "N")]
    pub latest: Option<usize>,
}

#[derive(Subcommand)]
pub enum KeysCommand {
    /// Make a key pair.
    Make {
        /// ed25519 or ml-dsa-65
        #[arg(long)]
        algorithm: String,
        #[arg(long, value_name = "FILE")]
        out_private: PathBuf,
        #[arg(long, value_name = "FILE")]
        out_public: PathBuf,
    },
    /// The vault's own key, whom it trusts, and whose signatures it has seen.
    List,
    /// Trust a public key, in hex or as did:key.
    Trust {
        key: String,
        /// What to call it.
        #[arg(long)]
        name: Option<String>,
    },
    /// Forget a key; its fingerprint will do.
    Forget { key: String },
}

#[derive(Subcommand)]
pub enum Command {
    /// Make a new vault; prints the recovery code once.
    Create {
        dir: PathBuf,
        /// Take the lowest permitted Argon2id cost instead of calibrating.
        #[arg(long)]
        kdf_floor: bool,
    },
    /// What is in the vault.
    Info,
    /// Change the passphrase.
    Passwd {
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: PathBuf,
        #[arg(long)]
        kdf_floor: bool,
    },
    /// Make a new recovery code; the old one opens nothing from then on.
    RecoveryCode,
    /// Copy the vault to a new folder and check the copy. It is a vault of its own and opens as this one does now.
    Backup { out: PathBuf },
    /// Copy a backup to a new folder and check the copy. It opens with the passphrase of the backup's moment, which is
    /// asked for; the backup itself is only read.
    RestoreBackup { backup: PathBuf, dir: PathBuf },
    /// What is this? Needs no vault.
    Detect {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Is it valid? Needs no vault, changes nothing.
    Validate {
        path: PathBuf,
        #[arg(long)]
        format: Option<String>,
        /// Also require this: signed, unsigned, subset, log, full, incremental or delta.
        #[arg(long, value_name = "KIND")]
        expect: Option<String>,
        /// Public key in hex or did:key, may be given again.
        #[arg(long)]
        trust: Vec<String>,
        /// For a delta: what it builds on is checked too.
        #[arg(long)]
        base: Option<PathBuf>,
        /// Passphrase of an encrypted file.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
    },
    /// Import files, folders and archives as one batch.
    Import {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[arg(long)]
        format: Option<String>,
        /// Only say what would happen.
        #[arg(long)]
        dry_run: bool,
        /// Public key in hex or did:key: the file must have a valid signature of one of them.
        #[arg(long)]
        trust: Vec<String>,
        /// What becomes of records that the vault has already; without it the newer telling stays.
        #[arg(long, value_name = "skip_duplicates|overwrite|rename")]
        merge: Option<String>,
        /// Passphrase of an encrypted file.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
        /// Allow this many streamed bytes.
        #[arg(long, value_name = "N")]
        limit_bytes: Option<u64>,
        /// Let in what is held back because the same words were deleted before.
        #[arg(long)]
        let_in: bool,
    },
    /// The batches.
    Imports,
    /// Take a batch back whole.
    Undo { batch: String },
    /// Page through records.
    List {
        #[command(flatten)]
        filters: Filters,
        /// The Trash instead.
        #[arg(long)]
        trash: bool,
        /// newest, oldest, title or changed.
        #[arg(long)]
        sort: Option<String>,
        #[arg(long)]
        limit: Option<u32>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// One record, whole.
    Show {
        id: String,
        #[arg(long)]
        history: bool,
        #[arg(long)]
        verbatim: bool,
    },
    /// A conversation with all branches.
    Thread { id: String },
    /// Full text search.
    Search {
        #[arg(required_unless_present = "queries", allow_hyphen_values = true)]
        query: Option<String>,
        /// One query per line; answers as a list.
        #[arg(long, value_name = "FILE", conflicts_with = "query")]
        queries: Option<PathBuf>,
        #[command(flatten)]
        filters: Filters,
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Memories that say the same, or much the same, in groups.
    Duplicates,
    /// Where sensitive values are; never what they are.
    Scan {
        #[command(flatten)]
        filters: Filters,
        /// access_key, private_key, password, card, iban, email, phone or national_id.
        #[arg(long, value_name = "CLASS")]
        class: Vec<String>,
    },
    /// Write a memory by hand.
    Add {
        #[arg(long = "type", value_name = "TYPE")]
        record_type: Option<String>,
        /// `-` = standard input.
        #[arg(long, value_name = "FILE")]
        text_file: PathBuf,
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Make a new version of a record.
    Edit {
        id: String,
        #[arg(long, value_name = "FILE")]
        text_file: Option<PathBuf>,
        #[arg(long)]
        title: Option<String>,
        #[arg(long)]
        tag: Option<Vec<String>>,
        #[arg(long = "type", value_name = "TYPE")]
        record_type: Option<String>,
    },
    /// Replace spans for good.
    Redact {
        id: String,
        /// START:END[:CLASS], in code points of the text.
        #[arg(long, required_unless_present = "detected")]
        span: Vec<String>,
        /// What `scan` finds in it; only these classes if any are named.
        #[arg(long, value_name = "CLASS", num_args = 0.., conflicts_with = "span")]
        detected: Option<Vec<String>>,
        /// Also where the same words stand in other records.
        #[arg(long)]
        everywhere: bool,
    },
    /// To the Trash.
    Delete {
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Back from the Trash.
    Restore {
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Erase for good, with receipt.
    Erase {
        #[arg(required = true)]
        ids: Vec<String>,
        #[arg(long)]
        reason: Option<String>,
        /// Say what would go.
        #[arg(long)]
        dry_run: bool,
        /// Also redact other records that say the same.
        #[arg(long)]
        with_copies: bool,
    },
    /// Tombstones.
    Tombstones,
    /// The audit log.
    Audit {
        /// Check the chain and its signatures.
        #[arg(long)]
        verify: bool,
    },
    /// Write, read back, validate.
    Export {
        #[arg(long)]
        format: String,
        out: PathBuf,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        means: Means,
        #[command(flatten)]
        select: Box<SelectExport>,
        /// Only say what would be held and lost.
        #[arg(long)]
        dry_run: bool,
    },
    /// From one format to another, without a vault; nothing is kept.
    Convert {
        input: PathBuf,
        out: PathBuf,
        /// What to write.
        #[arg(long)]
        format: String,
        /// What the input is, where that is not plain.
        #[arg(long, value_name = "FORMAT")]
        from: Option<String>,
        /// Passphrase of an encrypted input.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
        #[command(flatten)]
        means: Means,
        /// Allow this many streamed bytes.
        #[arg(long, value_name = "N")]
        limit_bytes: Option<u64>,
    },
    /// Sign a bundle or export that can carry a signature.
    Sign {
        path: PathBuf,
        /// Private key (PKCS#8 PEM).
        #[arg(long, value_name = "FILE")]
        signing_key_file: PathBuf,
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Signing keys.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// A provable part of a signed Zaxy bundle.
    Disclose {
        bundle: PathBuf,
        out: PathBuf,
        #[command(flatten)]
        select: Select,
    },
    /// Apply .alf deltas to their base, in order, all or none.
    Apply {
        base: PathBuf,
        #[arg(required = true)]
        deltas: Vec<PathBuf>,
        /// The new archive.
        #[arg(long)]
        out: PathBuf,
        /// Passphrase of encrypted files; the new archive is encrypted under it if the base was.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
    },
    /// Hard deletion in a local .alf archive.
    Purge {
        archive: PathBuf,
        #[arg(required_unless_present = "whole_agent", conflicts_with = "whole_agent")]
        ids: Vec<String>,
        /// The archive and the named deltas as a whole; only the audit record stays.
        #[arg(long, conflicts_with_all = ["out", "strip_links"])]
        whole_agent: bool,
        /// A delta of the same agent that is to lose the records too, may be given again.
        #[arg(long, value_name = "FILE")]
        delta: Vec<PathBuf>,
        /// Id of the principal who asked, for the audit record.
        #[arg(long, value_name = "ID")]
        requested_by: Option<String>,
        /// Passphrase of encrypted files; they are encrypted under it again.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
        /// A new archive instead of the old one.
        #[arg(long)]
        out: Option<PathBuf>,
        #[arg(long)]
        reason: Option<String>,
        /// Also take out links to what goes.
        #[arg(long)]
        strip_links: bool,
        /// Say what would happen.
        #[arg(long)]
        dry_run: bool,
    },
    /// Hand a finished file on, once: to another place, or to a webhook. The only command that may open a connection.
    Push {
        file: PathBuf,
        #[arg(long, value_name = "file|webhook")]
        sink: String,
        /// A path, or an https address.
        #[arg(long)]
        dest: String,
        /// File with the bearer token for a webhook.
        #[arg(long, value_name = "FILE")]
        auth_token_file: Option<PathBuf>,
    },
    /// Evidence Pack: what was deleted and done, without content.
    Evidence {
        out: PathBuf,
        /// Date or time, inclusive.
        #[arg(long)]
        since: Option<String>,
        /// Date or time, inclusive.
        #[arg(long)]
        until: Option<String>,
        /// Only these parts: tombstones (with receipts), log (with its signatures), key (and how to check), transfers
        /// (imports and exports, with file names).
        #[arg(long, value_delimiter = ',', value_name = "PART,…")]
        parts: Option<Vec<String>>,
        /// Sign with the vault's own key.
        #[arg(long)]
        sign: bool,
    },
    /// Is a signature there, valid, and by a trusted key? Needs no vault, changes nothing.
    Verify {
        path: PathBuf,
        /// Public key in hex or did:key, may be given again.
        #[arg(long)]
        trust: Vec<String>,
        /// Passphrase of an encrypted file.
        #[arg(long, value_name = "FILE")]
        import_passphrase_file: Option<PathBuf>,
    },
    /// Integrity of the vault.
    Check {
        #[arg(long)]
        rebuild_index: bool,
    },
}
