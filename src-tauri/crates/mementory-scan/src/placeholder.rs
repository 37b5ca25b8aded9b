//! What stands where a secret would: samples, variables, types, masks.

/// Pieces of values that documentation prints. Pieces, so that no whole key lies in this repository.
const SAMPLES: &[&str] = &[
    "4eC39HqLyj",
    "BQokikJOvBi",
    "26PHem9AhJ",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l",
    "Eby8vdM02xNOcqF",
    "16C7e42F292c6912",
    "aGmWKa4JsXZ-HjGw7",
    "-zyx57W2v1u123ew11",
    "AAHdqTcvCH1vGWJx",
    "AAFD39kkdpWt3yw",
    "eW5rVHlKS2ZG",
    "tGzv3JOkF0XG5Qx2TlKWIA",
    "mF_9.B5f-4.1JqM",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "dXNlcm5hbWU6cGFzc3dvcmQ",
    "dXNlcjpwYXNz",
];

/// Pieces of words that a person is meant to replace.
const WORDS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "change_this",
    "changethis",
    "your_",
    "your-",
    "yourpass",
    "yourkey",
    "yoursecret",
    "yourtoken",
    "yourapi",
    "your_",
    "my_secret_key",
    "mysecretkey",
    "xxxx",
    "redacted",
    "dummy",
    "sample",
    "insert",
    "replace",
    "todo",
    "fixme",
    "enter_",
    "put_",
    "put-",
    "goes-here",
    "goes_here",
    "_here",
    "-here",
    "keyhere",
    "tokenhere",
    "secrethere",
    "masked",
    "not-a-real",
    "notareal",
    "fake",
    "deadbeef",
    "foobar",
    "lorem",
    "...",
    "…",
    "****",
    "••",
    "process.env",
    "os.environ",
    "getenv",
    "env.",
    "import.meta",
    "config.",
    "secrets.",
    "settings.",
    "args.",
    "options.",
    "this.",
    "self.",
    "req.",
    "request.",
    "ctx.",
    "vault:",
    "ssm:",
    "arn:aws",
    "op://",
    "/run/secrets",
    "keyring.",
    "credentials.",
    "params.",
    "state.",
    "props.",
    "form.",
    "required|",
    "|min",
    "nullable|",
    "<",
    "${",
    "{{",
    "}}",
    "$(",
    "%(",
    "#{",
    "user.",
    "dein_",
    "dein-",
    "ihr_",
    "tu_",
    "votre_",
    "ton_",
    "il_tuo",
    "sua_",
    "ваш_",
    "hier_",
    "aqui",
    "-ici",
];

/// Whole values that are names, types or nothing.
const WHOLE: &[&str] = &[
    "string",
    "str",
    "text",
    "varchar",
    "char",
    "bool",
    "boolean",
    "int",
    "integer",
    "number",
    "bytes",
    "any",
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "required",
    "optional",
    "hidden",
    "secret",
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "pass",
    "pwd",
    "token",
    "key",
    "value",
    "label",
    "input",
    "field",
    "object",
    "array",
    "buffer",
    "unknown",
    "never",
    "void",
    "option<string>",
    "securestring",
    "n/a",
    "na",
    "tbd",
    "empty",
    "blank",
    "unset",
    "default",
    "user",
    "username",
    "nopassword",
    "prompt",
    "env",
    "self",
    "this",
    "test",
    "contraseña",
    "contrasena",
    "senha",
    "heslo",
    "hasło",
    "yes",
    "no",
    "on",
    "off",
    "here",
    "apikey",
    "api_key",
    "api-key",
    "mypassword",
    "my-password",
    "my_password",
    "p@ssw0rd",
    "keychain",
    "plaintext",
    "base64",
    "bcrypt",
    "argon2",
    "sha256",
    "md5",
    "bearer",
    "basic",
    "encrypted",
    "hashed",
    "stored",
    "secret_key",
    "secretkey",
    "user_password",
    "userpassword",
    "db_password",
    "dbpassword",
    "new_password",
    "newpassword",
    "old_password",
    "oldpassword",
    "plain_password",
    "hashed_password",
    "passwordhash",
    "password_hash",
    "passphrase",
    "mot_de_passe",
    "пароль",
    "密码",
    "パスワード",
];

/// Whether `value` stands for a secret instead of being one.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    // "tu_" begins a word; in the middle of one it says nothing.
    let begins = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric());
    let says = |word: &str| match word.ends_with(['_', '-']) {
        true => lower.match_indices(word).any(|(at, _)| begins(at)),
        false => lower.contains(word),
    };
    if WHOLE.contains(&lower.as_str()) || WORDS.iter().any(|word| says(word)) || is_sample(value) {
        return true;
    }
    is_variable(value) || is_mask(value)
}

/// Whether a value of a known shape is printed in documentation, or counts through the alphabet.
pub(crate) fn is_sample(value: &str) -> bool {
    SAMPLES.iter().any(|sample| value.contains(sample)) || counts_up(value, 8)
}

/// Whether the body of a token is a stand-in: it says so, or it has hardly any variety.
pub(crate) fn is_fake_token(value: &str) -> bool {
    const SAYS: &[&str] = &[
        "example",
        "xxxx",
        "placeholder",
        "your",
        "redacted",
        "****",
        "dummy",
        "sample",
        "notareal",
        "not-a-real",
        "fake",
        "....",
        "replace",
        "insert",
        "changeme",
        "_here",
        "-here",
        "1234567890",
        "abcdefghij",
    ];
    let lower = value.to_ascii_lowercase();
    is_sample(value) || SAYS.iter().any(|word| lower.contains(word)) || longest_repeat(value) >= 6
}

/// `$NAME`, `%NAME%`, `{name}`, `[name]`, `!Ref`, `&name`, `@name`.
fn is_variable(value: &str) -> bool {
    let bytes = value.as_bytes();
    let name = |part: &[u8]| !part.is_empty() && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    match bytes {
        // A password may begin with a dollar sign; a variable is a name with no digit among small letters.
        [b'$', rest @ ..] => {
            name(rest) && !(rest.iter().any(u8::is_ascii_digit) && rest.iter().any(u8::is_ascii_lowercase))
        }
        [b'%', rest @ .., b'%'] | [b'{', rest @ .., b'}'] => name(rest),
        [b'{', rest @ ..] => rest.contains(&b'}'),
        // A reference to a type: `&str`, `&'static str`.
        [b'&', ..] => true,
        [b'[', .., b']'] => true,
        [b'!', rest @ ..] => {
            [&b"Ref"[..], b"Sub", b"vault", b"secret", b"GetAtt"].iter().any(|tag| rest.starts_with(tag))
        }
        _ => false,
    }
}

/// `****`, `xxxx`, `------`: at most two different characters, or only those that masks are made of.
fn is_mask(value: &str) -> bool {
    let mut seen: Vec<char> = Vec::new();
    for c in value.chars() {
        if !seen.contains(&c) {
            seen.push(c);
        }
        if seen.len() > 2 {
            return value.chars().all(|c| "*xX•●·.-_?# ".contains(c));
        }
    }
    value.len() < 64 && !(value.chars().all(|c| c.is_ascii_digit()) && seen.len() == 2 && value.len() >= 6)
}

/// Whether `value` holds a run of `length` characters that each follow the one before: `12345678`, `abcdefgh`.
fn counts_up(value: &str, length: usize) -> bool {
    let mut run = 1;
    value.as_bytes().windows(2).any(|pair| {
        let next = pair[0].to_ascii_lowercase().wrapping_add(1) == pair[1].to_ascii_lowercase();
        run = if next && pair[1].is_ascii_alphanumeric() { run + 1 } else { 1 };
        run >= length
    })
}

fn longest_repeat(value: &str) -> usize {
    let (mut run, mut best) = (1, 1);
    for pair in value.as_bytes().windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        best = best.max(run);
    }
    best
}
