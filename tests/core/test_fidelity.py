"""What a summary may say of its sources, and what it may not: tables in French, English and Chinese."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core import calendar_notation, quantity, time_of_day
from horizon.core.claims import Kind, Literal
from horizon.core.fidelity import THINGS_MOST, check, dropped, evidence, plain
from horizon.core.prompt import OWN_MARKER
from horizon.core.quantity import quantities
from horizon.core.verdict import Rejected
from tests.core.fidelity_table import INVENTED, TRUE

ACCEPTED = [
    # source, a true summary of it
    ("J'ai lancé `sqlite3 data/x.db '.backup y.db'`.", "`sqlite3 data/x.db '.backup y.db'` a été lancé."),
    ("Le serveur a vingt et un disques.", "Le serveur a 21 disques."),
    ("Il reste 97 places.", "Il reste quatre-vingt-dix-sept places."),
    ("We kept two hundred and five rows.", "205 rows were kept."),
    ("It took 12 tries.", "It took twelve tries."),
    ("共有三台服务器。", "有 3 台服务器。"),
    ("一共处理了 1200 条记录。", "处理了一千二百条记录。"),
    ("覆盖率达到百分之三十。", "覆盖率为 30%。"),
    ("Réunion le 23 août 2026.", "La réunion est le 2026-08-23."),
    ("Deadline: 2026-08-23.", "L'échéance est le 23 août 2026."),
    ("Due on Aug 23, 2026.", "Due on 23 August."),
    ("Rendez-vous le 23/08/2026.", "Le rendez-vous est le 23 août."),
    ("会议定于2026年8月23日。", "会议在8月23日。"),
    ("The call is on August 23rd.", "L'appel est le 23 août."),
    ("Livraison le 1er septembre.", "Livraison le 1 septembre."),
    ("Nous partons du 3 au 5 mai.", "Départ le 3 mai, retour le 5 mai."),
    ("On 2026-07-09 we met.", "They met on a Thursday."),
    ("Released in May 2026.", "Sortie en mai 2026."),
    ("Le train est à 14h30.", "Le train part à 14:30."),
    ("The train is at 2:30 pm.", "Le train est à 14h30."),
    ("The train leaves at 14:30.", "The train leaves at 2:30 pm."),
    ("火车下午两点半出发，即14:30。", "火车14点30分出发。"),
    ("Déjeuner à midi.", "Le déjeuner est à 12 h."),
    ("Le fichier fait 12 345 678 octets.", "Le fichier fait 12,3 Mo."),
    ("The dump is 1,234,567 bytes.", "The dump is about 1.2 MB."),
    ("The disk holds 1024 MB.", "The disk holds 1 GB."),
    ("Il y a 12 345 lignes.", "Il y a 12,345 lignes."),
    ("Il y a 12.345 lignes.", "Il y a 12 345 lignes."),
    ("The table has 2,000,000 rows.", "La table a 2 millions de lignes."),
    ("3,5 % des requêtes échouent.", "3.5% of requests fail."),
    ("Le taux est de 49,7 %.", "Le taux est d'environ 50 %."),
    ("The rate is 12.4%.", "The rate is 12%."),
    ("The share is 0.25 of the total.", "The share is 25%."),
    ("Cela a duré 180 minutes.", "Cela a duré 3 heures."),
    ("It ran for 90 seconds.", "It ran for 1.5 minutes."),
    ("La durée est de 2h58.", "Cela a pris environ 3 heures."),
    ("Il a fallu 3 120 appels.", "Il a fallu plus de 3 000 appels."),
    ("Installé Python 3.12.4.", "Python 3.12 est installé."),
    ("Upgraded ruff to v0.17.2.", "ruff is now at 0.17.2."),
    ("Encodé en UTF-8.", "L'encodage est utf8."),
    ("J'ai modifié ./src/app/main.py.", "src/app/main.py a été modifié."),
    ("I edited src/app/main.py and its test.", "main.py was edited."),
    ("Le rapport final 2026.pdf est prêt.", "« rapport final 2026.pdf » est prêt."),
    ("Voir https://www.exemple.fr/docs/.", "Voir exemple.fr/docs pour la suite."),
    ("Écrire à marie@ruche.fr.", "L'adresse est marie@ruche.fr."),
    ("Fixed ticket 42.", "Issue #42 is fixed."),
    ("Commit 4f2a9c1be77d landed.", "Commit 4f2a9c1 landed."),
    ("Le conseil d'administration a voté.", "Le CA a voté."),
    ("marie dit qu'elle préfère SQLite", "Marie préfère SQLite."),
    ("Marie's laptop is broken.", "Le portable de Marie est en panne."),
    ("Nous avons choisi un fournisseur français.", "The French supplier was chosen."),
    ("Deux options : A ou B.\n- louer\n- acheter\n- attendre", "Trois options existent : louer, acheter, attendre."),
    ("Serveur et client sont prêts.", "Les deux sont prêts."),
    ("Tests passed, no errors.", "Les tests passent, 0 erreur."),
    ("王伟说项目延期了。", "王伟表示项目延期。"),
    ("Elle a dit : toujours répondre en unités métriques.", "Consigne : « toujours répondre en unités métriques »."),
    ("L'erreur vient du cache.", "L'erreur venait du cache. Le cache a été vidé."),
    ("We talked about the API of the shop.", "The API was discussed."),
    ("The application programming interface changed.", "The API changed."),
    ("Le port est 8080.", "Le service écoute sur le port 8080."),
    ("Il gagne 45 k€ par an.", "Il gagne 45 000 € par an."),
    ("我删除了8个旧文件。", "删除了八个旧文件。"),
    ("费用是4500元。", "花费四千五百元。"),
    ("内存从16GB升级到32GB。", "内存从16G升级到32G。"),
    ("会议改到星期五上午十点，在三号会议室。", "会议改到周五10点，在3号会议室。"),
    ("会议改到星期五上午十点，在三号会议室。", "The meeting moved to Friday at 10 am in room 3."),
    ("脚本每天凌晨两点运行。", "The script runs daily at 2 am."),
    ("预算增加了百分之 15。", "Le budget augmente de 15 %."),
    ("请发到 report@beike.cn。", "报告发送至report@beike.cn。"),
    ("日志在/var/log/app/error.log。", "日志见 error.log。"),
    ("La panne du 12 mai a fini à 15:00.", "La panne du 12 mai a fini à 15 h ; tout va bien."),
    ("They want it by the end of May.", "Ils le veulent pour fin mai."),
    ("Revenue was 3.2 million in Q3.", "Le revenu du T3 est de 3,2 M."),
    ("Half of the team prefers B.", "50 % de l'équipe préfère B."),
    ("Il en est resté la moitié.", "Il en est resté 50 %."),
    ("Cuire une demi-heure.", "Cuire 30 minutes."),
    ("Two thirds voted.", "Deux tiers ont voté."),
    ("25 cl de lait", "250 ml de lait"),
    ("It costs $1,499.", "It costs 1,499 dollars."),
    ("Le total est de 1 250,50 €.", "Le total est d'environ 1 250."),
    ("Appeler le 01 42 68 53 00.", "Appeler le 0142685300 (01.42.68.53.00)."),
    ("PostgreSQL was restarted.", "Postgres was restarted."),
    (
        '{"status":"ok","items":[' + ",".join(f'{{"id":"a{n}","size":{n * 37}}}' for n in range(30)) + '],"count":1287,"host":"srv-07"}',
        "srv-07 a renvoyé 1 287 éléments.",
    ),
]  # fmt: skip

REJECTED = [
    ("J'ai lancé `sqlite3 data/x.db '.backup y.db'`.", "`sqlite3 data/x.db '.restore y.db'` a été lancé."),
    ("Le serveur a vingt et un disques.", "Le serveur a 22 disques."),
    ("Il reste 97 places.", "Il reste quatre-vingt-sept places."),
    ("It took 12 tries.", "It took thirteen tries."),
    ("We have two servers.", "We have three servers."),
    ("共有三台服务器。", "共有五台服务器。"),
    ("处理了 1200 条记录。", "处理了一千三百条记录。"),
    ("覆盖率达到百分之三十。", "覆盖率为 40%。"),
    ("Réunion le 23 août 2026.", "La réunion est le 24 août 2026."),
    ("Réunion le 23 août 2026.", "La réunion est le 23 août 2027."),
    ("Deadline: 2026-08-23.", "Deadline: September 23."),
    ("会议定于8月23日。", "会议定于8月25日。"),
    ("Due on Aug 23.", "Due on 2026-08-21."),
    ("On 2026-07-09 we met.", "They met on a Friday."),
    ("Released in May 2026.", "Sortie en juin 2026."),
    ("Nous nous voyons bientôt.", "Rendez-vous jeudi."),
    ("Le train est à 14h30.", "Le train est à 15h30."),
    ("The train is at 2:30 pm.", "The train is at 2:45 pm."),
    ("火车下午两点半出发。", "火车3点20分出发。"),
    ("Le fichier fait 12 345 678 octets.", "Le fichier fait 12,9 Mo."),
    ("The dump is 1,234,567 bytes.", "The dump is about 2 MB."),
    ("Il y a 12 345 lignes.", "Il y a 12 346 lignes."),
    ("Il y a 12 345 lignes.", "Il y a 123 lignes."),
    ("Le taux est de 49,7 %.", "Le taux est de 59,7 %."),
    ("The rate is 12.4%.", "The rate is 13%."),
    ("Cela a duré 180 minutes.", "Cela a duré 4 heures."),
    ("It ran for 90 seconds.", "It ran for 90 minutes."),
    ("Installé Python 3.12.4.", "Python 3.13 est installé."),
    ("Upgraded ruff to v0.17.2.", "ruff is now at v0.17.21."),
    ("Upgraded to version 2.1.0.", "Upgraded to version 2.1.1."),
    ("J'ai modifié src/app/main.py.", "J'ai modifié src/app/utils.py."),
    ("I edited main.py.", "I edited main.py and test_main.py."),
    ("Logs in /var/log/nginx/error.log.", "Logs in /var/log/apache/error.log."),
    ("Le rapport final est prêt.", "rapport_final.pdf est prêt."),
    ("Voir https://exemple.fr/docs.", "Voir https://exemple.fr/aide."),
    ("Écrire à marie@ruche.fr.", "Écrire à marie@ruche.com."),
    ("Fixed ticket 42.", "Issue #43 is fixed."),
    ("Commit 4f2a9c1be77d landed.", "Commit 4f2a9c2 landed."),
    ("Call save_state() first.", "Call load_state() first."),
    ("On a parlé de la migration.", "Marie a parlé de la migration."),
    ("Nous avons choisi un fournisseur.", "Nous avons choisi Dupont Frères."),
    ("The team met.", "The team met with Alice."),
    ("Le client est content.", "Le client, Paul, est content."),
    ("王伟说项目延期了。", "李娜说项目延期了。"),
    ("The server is up.", "The server runs on Kubernetes."),
    ("Le service est lent.", "Le service est lent selon l'INSEE."),
    ("Elle a dit de répondre en mètres.", "Consigne : « toujours répondre en pieds et pouces »."),
    ("用户要求简短回答。", "用户说：「必须用英文回答」。"),
    ("Lance les tests.", "Lance `pytest --maxfail=1`."),
    ("Set the option.", "Set --verbose."),
    ("La clé est RUCHE-12.", "La clé est RUCHE-13."),
    ("Il gagne 45 k€ par an.", "Il gagne 54 000 € par an."),
    ("我删除了8个旧文件。", "我删除了6个旧文件。"),
    ("费用是4500元。", "费用是5400元。"),
    ("内存升级到32GB。", "内存升级到64GB。"),
    ("会议在上午十点。", "会议在上午十一点。"),
    ("会议在三号会议室。", "会议在五号会议室。"),
    ("脚本每天凌晨两点运行。", "脚本每天凌晨三点运行。"),
    ("保留最近30天的备份。", "保留最近60天的备份。"),
    ("They want it by the end of May.", "They want it by the end of June."),
    ("Half of the team prefers B.", "A third of the team prefers B."),
    ("Il en reste un peu.", "Il en reste la moitié."),
    ("Cuire une demi-heure.", "Cuire un quart d'heure."),
    ("25 cl de lait", "25 ml de lait"),
    ("It costs $1,499.", "It costs 1,499 euros."),
    ("Appeler le 01 42 68 53 00.", "Appeler le 01 42 68 53 01."),
    ("M. Lefèvre a appelé.", "M. Lefebvre a appelé."),
    ("Poussé sur feature/login.", "Poussé sur feature/logout."),
    ('{"count":1287,' + '"items":[],' * 60 + '"host":"srv-07"}', "1 278 éléments."),
    (
        "The build failed because the disk was full and it was not noticed in time.",
        "The build failed because the disk was full. I'm sorry that this service cannot help with your projects.",
    ),
    (
        "Le menu de la page est traduit et il est dans le dossier du site.",
        "Le menu est traduit. Les abeilles butinent volontiers les fleurs sauvages du printemps.",
    ),
    ("我们把菜单翻译成了法语，放在网站的文件夹里。", "菜单翻译成了法语。明天公司将会雇用更多优秀员工！"),
    ("Tout va bien.", ""),
    ("Tout va bien.", "   \n "),
    ("Le cache est plein.", "Le cache est plein et vidé. " * 12),
    ("Ligne.", "Une même ligne assez longue qui revient\n" * 4),
    ("Bonjour.", f"{OWN_MARKER} Bonjour."),
    ("Bonjour.", "<donnees>\nBonjour.\n</donnees>"),
]


@pytest.mark.parametrize(("source", "summary"), ACCEPTED + TRUE)
def test_no_true_summary_is_refused_for_its_notation(source, summary):
    assert check(summary, [source]) is None


@pytest.mark.parametrize(("source", "summary"), REJECTED + INVENTED)
def test_what_the_source_does_not_say_is_refused(source, summary):
    assert check(summary, [source]) is not None


def test_the_tables_are_long_enough():
    assert min(len(ACCEPTED), len(REJECTED)) >= 40


def test_an_echo_of_the_instructions_is_no_summary():
    asked = "Résume la réponse ci-dessus en 2 à 4 phrases factuelles, dans la langue du texte."
    assert check(asked, ["Le chat dort. 2 4"], instructions=asked) == "it repeats the instructions"


def test_what_one_source_of_several_says_may_be_said():
    assert check("Marie a 3 chats.", ["Marie est là.", "Il y a 3 chats."]) is None


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>hum</think>\nLe chat dort.", "Le chat dort."),
        ("```\nLe chat dort.\n```", "Le chat dort."),
        ("```text\nLe chat\ndort.\n```", "Le chat\ndort."),
        ("  Le chat dort.  ", "Le chat dort."),
        ("oui</think>Le chat dort.", "Le chat dort."),
    ],
)
def test_reasoning_and_fences_are_no_part_of_a_reply(reply, text):
    assert plain(reply) == text


@pytest.mark.parametrize("reply", ["", " ", "<think>jamais fini", "```\n```", "<think>a</think>"])
def test_a_reply_with_nothing_in_it_is_rejected(reply):
    assert isinstance(plain(reply), Rejected)


def test_evidence_is_what_was_dropped_the_most_telling_first():
    source = (
        "J'ai lancé :\n$ pytest -q tests/test_vol.py\npuis corrigé src/vol.py et lu https://exemple.fr/a.\n"
        "Le ticket RUCHE-12 est clos, version 2.1.0, écrire à marie@ruche.fr."
    )
    assert evidence("J'ai corrigé src/vol.py.", [source]) == (
        "pytest -q tests/test_vol.py",
        "https://exemple.fr/a",
        "marie@ruche.fr",
        "RUCHE-12",
        "2.1.0",
    )


def test_a_text_that_drops_nothing_has_no_evidence_beside_it():
    assert evidence("src/vol.py est corrigé.", ["J'ai corrigé src/vol.py."]) == ()


@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "123 ", "12:", "1,", "1.", "9" * 6_000 + "\u00a0111", "a", "a.", "a-", "a@", "a/", "A", "« ", "\n", " ", "一", "一万", "1月", "deux ", "cent ", "mai ", "X", "XI ", "Aa a ", "a, ", "a、", "10^", "1/2 ", "half ", "e5", "1e1", "@1.", "a==", "un demi ", "two thirds of "],
)  # fmt: skip
def test_a_very_long_text_of_one_thing_is_checked_without_trouble(piece):
    source = piece * (100_000 // len(piece))
    assert check("Il y a 4242 fichiers dans src/vol.py.", [source])
    assert len(evidence("", [source])) <= THINGS_MOST


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=3))
def test_the_check_answers_for_any_text(text, sources):
    found = check(text, sources)
    assert found is None or found


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=" \n.,:/-_#`@%0123456789aAéÉ的三月日點h一", max_size=200), st.text(max_size=50))
def test_a_text_of_marks_and_digits_is_checked_too(text, more):
    check(text, [more])
    for thing in evidence(more, [text]):
        assert thing.strip()


@pytest.mark.parametrize("text", sorted({text for pair in ACCEPTED + REJECTED + TRUE + INVENTED for text in pair}))
def test_looking_for_signs_first_hides_no_quantity(text, monkeypatch):
    found = quantities(text)
    anywhere = re.compile("")
    for module, signs in (
        (quantity, ("_DECADE_SIGN", "_ORDINAL_SIGN")),
        (time_of_day, ("SIGN", "SPOKEN_SIGN")),
        (calendar_notation, ("_WEEKDAY_SIGN",)),
    ):
        for sign in signs:
            monkeypatch.setattr(module, sign, anywhere)
    monkeypatch.setattr(quantity, "_FRACTION_SIGNS", ("",))
    monkeypatch.setattr(
        calendar_notation, "_DAY_READERS", tuple((anywhere, readers) for _, readers in calendar_notation._DAY_READERS)
    )
    assert quantities(text) == found


SOURCES = [source for source, _ in ACCEPTED + TRUE if "\n" not in source]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4, unique=True), st.data())
def test_sources_support_each_of_their_own_sentences(sources, data):
    assert check(data.draw(st.sampled_from(sources)), sources) is None


@given(text=st.text(max_size=60), things=st.lists(st.text(max_size=8), max_size=6))
def test_what_was_dropped_is_told_of_any_things_in_their_order(text, things):
    literals = [Literal(kind=Kind.PATH, text=thing, start=0) for thing in things]
    told = dropped(text, literals)
    assert [each for each in (" ".join(thing.split()) for thing in things) if each in told] == list(told)


@pytest.mark.parametrize("thing", ["", " ", "\u0301", "\u0301\u0308"])
def test_a_thing_of_which_folding_leaves_nothing_is_not_missing(thing):
    assert dropped("text", [Literal(kind=Kind.PATH, text=thing, start=0)]) == ()
