"""What is masked as a secret, by its shape, and what is left alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core import card_number, key_shape, redaction
from horizon.core.redaction import MASK, redact
from tests.core.secret_table import INNOCENT, SECRETS

# Shapes are put together here, so that no scanner takes this file for a leak.
LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD"


def key(prefix, length, letters=LETTERS):
    return prefix + (letters * 9)[:length]


MASKED = [
    (key("sk-", 48), MASK),
    ("export OPENAI_API_KEY=" + key("sk-proj-", 60), f"export OPENAI_API_KEY={MASK}"),
    ("clé " + key("sk-ant-api03-", 80) + " fin", f"clé {MASK} fin"),
    (key("ghp_", 36), MASK),
    (key("github_pat_", 60), MASK),
    (key("glpat-", 20), MASK),
    ("AKIA" + "Q3ZT7KLM2NPR5VWX", MASK),
    (key("AIza", 35), MASK),
    (key("xoxb-", 30), MASK),
    (key("sk_live_", 24), MASK),
    (key("hf_", 34), MASK),
    (key("npm_", 36), MASK),
    (key("pypi-", 60), MASK),
    (key("SG.", 22) + "." + key("", 43), MASK),
    (key("hvs.", 24), MASK),
    ("12345678:AA" + key("", 33), MASK),
    (".".join((key("eyJ", 20), key("eyJ", 40), key("", 30))), MASK),
    ("Authorization: Bearer " + key("", 40), f"Authorization: Bearer {MASK}"),
    ("curl -H 'X-Api-Key: " + key("", 32) + "'", f"curl -H 'X-Api-Key: {MASK}'"),
    ("password=dev_" + key("ghp_", 36), f"password=dev_{MASK}"),
    ("le mot de passe est dev-" + key("ghp_", 36), f"le mot de passe est dev-{MASK}"),
    (key("AIza", 35) + "AKIA" + "Q3ZT7KLM2NPR5VWX", MASK + MASK),
    ("postgres://marie:s3same!@db:5432/ruche", f"postgres://marie:{MASK}@db:5432/ruche"),
    ("redis://:hunter22@cache:6379", f"redis://:{MASK}@cache:6379"),
    ("https://api.test/v1?api_key=q1w2e3r4t5&x=1", f"https://api.test/v1?api_key={MASK}&x=1"),
    ("password = hunter2rules", f"password = {MASK}"),
    ('"password": "correct-horse-9"', f'"password": "{MASK}"'),
    ("DB_PASSWORD='p@ss w0rd!'", f"DB_PASSWORD='{MASK}'"),
    ("mot de passe : Tr0ub4dor&3", f"mot de passe : {MASK}"),
    ("mot de passe : «Tr0ub4dor&3»", f"mot de passe : «{MASK}»"),
    ("le mot de passe est Tr0ub4dor&3.", f"le mot de passe est {MASK}."),
    ("The password is Tr0ub4dor&3", f"The password is {MASK}"),
    ("密码：abc123xyz789", f"密码：{MASK}"),
    ("密码是 abc123xyz789", f"密码是 {MASK}"),
    ("client_secret: 8f14e45fceea167a5a36", f"client_secret: {MASK}"),
    ("mysql --password=xK93mzP1 -u root", f"mysql --password={MASK} -u root"),
    ("carte 4539 1488 0343 6467 merci", f"carte {MASK} merci"),
    ("5425233430109903", MASK),
    ("3714-496353-98431", MASK),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\nfin",
        f"{MASK}\nfin",
    ),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", MASK),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ1w2E3r4", f"AWS_SECRET_ACCESS_KEY={MASK}"),
]

LEFT_ALONE = [
    "the build has no API key",
    "apiKey: env.KEY",
    "apiKey: process.env.OPENAI_API_KEY",
    "api_key=os.environ['KEY']",
    "password = getpass()",
    "password: str",
    "password: str | None = None",
    "token: expired",
    "token = tokenizer.next()",
    "API_TOKEN=${TOKEN}",
    "password={{ vault_password }}",
    "export OPENAI_API_KEY=<your key>",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "postgres://user:password@localhost/db",
    "postgres://localhost:5432/db",
    "https://exemple.fr:8443/a@b",
    "4242 4242 4242 4242",
    "commande 4539 1488 0343 6468",
    "numéro 2026082314300012",
    "le mot de passe est obligatoire",
    "the password is required",
    "j'ai oublié mon mot de passe",
    "commit 4f2a9c1be77d0a9934bb12de5f6a7b8c9d0e1f23",
    "550e8400-e29b-41d4-a716-446655440000",
    "sk-learn est une bibliothèque",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "passe par src/token/secret.py",
    "secret: /run/secrets/db",
    "the secret of bees",
    "keys: a, b, c",
    "token count: 4096",
    "max_tokens=4096",
    "num_predict token=512",
    "Bearer tokens are refused",
    "Authorization: required for every call",
    f"password = {MASK}",
]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_secrets_are_masked_and_nothing_else_of_the_text(text, masked):
    assert redact(text) == masked


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_no_secret_is_left_alone(text):
    assert redact(text) == text


@pytest.mark.parametrize("kind", SECRETS)
def test_no_eight_characters_of_a_secret_are_left(kind):
    secret, text = SECRETS[kind]
    masked = redact(text)
    size = min(len(secret), 8)
    assert not [secret[at : at + size] for at in range(len(secret) - size + 1) if secret[at : at + size] in masked]
    assert redact(masked) == masked


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_texts_stay_as_they_are(text):
    assert redact(text) == text


@pytest.mark.parametrize("text", [text for text, _ in MASKED])
def test_masking_twice_changes_nothing(text):
    assert redact(redact(text)) == redact(text)


def test_the_mask_is_no_mark_of_the_view():
    assert "[" not in MASK


PIECES = st.sampled_from(
    [text for text, _ in MASKED]
    + LEFT_ALONE
    + [text for _, text in SECRETS.values()]
    + INNOCENT
    + ["\n", " ", "=", ":", "'", '"', "password", "@", "://"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES | st.text(max_size=12), max_size=8).map("".join))
def test_masking_any_text_twice_is_masking_it_once(text):
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES | st.sampled_from([key("", 40), "ſ", "İ", "\u212a", " is ", "clé d'api"]) | st.text(max_size=6), max_size=8).map("".join))  # fmt: skip
def test_looking_for_signs_first_hides_no_secret(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_has", lambda _text, _signs: True)
        patch.setattr(redaction, "_follows", lambda _known, _names, _end: True)
        patch.setattr(redaction, "_COMMANDS", (("", ("",)),))
        patch.setattr(key_shape, "SIGNS", tuple(("", shape) for _, shape in key_shape.SIGNS))
        patch.setattr(card_number, "SIGN", re.compile(""))
        without = redact(text)
    assert redact(text) == without


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "a.", "a-", "a_", "a:", "1 ", "4539 ", "sk", "AKIA", "12345678:AA", "://", "password", "token=", "=a", "a@", "<", " ", "\n", "密码"),
        *("curl -u a ", "echo a", "login x -p", "login a password ", "password is ", "<password>", "('password', '", "password = a or '"),
        *("1//0", "MTA0", "EAA", "AAAA", "0/1", "4532 7511 ", "----BEGIN PRIVATE KEY----", "cookie: a=", "|password", "Private-Lines: 1\n"),
        *("$2b$", "eyJaaaaaaaaa.", "sl.", "password: string", "https://a1", "aaaaaaaaaaaaaa.atlasv1.", "ENV A\n", "username/password:a", "code pin "),
    ],
)  # fmt: skip
def test_a_very_long_text_of_one_thing_is_masked_without_trouble(piece):
    text = piece * (300_000 // len(piece))
    assert redact(f"{text} {key('ghp_', 36)}").endswith(MASK)
