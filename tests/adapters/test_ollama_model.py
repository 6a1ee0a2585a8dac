"""The summarizer over real HTTP: what is sent, what is believed, and how each failure is told."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import httpx
import ollama
import pydantic
import pytest

from horizon.adapters import ollama_model
from horizon.adapters.ollama_model import OllamaModel, base_url
from horizon.errors import InvalidInput, ModelUnavailable
from horizon.ports import Answered, ModelRequest, Rejected
from tests import ollama_behaviour as how

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "maxLength": 20}},
    "required": ["a"],
    "additionalProperties": False,
}


def request(**more):
    given = {"model": "ollama/qwen3", "prompt": "Bonjour", "reply_tokens": 100, "context": 4096, "timeout": 10}
    return ModelRequest(**given | more)


@pytest.fixture
def model(ollama_server):
    return OllamaModel(host=ollama_server.host)


def test_a_reply_comes_back_whole_with_its_counts(ollama_server, model):
    ollama_server.answer("Bonjour à toi, il fait beau.")
    answer = model.chat(request(system="Sois bref."))
    assert isinstance(answer, Answered)
    assert answer.text == "Bonjour à toi, il fait beau."
    assert answer.prompt_tokens > 0
    assert answer.reply_tokens > 0
    assert answer.seconds >= 0
    (body,) = ollama_server.requests
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["stream"] is True


def test_every_call_carries_the_same_options_but_for_the_reply_s_bound(ollama_server, model):
    ollama_server.answer("oui")
    model.chat(request(prompt="a", reply_tokens=10))
    model.chat(request(prompt="b" * 3000, reply_tokens=200, schema=SCHEMA))
    first, second = (body["options"] for body in ollama_server.requests)
    assert first.pop("num_predict") == 10
    assert second.pop("num_predict") == 200
    assert first == second
    assert first["num_ctx"] == 4096
    assert "format" not in ollama_server.requests[0]
    assert ollama_server.requests[1]["format"] == SCHEMA


def test_the_window_is_the_model_s_where_that_is_smaller(ollama_server, model):
    ollama_server.model("petit", window=2048).answer("oui")
    assert isinstance(model.chat(request(model="ollama/petit", context=8192)), Answered)
    assert ollama_server.requests[0]["options"]["num_ctx"] == 2048


def test_what_cannot_fit_is_refused_before_it_is_sent_and_names_the_window(ollama_server, model):
    ollama_server.model("petit", window=2048)
    found = model.chat(request(model="ollama/petit", prompt="mot " * 3000, context=8192))
    assert isinstance(found, Rejected)
    assert found.window == 2048
    assert ollama_server.requests == []


def test_chinese_counts_a_token_for_each_character(ollama_server, model):
    assert isinstance(model.chat(request(prompt="记" * 4000)), Rejected)
    assert ollama_server.requests == []


@pytest.mark.parametrize(
    ("name", "card", "think"),
    [
        ("qwen3", {}, None),
        ("qwen3", {"thinking": True}, False),
        ("gpt-oss:20b", {"thinking": True}, "low"),
        ("mien", {"thinking": True, "family": "gptoss"}, "low"),
    ],
)
def test_thinking_is_switched_off_as_the_model_takes_it(ollama_server, model, name, card, think):
    ollama_server.model(name, **card).answer("oui")
    assert isinstance(model.chat(request(model=f"ollama/{name}")), Answered)
    assert ollama_server.requests[0].get("think") == think


def test_thoughts_left_in_the_content_are_no_part_of_the_answer(ollama_server, model):
    ollama_server.answer(how.thinking("La réponse."))
    assert model.chat(request()).text == "La réponse."


def test_what_no_wire_carries_is_cleaned_away(ollama_server, model):
    ollama_server.answer("oui")
    assert isinstance(model.chat(request(prompt="a\ud800b\0c", system="d\udfff")), Answered)
    (body,) = ollama_server.requests
    assert [message["content"] for message in body["messages"]] == ["d?", "a?bc"]


@pytest.mark.parametrize(
    ("behaviour", "word"),
    [
        (how.empty(), "empty"),
        (how.null(), "empty"),
        (how.only_thinking(), "empty"),
        (how.text("<think>hmm, hmm"), "reasoning"),
        (how.length("coupé"), "length"),
        (how.text("mot", done_reason="load"), "load"),
        (how.text("mot", done_reason=None), "no reason"),
        (how.cut_prompt("mot"), "cut the prompt"),
        (how.text("mot", prompt_eval_count=3), "cut the prompt"),
        (how.no_message(), "fields"),
        (how.exceed_context(), "too long"),
        (how.status(400, "invalid options"), "invalid options"),
        (how.status(401, "unauthorized"), "OLLAMA_API_KEY"),
        (how.status(403, "forbidden"), "OLLAMA_API_KEY"),
        (how.status(404, "model 'qwen3' not found"), "ollama pull qwen3"),
    ],
)
def test_what_is_no_usable_answer_is_rejected(ollama_server, model, behaviour, word):
    ollama_server.answer(behaviour)
    found = model.chat(request(prompt="un deux trois quatre cinq six sept huit neuf dix"))
    assert isinstance(found, Rejected)
    assert word in found.reason


@pytest.mark.parametrize(
    "behaviour",
    [
        *(how.status(code) for code in (408, 425, 429, 500, 502, 503, 504, 507, 520)),
        how.html(503),
        how.html(200),
        how.reset(),
        how.cut("un texte coupé"),
        how.half_line("une ligne"),
        how.no_done("sans fin"),
        how.mid_error(),
        how.Behaviour(raw=b""),
        how.Behaviour(raw=b"null\n"),
        how.Behaviour(raw=b'["a"]\n'),
        how.Behaviour(raw=b'{"error": {"code": 1}}\n'),
        how.Behaviour(raw=b"\xff\xfe{}\n"),
    ],
    ids=str,
)
def test_what_never_came_to_an_answer_is_unavailable(ollama_server, model, behaviour):
    ollama_server.answer(behaviour)
    with pytest.raises(ModelUnavailable):
        model.chat(request())


@pytest.mark.parametrize("code", [400, 500, 503])
@pytest.mark.parametrize("said", ["Célimène loge au 14 rue des Hautes-Feuilles.", "周末我和李明去了西湖旁边的茶馆喝茶"])
def test_an_error_that_repeats_the_question_is_told_without_its_words(ollama_server, model, code, said):
    def told():
        try:
            return model.chat(request(prompt=f"Résume ceci : {said} Et le reste.")).reason
        except ModelUnavailable as error:
            return str(error)

    ollama_server.answer(how.status(code, f"cannot parse: ' {said.lower()[:30]}"))
    assert f"status {code}" in told()
    assert not any(said.lower()[at : at + 6] in told().lower() for at in range(len(said) - 6))

    ollama_server.answer(how.status(code, "model requires more system memory (5.6 GiB) than is available"))
    assert "more system memory (5.6 GiB)" in told()


def test_a_refused_connection_is_unavailable_and_comes_back(ollama_server, model):
    ollama_server.answer("oui").refuse()
    with pytest.raises(ModelUnavailable, match="is Ollama running"):
        model.chat(request())
    assert "is Ollama running" in model.available("ollama/qwen3")
    ollama_server.listen()
    assert isinstance(model.chat(request()), Answered)
    assert model.available("ollama/qwen3") is None


def test_a_silent_server_is_left_at_the_deadline(ollama_server, model):
    ollama_server.answer(how.hang())
    with pytest.raises(ModelUnavailable, match="in time"):
        model.chat(request(timeout=0.3))


def test_a_reply_that_stops_in_the_middle_is_left_when_idle(ollama_server, model, monkeypatch):
    monkeypatch.setattr(ollama_model, "IDLE_SECONDS", 0.3)
    ollama_server.answer(how.hang("middle"))
    with pytest.raises(ModelUnavailable, match="in time"):
        model.chat(request(timeout=60))


def test_a_reply_that_trickles_is_left_at_the_deadline(ollama_server, model):
    ollama_server.answer(how.slow("a b c d " * 10, pace=0.2))
    with pytest.raises(ModelUnavailable, match="not finished"):
        model.chat(request(timeout=0.3))


def test_a_reply_without_end_is_given_up(ollama_server, model, monkeypatch):
    monkeypatch.setattr(ollama_model, "PARTS_SPARE", 0)
    ollama_server.answer("un deux trois quatre cinq")
    found = model.chat(request(reply_tokens=1))
    assert isinstance(found, Rejected)
    assert "without end" in found.reason


def test_a_reply_in_few_but_huge_parts_is_given_up_too(ollama_server, model):
    ollama_server.answer("x" * 2_000_000)
    found = model.chat(request(reply_tokens=400))
    assert isinstance(found, Rejected)
    assert "without end" in found.reason


def _all_below(kind):
    yield kind
    for lower in kind.__subclasses__():
        yield from _all_below(lower)


RAISED = [
    *(
        kind("boom")
        for kind in _all_below(httpx.HTTPError)
        if kind is not httpx.HTTPStatusError and kind.__module__.startswith("httpx")
    ),
    httpx.HTTPStatusError("boom", request=httpx.Request("GET", "http://h"), response=httpx.Response(500)),
    httpx.StreamClosed(),
    httpx.StreamConsumed(),
    httpx.ResponseNotRead(),
    httpx.RequestNotRead(),
    ConnectionError("boom"),
    ConnectionResetError("boom"),
    TimeoutError("boom"),
    OSError("boom"),
    ValueError("boom"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "boom"),
    TypeError("boom"),
    AttributeError("boom"),
    KeyError("boom"),
    *(
        ollama.ResponseError("boom", code)
        for code in (
            -1,
            301,
            304,
            307,
            400,
            401,
            402,
            403,
            404,
            405,
            408,
            413,
            418,
            422,
            425,
            429,
            451,
            500,
            501,
            502,
            503,
            504,
            520,
            599,
        )
    ),
    ollama.RequestError("boom"),
    pydantic.ValidationError.from_exception_data("boom", []),
]


@pytest.mark.parametrize("error", RAISED, ids=repr)
def test_every_error_of_the_client_and_its_transport_has_its_place(model, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ollama.Client, "chat", fail)
    try:
        found = model.chat(request())
    except ModelUnavailable as unavailable:
        assert "qwen3" in str(unavailable)  # noqa: PT017  # either outcome is right, each has its own check
    else:
        assert isinstance(found, Rejected)
        assert found.reason


def test_an_address_that_the_transport_cannot_take_is_the_caller_s_mistake(model, monkeypatch):
    def fail(*_, **__):
        raise httpx.InvalidURL("boom")

    monkeypatch.setattr(ollama.Client, "chat", fail)
    with pytest.raises(InvalidInput):
        model.chat(request())


def test_a_model_that_is_not_there_is_named_with_what_to_do(ollama_server, model):
    found = model.chat(request(model="ollama/absent"))
    assert isinstance(found, Rejected)
    assert found.final
    assert "ollama pull absent" in found.reason
    assert "ollama pull absent" in model.available("ollama/absent")
    assert ollama_server.requests == []


@pytest.mark.parametrize("name", ["qwen3", "QWEN3", "qwen3:latest"])
def test_names_match_as_ollama_matches_them(model, name):
    assert model.available(f"ollama/{name}") is None


@pytest.mark.parametrize("mode", ["503", "html", "reset"])
def test_the_health_check_says_why_a_server_is_not_well(ollama_server, model, mode):
    ollama_server.switch(mode)
    assert model.available("ollama/qwen3")


def test_json_that_is_nested_without_end_is_no_reply(ollama_server, model):
    ollama_server.switch("deep")
    assert "not a reply of Ollama's" in model.available("ollama/qwen3")
    with pytest.raises(ModelUnavailable, match="not a reply of Ollama's"):
        model.chat(request())


def test_the_health_check_does_not_wait_for_a_server_that_hangs(ollama_server, model, monkeypatch):
    monkeypatch.setattr(ollama_model, "HEALTH_SECONDS", 0.3)
    ollama_server.switch("hang")
    assert "in time" in model.available("ollama/qwen3")


def test_models_of_a_company_s_servers_are_not_among_those_that_a_server_offers(ollama_server):
    ollama_server.model("gpt-oss:120b-cloud").answer("oui")
    found = OllamaModel(host=ollama_server.host).models()
    assert found
    assert not any("cloud" in name for name in found)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("ruche.local", "http://ruche.local:11434"),
        ("ruche.local:8080", "http://ruche.local:8080"),
        ("http://ruche.local", "http://ruche.local:80"),
        ("https://ruche.local", "https://ruche.local:443"),
        ("HTTPS://ruche.local/ollama/", "https://ruche.local:443/ollama"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("[::]:11434", "http://[::1]:11434"),
        ("[fe80::1]", "http://[fe80::1]:11434"),
        (":1234", "http://127.0.0.1:1234"),
        (' "10.0.0.2" ', "http://10.0.0.2:11434"),
        ("http://bob:pw@ruche:1", "http://bob:pw@ruche:1"),
    ],
)
def test_an_address_is_read_as_ollama_reads_it(host, url):
    assert base_url(host) == url


@pytest.mark.parametrize(
    "host",
    [
        "ftp://h",
        "h:port",
        "h:99999",
        "h:0",
        "http://[::1",
        "a b",
        "http://h\n:1",
        "unix:///x",
        "h?a=1",
        "h#a",
        "a..b",
        "é" * 70,
    ],
)
def test_what_can_be_no_address_is_the_caller_s_mistake(host, monkeypatch):
    with pytest.raises(InvalidInput):
        base_url(host)
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(InvalidInput):
        OllamaModel().chat(request())
    assert OllamaModel().available("ollama/qwen3")


def test_the_address_and_the_key_come_from_the_environment(ollama_server, monkeypatch):
    ollama_server.answer("oui")
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    monkeypatch.setenv("OLLAMA_API_KEY", "clef-a")
    assert isinstance(OllamaModel().chat(request()), Answered)
    assert isinstance(OllamaModel(api_key="clef-b").chat(request()), Answered)
    assert [key for path, key in ollama_server.keys if path == "/api/chat"] == ["Bearer clef-a", "Bearer clef-b"]


def test_a_password_in_the_address_is_not_told(ollama_server):
    port = ollama_server.port
    ollama_server.refuse()
    with pytest.raises(ModelUnavailable) as found:
        OllamaModel(host=f"http://bob:sesame@127.0.0.1:{port}").chat(request())
    assert "sesame" not in str(found.value)


def test_proxies_for_the_outside_are_not_used_for_this_machine(ollama_server, monkeypatch):
    ollama_server.answer("oui")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert isinstance(OllamaModel(host=ollama_server.host).chat(request()), Answered)


def test_making_one_loads_nothing():
    code = (
        "import sys; from horizon.adapters.ollama_model import OllamaModel; OllamaModel(host='h');"
        "sys.exit(any(name in sys.modules for name in ('ollama', 'httpx', 'pydantic')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_bad_address_in_the_environment_does_not_break_the_import():
    code = (
        "from horizon.adapters.ollama_model import OllamaModel; from horizon.errors import InvalidInput\n"
        "try: OllamaModel(host='127.0.0.1:1')._client\n"
        "except InvalidInput: pass\n"
        "print(OllamaModel(host='127.0.0.1:1').available('ollama/x'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={"OLLAMA_HOST": "h:port"}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "OLLAMA_HOST" in run.stdout


def test_threads_may_share_one(ollama_server, model):
    ollama_server.answer(lambda body: body["messages"][-1]["content"].upper())
    answers = {}

    def ask(number):
        answers[number] = model.chat(request(prompt=f"numéro {number}"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: answer.text for number, answer in answers.items()} == {n: f"NUMÉRO {n}" for n in range(8)}


def test_leaving_a_reply_ends_the_connection(ollama_server, model):
    ollama_server.answer(how.slow("a b c d " * 10, pace=0.05))
    with pytest.raises(ModelUnavailable):
        model.chat(request(timeout=0.01))
    ended = time.monotonic() + 10
    while ollama_server.busy_now and time.monotonic() < ended:
        time.sleep(0.01)
    assert ollama_server.busy_now == 0
