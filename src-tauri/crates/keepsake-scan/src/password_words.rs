//! The words around passwords, in the languages that the exports of the assistants are full of.

/// Names of a password. Capitals beyond ASCII are written out, since the search folds ASCII only.
pub(crate) const NAMES: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pass phrase", "pass", "pwd", "pw", "psk", "pswd", "passwort", "kennwort", "losung",
    "contraseña", "contrasena", "contraseñas", "clave", "senha", "palavra-passe", "palavra passe", "mot de passe", "mots de passe", "mdp", "motdepasse",
    "wachtwoord", "lösenord", "losenord", "adgangskode", "kodeord", "passord", "salasana", "hasło", "haslo", "heslo", "jelszó", "jelszo", "parolă", "parola",
    "parole", "lozinka", "geslo", "парола", "пароль", "Пароль", "ПАРОЛЬ", "пароля", "паролем", "şifre", "Şifre", "sifre", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호",
    "암호", "패스워드", "κωδικός", "Κωδικός", "κωδικο", "mật khẩu", "kata sandi", "sandi", "كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน", "wifi key", "wi-fi key",
    "wlan-schlüssel", "network key", "netzwerkschlüssel",
];

/// Short names that are words of their own: they count only as a whole name, with a value joined to them.
pub(crate) const TERSE: &[&str] = &["pass", "pw", "psk", "pwd", "clave", "parole", "parola", "sandi", "losung", "pswd"];

/// What a name goes on with when it is not the password that is given.
pub(crate) const NOT: &[&str] = &[
    "hash", "salt", "field", "input", "length", "len", "policy", "reset", "url", "uri", "file", "path", "hint", "manager", "id", "label", "placeholder", "error", "message", "msg",
    "valid", "strength", "min", "max", "regex", "pattern", "rule", "count", "attempt", "expir", "age", "changed", "date", "time", "type", "encoder", "generator", "verify", "check", "column",
    "protected", "required", "login", "less", "form", "box", "visible", "show", "toggle", "digest", "encrypt", "history", "store", "safe", "provider", "link", "less", "forgot", "icon",
    "enabled", "auth", "method", "mode", "screen", "page", "view", "port", "enger", "score", "ed", "ing", "ive", "es", "word-", "match", "template", "title", "text", "class", "name",
];

/// Words between a name and what it is: "the password is X".
pub(crate) const IS: &[&str] = &[
    "is", "was", "=", ":", "to", "be", "are", "lautet", "ist", "war", "auf", "heißt", "heisst", "wäre", "sei", "es", "era", "est", "c'est", "sera", "é", "è", "será", "sarà", "a", "à", "por", "per",
    "becomes", "wynosi", "jest", "je", "är", "er", "on", "это", "—", "–", "-", "->", "→", "olarak", "adalah", "là", "είναι", "هي", "है", "called", "equals", "becoming", "remains", "stays",
];

/// Words that may stand before the value: "is now X".
pub(crate) const STILL: &[&str] = &[
    "now", "still", "currently", "just", "set", "to", "probably", "simply", "actually", "again", "jetzt", "noch", "nun", "einfach", "immer", "ahora", "todavía", "simplemente", "maintenant", "toujours", "ora",
    "ancora", "agora", "ainda", "nu", "nog", "the", "following", "like", "this", "wieder", "folgendes", "temporarily", "literally",
];

/// What stands after a name in prose and is no password, lower case.
pub(crate) const PROSE: &[&str] = &[
    "a", "an", "the", "in", "on", "at", "of", "for", "and", "or", "but", "not", "no", "too", "very", "so", "as", "by", "with", "when", "if", "then", "that", "this", "it", "its", "you", "your", "my", "we",
    "required", "incorrect", "wrong", "invalid", "missing", "empty", "weak", "strong", "stored", "hashed", "encrypted", "expired", "correct", "valid", "optional", "reset", "changed", "updated", "set",
    "protected", "sent", "saved", "hidden", "visible", "shown", "displayed", "used", "needed", "mandatory", "forgotten", "lost", "compromised", "leaked", "unknown", "known", "different", "same", "short",
    "long", "secure", "insecure", "safe", "unsafe", "case-sensitive", "sensitive", "default", "blank", "null", "none", "above", "below", "here", "there", "ok", "okay", "good", "bad", "must", "should",
    "may", "can", "cannot", "will", "would", "minimum", "maximum", "least", "only", "both", "also", "already", "never", "always", "something", "anything", "nothing", "unique", "random", "simple",
    "complex", "common", "easy", "hard", "working", "accepted", "rejected", "denied", "failed", "please", "enter", "choose", "create", "forgot", "forgotten?", "confirm", "generate", "show", "hide", "use",
    "string", "required.", "authentication", "manager", "change", "policy", "recovery", "hashing", "login", "username", "user", "email", "example", "see", "stored.", "via", "from", "redacted", "masked",
    "falsch", "richtig", "erforderlich", "ungültig", "abgelaufen", "vergessen", "geändert", "zu", "nicht", "sicher", "unsicher", "leer", "bekannt", "unbekannt", "ein", "eine", "der", "die", "das", "bitte", "ändern",
    "eingeben", "zurücksetzen", "muss", "kann", "mindestens", "stark", "schwach", "incorrecta", "correcta", "obligatoria", "requerida", "débil", "segura", "insegura", "caducada", "olvidada", "la", "el", "un", "una", "de",
    "muy", "que", "para", "por", "inválida", "errada", "obrigatória", "fraca", "forte", "incorrect.", "obligatoire", "oublié", "oublié?", "invalide", "expiré", "trop", "faible", "fort", "le", "les", "du", "des",
    "requis", "sbagliata", "errata", "obbligatoria", "scaduta", "debole", "sicura", "il", "lo", "onjuist", "verplicht", "vergeten", "zwak", "sterk", "te", "het", "een", "niet", "неверный", "обязателен", "не", "fel", "glömt", "feil", "forkert",
    "error", "wird", "wurde", "been", "has", "have", "had", "being", "really", "quite", "more", "less", "like", "what", "where", "which", "who", "how", "why",
];

/// Marks and endings that join name and value in scripts without spaces.
pub(crate) const GLUED: &[&str] = &["は", "是", "为", "為", "：", "：", "는", "은", "이", "가", "을", "를"];
