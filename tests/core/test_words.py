"""Which words of the keeper are standing orders."""

import pytest

from horizon.core.words import is_standing_order


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in metric units",
        "Thanks! From now on, call me Ada.",
        "Please never touch the production database.",
        "Hello. Remember that I am allergic to nuts.",
        "You must always cite the file",
        "make sure to always run the tests",
        "Don't ever push on Friday",
        "Réponds toujours en français.",
        "Ne touche jamais à main.",
        "Désormais, tutoie-moi",
        "Bonjour ! Retiens que je suis végétarienne",
        "N'oublie jamais l'en-tête",
        "à partir de maintenant on écrit en mètres",
        "Il faut toujours relire",
        "以后请用公制单位回答",
        "请总是用中文回答",
        "记住我对花生过敏",
        "每次都要先跑测试",
    ],
)
def test_standing_orders_are_recognised(text):
    assert is_standing_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "I always eat fish on Fridays",
        "She has never been to Paris",
        "J'ai toujours aimé la mer",
        "On n'y va jamais le dimanche, pourquoi donc",
        "What do you remember of yesterday?",
        "Ça marche, merci beaucoup",
        "他总是迟到",
        "",
    ],
)
def test_chatter_is_no_order(text):
    assert not is_standing_order(text)
