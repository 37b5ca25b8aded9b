//! Templates for programs in Python, TypeScript, Go, Rust, Java, PHP and Ruby, and for web pages.
use super::forms_config::Form;

pub const CODE_FORMS: &[Form] =
    &[PYTHON_FORM, TYPESCRIPT_FORM, GO_FORM, RUST_FORM, JAVA_FORM, PHP_FORM, RUBY_FORM, WEB_FORM];

const PYTHON_FORM: Form = Form {
    kind: "python",
    open: "import os\nimport requests\n\n",
    close: "\nprint(\"done\")",
    neutral: &[
        "def total(items):\n    return sum(i.price for i in items)\n",
        "for row in rows[:⟨int⟩]:\n    process(row)",
        "BASE = \"https://api.quellwitz.net/v1\"",
        "logger.info(\"loaded %d rows\", len(rows))",
    ],
    with_values: &[
        "API_KEY = \"⟨key⟩\"",
        "client = OpenAI(api_key=\"⟨key⟩\")",
        "headers = {\"Authorization\": \"Bearer ⟨loose⟩\"}",
        "SECRET_KEY = '⟨loose⟩'",
        "conn = psycopg2.connect(host=\"⟨host⟩\", user=\"⟨user⟩\", password=\"⟨pass⟩\")",
        "engine = create_engine(\"postgresql://⟨user⟩:⟨pass.url⟩@⟨host⟩/⟨db⟩\")",
        "server.login(\"⟨email⟩\", password=\"⟨pass⟩\")",
        "recipients = [\"⟨email⟩\", \"⟨email⟩\"]",
        "send_sms(to=\"⟨phone⟩\", body=\"ready\")",
        "charge(card_number=\"⟨card⟩\", amount=⟨int⟩)",
        "transfer(iban=\"⟨iban⟩\", amount=⟨amount⟩)",
        "KEY = \"\"\"⟨pem⟩\"\"\"",
        "patient = Patient(nhs_number=\"⟨id.nhs⟩\")",
    ],
    with_decoys: &[
        "password = os.environ[\"DB_PASSWORD\"]",
        "password = getpass.getpass(\"Password: \")",
        "api_key = os.getenv(\"API_KEY\")",
        "assert digest == \"⟨sha256⟩\"",
        "@app.route(\"/login\", methods=[\"POST\"])\ndef login(password: str) -> bool:\n    return check(password)",
        "token = next(tokens)",
        "RUN_ID = uuid.UUID(\"⟨uuid⟩\")",
        "key = lambda row: row[\"created_at\"]",
        "client = OpenAI(api_key=\"⟨placeholder⟩\")",
    ],
};

const TYPESCRIPT_FORM: Form = Form {
    kind: "typescript",
    open: "import express from \"express\";\n\n",
    close: "\nexport default app;",
    neutral: &[
        "const app = express();",
        "app.listen(⟨port⟩, () => console.log(\"up\"));",
        "export const sum = (a: number, b: number) => a + b;",
        "const items = await load({ limit: ⟨int⟩ });",
    ],
    with_values: &[
        "const apiKey = \"⟨key⟩\";",
        "const stripe = new Stripe('⟨key⟩');",
        "const secretKey = \"⟨loose⟩\";",
        "fetch(url, { headers: { \"x-api-key\": \"⟨loose⟩\" } });",
        "const token = '⟨jwt⟩';",
        "const db = { user: \"⟨user⟩\", password: \"⟨pass⟩\", host: \"⟨host⟩\" };",
        "mongoose.connect(\"mongodb://⟨user⟩:⟨pass.url⟩@⟨host⟩:27017/⟨db⟩\");",
        "const admin = { email: \"⟨email⟩\", role: \"owner\" };",
        "await sms.send({ to: '⟨phone⟩', text: 'hi' });",
        "const card = { number: \"⟨card⟩\", exp: \"10/27\" };",
        "const iban = '⟨iban⟩';",
    ],
    with_decoys: &[
        "interface Login { email: string; password: string; }",
        "const apiKey = process.env.API_KEY;",
        "const password = await prompt(\"Password?\");",
        "import { Button } from \"@quellwitz/ui-kit\";",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\" />",
        "const icon = \"./logo@2x.png\";",
        "const cacheKey = `user:${id}:settings`;",
        "export const BUILD = \"⟨sha1⟩\";",
        "const token = tokens[index];",
        "const apiKey = \"⟨placeholder⟩\";",
        "<script src=\"/a.js\" integrity=\"⟨sri384⟩\"></script>",
    ],
};

const GO_FORM: Form = Form {
    kind: "go",
    open: "package main\n\n",
    close: "",
    neutral: &["func add(a, b int) int { return a + b }", "var timeout = ⟨int⟩ * time.Second", "// see issue ⟨int⟩"],
    with_values: &[
        "const apiKey = \"⟨key⟩\"",
        "req.Header.Set(\"Authorization\", \"Bearer ⟨key⟩\")",
        "const dbPassword = \"⟨pass⟩\"",
        "db, err := sql.Open(\"postgres\", \"postgres://⟨user⟩:⟨pass.url⟩@⟨host⟩/⟨db⟩?sslmode=disable\")",
        "const owner = \"⟨email⟩\"",
        "var key = `⟨pem⟩`",
    ],
    with_decoys: &[
        "apiKey := os.Getenv(\"API_KEY\")",
        "golang.org/x/net v0.⟨small⟩.0 h1:⟨gosum⟩",
        "type User struct { Name string; Password string }",
        "key := fmt.Sprintf(\"user:%d\", id)",
    ],
};

const RUST_FORM: Form = Form {
    kind: "rust",
    open: "use std::env;\n\n",
    close: "",
    neutral: &["fn add(a: i32, b: i32) -> i32 {\n    a + b\n}", "const LIMIT: usize = ⟨int⟩;", "println!(\"{}\", x);"],
    with_values: &[
        "const API_KEY: &str = \"⟨key⟩\";",
        "let client = Client::new().bearer_auth(\"⟨key⟩\");",
        "let password = \"⟨pass⟩\";",
        "let author = \"⟨email⟩\";",
        "let pem = r\"⟨pem⟩\";",
    ],
    with_decoys: &[
        "let api_key = env::var(\"API_KEY\")?;",
        "let token = self.tokens.next()?;",
        "struct Login { user: String, password: String }",
        "let id = uuid!(\"⟨uuid⟩\");",
        "let digest = hex!(\"⟨sha256⟩\");",
    ],
};

const JAVA_FORM: Form = Form {
    kind: "java",
    open: "public class Main {\n",
    close: "\n}",
    neutral: &[
        "    int limit = ⟨int⟩;",
        "    System.out.println(\"ready\");",
        "    List<String> names = new ArrayList<>();",
    ],
    with_values: &[
        "    private static final String API_KEY = \"⟨key⟩\";",
        "    String token = \"⟨loose⟩\";",
        "    String password = \"⟨pass⟩\";",
        "    ds.setPassword(\"⟨pass⟩\");",
        "    String mail = \"⟨email⟩\";",
        "    String iban = \"⟨iban⟩\";",
    ],
    with_decoys: &[
        "    String password = System.getenv(\"DB_PASSWORD\");",
        "    private String password;",
        "    static final long serialVersionUID = ⟨longrun⟩L;",
        "    if (password.length() < ⟨small⟩) throw new IllegalArgumentException(\"password too short\");",
        "    String key = map.keySet().iterator().next();",
    ],
};

const PHP_FORM: Form = Form {
    kind: "php",
    open: "<?php\n",
    close: "",
    neutral: &["$limit = ⟨int⟩;", "echo 'ok';", "date_default_timezone_set('Europe/Lisbon');"],
    with_values: &[
        "define('DB_PASSWORD', '⟨pass⟩');",
        "$password = '⟨pass⟩';",
        "$apiKey = '⟨key⟩';",
        "'secret' => '⟨loose⟩',",
        "mail('⟨email⟩', 'Subject', $body);",
        "$pdo = new PDO('mysql:host=⟨host⟩;dbname=⟨db⟩', '⟨user⟩', $password = '⟨pass⟩');",
    ],
    with_decoys: &[
        "$password = $_POST['password'];",
        "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
        "$hash = '⟨md5⟩';",
        "$validator->add('password', 'required');",
    ],
};

const RUBY_FORM: Form = Form {
    kind: "ruby",
    open: "require \"net/http\"\n\n",
    close: "",
    neutral: &["puts \"ready\"", "items.each { |i| process(i) }", "LIMIT = ⟨int⟩"],
    with_values: &[
        "API_KEY = \"⟨key⟩\"",
        "config.secret_key = \"⟨loose⟩\"",
        "password: \"⟨pass⟩\",",
        "mail to: \"⟨email⟩\", subject: \"Hi\"",
        "Twilio.call(to: \"⟨phone⟩\")",
    ],
    with_decoys: &[
        "password: ENV[\"DB_PASSWORD\"],",
        "validates :password, length: { minimum: ⟨small⟩ }",
        "ref: \"⟨sha1⟩\"",
        "key: :name",
    ],
};

const WEB_FORM: Form = Form {
    kind: "web",
    open: "<!doctype html>\n",
    close: "\n</html>",
    neutral: &["<h1>⟨firm⟩</h1>", "<p>Open until ⟨time⟩.</p>", "<style>body { margin: ⟨small⟩px; }</style>"],
    with_values: &[
        "<a href=\"mailto:⟨email⟩\">write to us</a>",
        "<a href=\"tel:⟨phone⟩\">call</a>",
        "<script>const API_KEY = \"⟨key⟩\";</script>",
    ],
    with_decoys: &[
        "<style>a { color: ⟨colour⟩; background: ⟨colour⟩; }</style>",
        "<img src=\"data:image/png;base64,iVBORw0KGgo⟨bigbase64⟩\">",
        "<script>⟨minified⟩</script>",
        "<script src=\"/static/⟨hashname⟩\"></script>",
        "<label for=\"password\">Password</label><input id=\"password\" type=\"password\">",
        "<link rel=\"stylesheet\" href=\"/app.css?v=⟨epoch⟩\">",
    ],
};
