"""Secrets as vendors, programs and people write them, made up here from a fixed seed; and texts that only look like some.

Made at run time, so that no scanner takes this file for a leak. `SECRETS` gives for each kind the secret and a text
that holds it, `INNOCENT` texts that must not change.
"""

from __future__ import annotations

import base64
import random
import string

_RANDOM = random.Random(7)
DIGITS = string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + DIGITS
LOWER = string.ascii_lowercase + DIGITS
SECRETS: dict[str, tuple[str, str]] = {}


def _made(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_RANDOM.choice(letters) for _ in range(length))


def _kind(name: str, secret: str, text: str = "the value is {} ok") -> None:
    SECRETS[name] = (secret, text.format(secret))


def _uuid() -> str:
    return "-".join(_made(length, HEX) for length in (8, 4, 4, 4, 12))


def _checked(digits: str) -> str:
    """Return `digits` with the check digit of a card's number behind them."""
    doubled = [
        int(char) * 2 - 9 * (int(char) > 4) if place % 2 == 0 else int(char)
        for place, char in enumerate(reversed(digits))
    ]
    return digits + str(-sum(doubled) % 10)


_kind("openai", "sk-" + _made(48))
_kind("openai proj", "sk-proj-" + _made(74) + "_" + _made(20) + "-" + _made(20))
_kind("anthropic", "sk-ant-api03-" + _made(80) + "-" + _made(10) + "AA")
_kind("github", "ghp_" + _made(36))
_kind("github fine", "github_pat_" + _made(22) + "_" + _made(59))
_kind("github app", "ghs_" + _made(36))
_kind("gitlab", "glpat-" + _made(20))
_kind("gitlab deploy", "gldt-" + _made(20))
_kind("gitlab feed", "glft-" + _made(20))
_kind("gitlab runner", "glrt-" + _made(20))
_kind("gitlab agent", "glagent-" + _made(50))
_kind("gitlab oauth", "gloas-" + _made(64))
_kind("aws id", "AKIA" + _made(16, string.ascii_uppercase + "234567"))
_kind("aws secret", _made(40, string.ascii_letters + DIGITS + "+/"), "aws_secret_access_key = {}")
_kind("aws secret env", _made(40), "AWS_SECRET_ACCESS_KEY={}")
_kind("google", "AIza" + _made(35))
_kind("google oauth", "ya29." + _made(60))
_kind("google refresh", "1//0" + _made(40) + "-" + _made(20))
_kind("gocspx", "GOCSPX-" + _made(28))
_kind("slack bot", "xoxb-" + _made(12, DIGITS) + "-" + _made(12, DIGITS) + "-" + _made(24))
_kind("slack config", "xoxe.xoxp-1-" + _made(80))
_kind("slack app", "xapp-1-A" + _made(10, UPPER) + "-" + _made(13, DIGITS) + "-" + _made(64, HEX))
_kind("slack hook", "https://hooks.slack.com/services/T" + _made(8, UPPER) + "/B" + _made(8, UPPER) + "/" + _made(24))
_kind("discord bot", base64.b64encode(_made(18, "123456789").encode()).decode() + "." + _made(6) + "." + _made(38))
_kind("discord hook", "https://discord.com/api/webhooks/" + _made(18, DIGITS) + "/" + _made(68))
_kind("stripe", "sk_live_" + _made(24))
_kind("stripe rk", "rk_live_" + _made(24))
_kind("stripe wh", "whsec_" + _made(32))
_kind("square", "sq0atp-" + _made(22))
_kind("square2", "EAAA" + _made(60))
_kind("paypal", "access_token$production$" + _made(16, LOWER) + "$" + _made(32, HEX))
_kind("twilio key", "SK" + _made(32, HEX))
_kind("twilio auth", _made(32, HEX), "TWILIO_AUTH_TOKEN={}")
_kind("sendgrid", "SG." + _made(22) + "." + _made(43))
_kind("mailgun", "key-" + _made(32, HEX))
_kind("mailchimp", _made(32, HEX) + "-us12")
_kind("postmark", _uuid(), "X-Postmark-Server-Token: {}")
_kind("hf", "hf_" + _made(34))
_kind("npm", "npm_" + _made(36))
_kind("pypi", "pypi-AgEIcHlwaS5vcmc" + _made(150))
_kind("rubygems", "rubygems_" + _made(48, HEX))
_kind("docker", "dckr_pat_" + _made(27))
_kind("cargo", "cio" + _made(32))
_kind("nuget", "oy2" + _made(43, LOWER))
_kind("do", "dop_v1_" + _made(64, HEX))
_kind("heroku", "HRKU-AA" + _made(58))
_kind("heroku uuid", _uuid(), "HEROKU_API_KEY={}")
_kind("vault", "hvs." + _made(90))
_kind("vault old", "s." + _made(24), "X-Vault-Token: {}")
_kind("terraform", _made(14) + ".atlasv1." + _made(64))
_kind("databricks", "dapi" + _made(32, HEX))
_kind("databricks2", "dapi" + _made(32, HEX) + "-2")
_kind(
    "azure storage",
    base64.b64encode(_RANDOM.randbytes(64)).decode(),
    "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
)
_kind("azure sas", _made(43) + "%3D", "https://acme.blob.core.windows.net/c?sv=2022-11-02&sig={}")
_kind("azure client", _made(3) + "8Q~" + _made(34))
_kind("azure devops", _made(52, LOWER), "AZURE_DEVOPS_PAT={}")
_kind("cloudflare", _made(40), "CLOUDFLARE_API_TOKEN={}")
_kind("cloudflare ca", "v1.0-" + _made(24, HEX) + "-" + _made(146, HEX))
_kind("fastly", _made(32), "Fastly-Key: {}")
_kind("shopify", "shpat_" + _made(32, HEX))
_kind("shopify2", "shpss_" + _made(32, HEX))
_kind("notion", "secret_" + _made(43))
_kind("notion2", "ntn_" + _made(46))
_kind("airtable", "pat" + _made(14) + "." + _made(64, HEX))
_kind("figma", "figd_" + _made(40))
_kind("linear", "lin_api_" + _made(40))
_kind("asana", "1/" + _made(16, DIGITS) + ":" + _made(32, HEX))
_kind("atlassian", "ATATT3xFfGF0" + _made(170) + "=" + _made(8, UPPER))
_kind("bitbucket", "ATBB" + _made(32))
_kind("sentry", "sntrys_" + _made(80))
_kind("sentry2", "sntryu_" + _made(64, HEX))
_kind("grafana", "glsa_" + _made(32) + "_" + _made(8, HEX))
_kind("grafana cloud", "glc_" + _made(60))
_kind("datadog", _made(32, HEX), "DD_API_KEY={}")
_kind("newrelic", "NRAK-" + _made(27, UPPER))
_kind("newrelic2", "NRII-" + _made(32))
_kind("dynatrace", "dt0c01." + _made(24, UPPER) + "." + _made(64, UPPER))
_kind("pagerduty", _made(20), "Authorization: Token token={}")
_kind("telegram", _made(9, DIGITS).replace("0", "1") + ":AA" + _made(33))
_kind("replicate", "r8_" + _made(37))
_kind("groq", "gsk_" + _made(52))
_kind("perplexity", "pplx-" + _made(48))
_kind("nvidia", "nvapi-" + _made(64))
_kind("xai", "xai-" + _made(80))
_kind("deepseek", "sk-" + _made(32, HEX))
_kind("cohere", _made(40), "CO_API_KEY={}")
_kind("mistral", _made(32), "MISTRAL_API_KEY={}")
_kind("fireworks", "fw_" + _made(24))
_kind("together", "tgp_v1_" + _made(43))
_kind("openrouter", "sk-or-v1-" + _made(64, HEX))
_kind("langsmith", "lsv2_pt_" + _made(32, HEX) + "_" + _made(10, HEX))
_kind("wandb", _made(40, HEX), "WANDB_API_KEY={}")
_kind("pinecone", "pcsk_" + _made(70))
_kind("supabase", "sbp_" + _made(40, HEX))
_kind("supabase2", "sb_secret_" + _made(31))
_kind("planetscale", "pscale_tkn_" + _made(43))
_kind("planetscale pw", "pscale_pw_" + _made(43))
_kind("doppler", "dp.pt." + _made(43))
_kind("pulumi", "pul-" + _made(40, HEX))
_kind("age", "AGE-SECRET-KEY-1" + _made(58, UPPER))
_kind("facebook", "EAACEdEose0cBA" + _made(80))
_kind("instagram", "IGQV" + _made(100))
_kind("twitter bearer", "AAAAAAAAAAAAAAAAAAAAA" + _made(60) + "%3D" + _made(30))
_kind("dropbox", "sl." + _made(136))
_kind("tailscale", "tskey-auth-" + _made(17) + "-" + _made(32))
_kind("netlify", "nfp_" + _made(36))
_kind("vercel", _made(24), "VERCEL_TOKEN={}")
_kind("render", "rnd_" + _made(28))
_kind("flyio", "FlyV1 fm2_" + _made(120))
_kind("confluent", _made(64), "CONFLUENT_API_SECRET={}")
_kind("mapbox", "sk.eyJ1Ijoi" + _made(40) + "." + _made(22))
_kind("contentful", "CFPAT-" + _made(43))
_kind("postman", "PMAK-" + _made(24, HEX) + "-" + _made(34, HEX))
_kind("brevo", "xkeysib-" + _made(64, HEX) + "-" + _made(16))
_kind("jfrog", "AKCp" + _made(69))
_kind("adafruit", "aio_" + _made(28))
_kind("1password", "ops_eyJ" + _made(200))
_kind("elevenlabs", "sk_" + _made(48, HEX))
_kind("assemblyai", _made(32, HEX), "assemblyai_api_key: {}")
_kind("algolia", _made(32, HEX), "X-Algolia-API-Key: {}")
_kind("okta", "00" + _made(40), "Authorization: SSWS {}")
_kind("easypost", "EZAK" + _made(54))
_kind("clojars", "CLOJARS_" + _made(60, LOWER))
_kind("duffel", "duffel_live_" + _made(43))
_kind("frameio", "fio-u-" + _made(64))
_kind("flutterwave", "FLWSECK_TEST-" + _made(32, HEX) + "-X")
_kind("readme", "rdme_" + _made(70, LOWER))
_kind("prefect", "pnu_" + _made(36))
_kind("scaleway", _uuid(), "SCW_SECRET_KEY={}")
# Bearer etc.
_kind("bearer", _made(40), "curl -H 'Authorization: Bearer {}' https://api.acme.io")
_kind("bearer hdr", _made(40), "Authorization: Bearer {}")
_kind("basic", base64.b64encode(b"ana:Tr0ub4dor&3x").decode(), "Authorization: Basic {}")
_kind("x-api", _made(32), "x-api-key: {}")
_kind("cookie", _made(40), "Cookie: sessionid={}; theme=dark")
_kind("set-cookie", _made(40), "Set-Cookie: session={}; HttpOnly")
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJ" + _made(60) + "." + _made(43)
_kind("jwt", JWT)
_kind("jwt nosig", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + _made(60) + "." + _made(43), "token={}")
_kind("jwe", "eyJhbGciOiJSU0EtT0FFUCJ9." + _made(40) + "." + _made(16) + "." + _made(80) + "." + _made(22))
for k in (
    "RSA PRIVATE KEY",
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "DSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
):
    body = "\n".join(_made(64) for _ in range(4))
    _kind("pem " + k, body, f"-----BEGIN {k}-----\n{{}}\n-----END {k}-----")
body = "\\n".join(_made(64) for _ in range(4))
_kind("pem json", body, '"private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"')
body = "\n".join("    " + _made(64) for _ in range(4))
_kind("pem indented", body.strip(), "key: |\n    -----BEGIN PRIVATE KEY-----\n    {}\n    -----END PRIVATE KEY-----")
body = "\n".join("> " + _made(64) for _ in range(4))
_kind("pem quoted", body.strip(), "> -----BEGIN PRIVATE KEY-----\n{}\n> -----END PRIVATE KEY-----")
body = "\n".join(_made(64) for _ in range(4))
_kind("ssh2", body, "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----")
_kind("putty", _made(64), "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: " + _made(40, HEX))
# passwords
P = "Tr0ub4dor&3x"
_kind("url pw", P, "postgres://ana:{}@db.acme.io:5432/app")
_kind("url pw2", "p4ss!w0rd", "https://ana:{}@git.acme.io/x.git")
_kind("url pw @", "hunter2@home", "redis://:{}@cache:6379")
_kind("url token", "ghx0123abcd9876ef", "https://{}@github.com/acme/x.git")
_kind("mongo", P, "mongodb+srv://root:{}@cluster0.mongodb.net/?retryWrites=true")
_kind("url pw plain", "hunter2", "mysql://root:{}@localhost/db")
_kind("assign", P, "password = {}")
_kind("assign q", P, 'password="{}"')
_kind("json", P, '{{"user": "ana", "password": "{}"}}')
_kind("json nospace", P, '{{"password":"{}"}}')
_kind("yaml", P, "db:\n  password: {}\n  host: x")
_kind("env", P, "DB_PASSWORD={}")
_kind("export", P, "export PGPASSWORD='{}'")
_kind("pg space", "correct horse battery staple 9", 'password: "{}"')
_kind("alpha", "hunterXYZ", 'password="{}"')
_kind("alpha bare", "letmeinnow", "DB_PASSWORD={}")
_kind("short", "hunter2", "password: {}")
_kind("flag", P, "mysql --user root --password {} db")
_kind("flag=", P, "mysql --password={} db")
_kind("flag -p", P, "mysql -u root -p{} db")
_kind("sshpass", P, "sshpass -p '{}' ssh ana@host")
_kind("sshpass nq", "Abc12345", "sshpass -p {} ssh ana@host")
_kind("curl -u", P, "curl -u ana:{} https://acme.io")
_kind("curl -u q", "s3cr3tPass", "curl -u 'ana:{}' https://acme.io")
_kind("curl --user", "s3cr3tPass", "curl --user ana:{} https://acme.io")
_kind("wget", "s3cr3tPass", "wget --http-password={} https://acme.io")
_kind("docker login", "s3cr3tPass", "docker login -u ana -p {} registry.acme.io")
_kind("netrc", "s3cr3tPass", "machine api.acme.io login ana password {}")
_kind("htpasswd", "$apr1$x7c9d2e1$" + _made(22), "ana:{}")
_kind("bcrypt", "$2b$12$" + _made(53), "hash {}")
_kind("sha512crypt", "$6$" + _made(16) + "$" + _made(86), "root:{}:19000:0:99999:7:::")
_kind("kv php", "s3cr3tPass", "define('DB_PASSWORD', '{}');")
_kind("python", "s3cr3tPass", "connect(user='ana', password='{}')")
_kind("xml", "s3cr3tPass", "<password>{}</password>")
_kind("xml attr", "s3cr3tPass", '<add key="password" value="{}"/>')
_kind("ini", "s3cr3tPass", "[client]\npassword = {}\n")
_kind("conn", "s3cr3tPass", "Server=db;User Id=sa;Password={};Encrypt=yes")
_kind("jdbc", "s3cr3tPass", "jdbc:mysql://db/app?user=a&password={}")
_kind("fr", "Abeille2026!", "Le mot de passe est {}.")
_kind("fr2", "Abeille2026!", "mot de passe : {}")
_kind("fr wifi", "Abeille2026!", "mdp wifi = {}")
_kind("en said", "Abeille2026!", "my password is {} please remember")
_kind("zh", "Abeille2026!", "密码是{}")
_kind("zh2", "Abeille2026!", "密码：{}")
_kind("secret_key", _made(50), "SECRET_KEY = 'django-insecure-{}'")
_kind("client_secret", _made(32), '"client_secret": "{}"')
_kind("pin", "4921", "code pin : {}")
_kind("fullwidth colon", P, "password： {}")
_kind("fullwidth eq", P, "password＝{}")
_kind("md bold", P, "**Password:** `{}`")
_kind("md bold2", P, "**Password**: {}")
_kind("md table", "s3cr3tPass", "| password | {} |")
_kind("dotted", "s3cr3tPass", "spring.datasource.password={}")
_kind("k8s", base64.b64encode(b"s3cr3tPass!word").decode(), "kind: Secret\ndata:\n  password: {}")
_kind("camel", "s3cr3tPass", "dbPassword: '{}'")
_kind("userpw", "s3cr3tPass", "username/password: ana / {}")
_kind("creds", "s3cr3tPass", "login: ana password: {}")
_kind("token json", _made(36), '{{"token": "{}"}}')
_kind("api key is", _made(32), "my API key is {}")
_kind("cle api", _made(32), "ma clé API est {}")
_kind("powershell", "s3cr3tPass", '$env:DB_PASSWORD = "{}"')
_kind("set", "s3cr3tPass", "set DB_PASSWORD={}")
_kind("ENV docker", "s3cr3tPass", "ENV DB_PASSWORD {}")
_kind("esc json", "s3cr3tPass", '{{\\"password\\": \\"{}\\"}}')
_kind("ruby", "s3cr3tPass", ":password => '{}'")
_kind("heredoc go", "s3cr3tPass", 'Password: "{}",')
_kind("typed", "s3cr3tPass", "const password: string = '{}'")
_kind("pytyped", "s3cr3tPass", "password: str = '{}'")
_kind("or default", "s3cr3tPass", "password = os.getenv('PW') or '{}'")
_kind("getenv default", "s3cr3tPass", "os.environ.get('DB_PASSWORD', '{}')")
_kind("shell default", "s3cr3tPass", "${{DB_PASSWORD:-{}}}")
_kind("echo pipe", "s3cr3tPass", "echo '{}' | sudo -S apt update")
_kind("chpasswd", "s3cr3tPass", "echo 'ana:{}' | chpasswd")
_kind("ALTER", "s3cr3tPass", "ALTER USER ana WITH PASSWORD '{}';")
_kind("IDENTIFIED", "s3cr3tPass", "CREATE USER ana IDENTIFIED BY '{}';")
_kind("requirepass", "s3cr3tPassLong", "requirepass {}")
_kind("wpa", "s3cr3tPass", 'psk="{}"')
_kind("aws sess", _made(200, string.ascii_letters + DIGITS + "/+"), "aws_session_token={}")
_kind("otp", "otpauth://totp/acme:ana?secret=" + _made(32, string.ascii_uppercase + "234567") + "&issuer=acme")
SECRETS["otp"] = (SECRETS["otp"][0].split("secret=")[1].split("&")[0], SECRETS["otp"][1])
# cards
VISA = _checked("453275118263408")
MASTERCARD = _checked("541275341287563")
AMEX = _checked("37144963539827")
DISCOVER = _checked("601137295813640")
JCB = _checked("353829461752903")
UNIONPAY = _checked("621785132564987")
MIR = _checked("220012345678913")
UNIONPAY_19 = _checked("621234598761234598")
for name, card in {
    "visa": VISA,
    "mastercard": MASTERCARD,
    "amex": AMEX,
    "discover": DISCOVER,
    "jcb": JCB,
    "unionpay": UNIONPAY,
    "mir": MIR,
    "unionpay 19": UNIONPAY_19,
}.items():
    _kind(f"card {name}", card, "card {}, exp 09/28")
FOURS = " ".join(VISA[at : at + 4] for at in range(0, 16, 4))
_kind("card sp", FOURS, "Carte : {}")
_kind("card dash", FOURS.replace(" ", "-"), "Carte : {}")
_kind("card nnbsp", FOURS.replace(" ", "\u202f"), "Carte : {}")
_kind("card nbsp", FOURS.replace(" ", "\u00a0"), "Carte : {}")
_kind("card amex sp", AMEX[:4] + " " + AMEX[4:10] + " " + AMEX[10:], "Amex {}")
_kind("card dot", FOURS.replace(" ", "."), "Carte : {}")
_kind("card sentence end", VISA, "Ma carte est {}.")
_kind("card json", VISA, '{{"pan":{}}}')
_kind("card exp", FOURS, "{} 09/28 123")
_kind("card zh", VISA, "卡号{}，有效期")
_kind("card fullwidth", "".join(chr(ord(c) + 0xFEE0) for c in VISA), "卡号{}")
INNOCENT = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "md5 d41d8cd98f00b204e9800998ecf8427e",
    "uuid 550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "the build has no API key",
    "apiKey: env.KEY",
    "apiKey: process.env.OPENAI_API_KEY",
    "password: ********",
    "password: ••••••••",
    "password = getpass.getpass()",
    "password: str",
    "def login(user, password):",
    "The password is required.",
    "Le mot de passe est obligatoire.",
    "Mot de passe oublié ? Cliquez ici.",
    "token: expired",
    "token = tokenizer.encode(text)",
    "token count: 12345",
    "tokens: 128000",
    "max_tokens=4096",
    "max_tokens: 8192",
    "prompt_tokens=12345678",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY is Amazon's example",
    "sk-XXXXXXXXXXXXXXXXXXXXXXXX",
    "sk-your-key-here",
    "sk-...",
    "export OPENAI_API_KEY=<your-key>",
    "export OPENAI_API_KEY=$KEY",
    "export OPENAI_API_KEY=your_api_key_here",
    "api_key = os.environ['KEY']",
    "api_key=settings.api_key",
    "api_key: ${{ secrets.API_KEY }}",
    "secret: my-secret-name",
    "secretName: tls-cert-2026",
    "kubectl create secret generic db-creds",
    "ISBN 978-2-07-036822-8",
    "ISBN 9782070368228",
    "ISBN-13: 978-0-306-40615-7",
    "Call +33 6 12 34 56 78",
    "tel: 06 12 34 56 78",
    "order 4929123456780000",
    "Commande n° 2026071012345678",
    "tracking 1Z999AA10123456784",
    "IBAN FR76 3000 6000 0112 3456 7890 189",
    "timestamp 1720612345678901",
    "1720612345678",
    "epoch 1752150000000000000 ns",
    "id 1234567890123456",
    "4242 4242 4242 4242",
    "4111-1111-1111-1111",
    "2026-07-10T14:03:22.123456789",
    "3.14159265358979323846",
    "0.4532751182634080",
    "python -p 8080",
    "mkdir -p src/app",
    "docker run -p 8080:80 nginx",
    "ssh -p 2222 ana@host",
    "cp -p a b",
    "curl -u $USER:$PASS https://x",
    "curl -u user https://x",
    "http://localhost:8080/path@x",
    "git@github.com:acme/x.git",
    "ssh://git@github.com/acme/x.git",
    "https://user@host/path",
    "https://example.com/?token=abc",
    "https://x.io/?key=name&sort=desc",
    "key: value",
    "primary_key=True",
    "foreign_key: users.id",
    "key = 'username'",
    "keyboard: azerty",
    "the secret of success is work",
    "her secret: she never sleeps",
    "passage: 12345678",
    "compass: 270 degrees",
    "password_hash column",
    "password reset link",
    "reset_password_token (string)",
    "PASSWORD_MIN_LENGTH = 12",
    "password_field = 'input#password'",
    "passwords do not match",
    "AUTH_TOKEN_EXPIRY=3600s",
    "token_url: https://acme.io/oauth/token",
    "auth: basic",
    "Basic authentication with username",
    "Bearer token authentication",
    "Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${TOKEN}",
    "Token limit reached",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 ana@host",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq\n-----END CERTIFICATE-----",
    "npm_config_registry=https://registry.acme.io",
    "hf_hub_download(repo_id='acme/model')",
    "hf_transfer_enabled_by_default_in_the_new_release",
    "sk-learn-contrib-some-long-package-name",
    "task-1234567890abcdefghijklmno",
    "desk-abcdefghijklmnopqrstuvwxyz0123",
    "pk_test_publishable is public",
    "key-value-store",
    "SG.1 and SG.2",
    "AKIA is the prefix of Amazon's keys",
    "ghp_ is GitHub's prefix",
    "xoxb tokens are Slack's",
    "credentials: include",
    "credentials: 'same-origin'",
    "credential helper = store",
    "secret santa: Friday",
    "mot de passe : voir le coffre",
    "Le jeton a expiré",
    "jeton: expiré hier soir",
    "密码错误",
    "密码：请联系管理员",
    "password: see 1Password",
    "password: (hidden)",
    "password = None",
    "password: null",
    "password=''",
    "password is wrong, try again",
    "passphrase: none",
    "pass: 12 fail: 3",
    "pass=12",
    "tests pass: 1234567",
    "pass rate: 99.5%",
    "Nombre de passes : 12",
    "mode passe-partout = actif",
    "token ring: IEEE802.5",
    "api: v2.1.0-beta",
    "api_key_id: 12",
    "<password></password>",
    "<password>{{password}}</password>",
    "self.password = password",
    "user.password == form.password",
    "$password = $_POST['password'];",
    "password: process.env.DB_PASSWORD || 'x'",
    "access_key: {{ vault_access_key }}",
    "secret_key = secrets.token_hex(32)",
    "SECRET_KEY_BASE",
    "iban: DE89 3704 0044 0532 0130 00",
    "SIRET 732 829 320 00074",
    "SIREN 732829320",
    "INSEE 1 84 12 76 451 089 46",
    "Visa ends in 4242",
    "version 4.5.3.2",
    "MAC 00:1B:44:11:3A:B7",
    "ip 2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    'etag W/"0815abcdef1234567890"',
    "nonce-2726c7f26c",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "integrity: sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "container 3f4e5d6c7b8a",
    "arn:aws:iam::123456789012:role/admin",
    "s3://bucket/key/path",
    "videoId=dQw4w9WgXcQ",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "doi:10.1038/s41586-020-2649-2",
    "arXiv:2301.12345",
    "requirepass is Redis's option",
    "echo 'hello' | sudo tee file",
    "PASSWORD is a keyword of SQL",
    "psk is a pre-shared key",
    "GET /api/keys/12345678",
    "the key 'Escape' closes it",
    "private key: never share it",
    "API key: required",
    "ENV PATH /usr/bin",
    "set password_length=16",
    "docker login registry.acme.io",
    "gcloud auth login --project acme-12345",
    "mysql -u root -p mydb",
    "mysql -h db --port=3306 -P 3306",
    "pad_token = '[PAD]'",
    'eos_token: "</s>"',
    '{"token": "hello"}',
    "'password' => 'required|min:8|confirmed'",
    "<password-policy>strict2</password-policy>",
    "<key>CFBundleVersion12</key>",
    "curl -u ana:$PASS https://x",
    'curl -u "${USER}:${PASS}" https://x',
    "| token | string |",
    "| password | required |",
    "The password is case-sensitive.",
    "the password field is read-only",
    "The token is at https://acme.io/tokens/12345678901234567890",
    "Le mot de passe du compte est obligatoire",
    "code pin",
    "the PIN code is on the card",
    "GPIO pin: 4921",
    "getenv('DB_PASSWORD', 'password')",
    "fields = ('password', 'email')",
    "password or 'anonymous'",
    "Cookie: a small biscuit",
    "2019 2020 2021 2022",
    "1234 5678 9012 3456 7890",
    "4096 8192 16384 32768",
    "lot 4532 7511 8263 4087",
    "FR76 3000 6000 0112 3456 7890 189",
    "EAN 4006381333931",
    "IMEI 490154203237518",
    "tel 4915112345678",
    "id=4532751182634",
    "login to the site",
    "MD5 and SHA",
    "OTHER.METHOD.NAME",
    "NTFS.format_disk.with_a_very_long_method_name_here",
    "dp.pt. is Doppler's prefix",
    "path: 1/2 of 3",
    "sl.no",
    "eyJ is how they begin",
    "secret_sauce_of_the_company_is_its_people_and_their_work",
    "sk_learn",
    "SKU1234567890",
    "pat.on.the.back",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "key-value",
    "-us12",
    "$1$ a piece, $2 more",
    "costs $5$ or $6$",
    "PRIVATE KEY is the heading",
    "--- BEGIN ---\nprivate\n--- END ---",
    "Private-Lines: 14 is a header",
    "echo $PASS | sudo -S ls",
    "ENV PASSWORD $PASSWORD",
    "PASSWORD 'required'",
    "requirepass foobared2example",
    "basic authentication works",
    "Bearer of good news",
    "session_id=6f1e2d3c4b5a69788776655443322110",
]
