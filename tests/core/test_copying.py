"""A summary that gives the transcript back is told from one that says what happened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core.copying import SHARE, WORDS_LEAST, is_copied

FRENCH = (
    (
        "Peux-tu regarder pourquoi la sauvegarde de nuit du rucher n'est pas passée hier soir, et me dire si les relevés de la "
        "balance du verger sont encore là ?"
    ),
    (
        "La sauvegarde s'est arrêtée à trois heures parce que le disque était plein ; j'ai effacé les vieilles archives, relancé "
        "la copie, et les relevés de la balance du verger sont tous là, du premier mars à hier soir compris."
    ),
)
ENGLISH = (
    (
        "Could you find out why the nightly backup of the apiary did not run yesterday, and tell me whether the readings of the "
        "orchard scale are still there?"
    ),
    (
        "The backup stopped at three because the disk was full; I removed the old archives, started the copy again, and all of "
        "the readings of the orchard scale are there, from the first of March up to yesterday evening."
    ),
)
CHINESE = (
    "你能看看昨天晚上养蜂场的备份为什么没有完成吗？另外请告诉我果园里那台秤的读数是不是还在，我下周要把它们交给合作社，如果丢了就得重新抄一遍。",
    "备份在凌晨三点停了，因为磁盘已经满了。我删掉了旧的归档文件，重新开始了复制，果园里那台秤的读数全部都在，从三月一日一直到昨天晚上，一条也没有少，你可以放心交给合作社。",
)


@pytest.mark.parametrize("said", [FRENCH, ENGLISH, CHINESE])
def test_the_exchanges_given_back_are_a_copy_with_their_labels_and_without(said):
    assert is_copied(f"Lui : {said[0]}\nToi : {said[1]}", said)
    assert is_copied(" ".join(said), said)
    assert is_copied(" ".join(said).upper(), said)


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("La sauvegarde de nuit s'est arrêtée parce que le disque était plein.", FRENCH),
        (FRENCH[0], FRENCH),  # short: it may say a sentence as it was said
        (
            (
                "La sauvegarde de nuit n'était pas passée : le disque était plein à trois heures. L'agent a fait de la place en ôtant "
                "de vieilles archives puis a recommencé la copie. Les relevés de la balance du verger, que la personne craignait "
                "d'avoir perdus, n'ont pas souffert ; ils vont du début de mars jusqu'à la veille au soir. Rien d'autre n'a été "
                "demandé de toute la journée, ni réparé."
            ),
            FRENCH,
        ),
        (
            (
                "The nightly backup had failed since the disk was full at three. The agent made room by deleting old archives and ran "
                "it again. The scale's readings in the orchard, which the keeper feared were lost, are complete from early March to "
                "last evening. Nothing else was asked that day, and no other repair was needed, so the keeper went back to work and "
                "thanked the agent for its help."
            ),
            ENGLISH,
        ),
        ("昨晚养蜂场的备份因为磁盘满了而中断，助手清理旧归档后重新备份，秤的读数完整无缺。", CHINESE),
        ("Pour Lui : rien de neuf.", FRENCH),
    ],
)
def test_a_true_summary_is_none(summary, said):
    assert not is_copied(summary, said)


WORDS = st.lists(
    st.sampled_from(
        [
            "ruche",
            "miel",
            "verger",
            "cadre",
            "essaim",
            "pollen",
            "nectar",
            "colonie",
            "reine",
            "balance",
            "hausse",
            "pré",
        ]
    ),
    max_size=150,
)


@given(WORDS, st.integers(0, 150))
def test_only_what_is_long_is_judged_by_its_words_and_then_a_stretch_of_the_source_is_a_copy(words, length):
    stretch = words[:length]
    assert is_copied(" ".join(stretch), (" ".join(words),)) == (len(stretch) >= WORDS_LEAST)


@given(st.integers(0, 100))
def test_words_of_its_own_make_it_none_from_their_share_on(own):
    source = [f"mot{number}" for number in range(100)]
    told = [f"propre{number}" for number in range(own)] + source[own:]
    copied = 100 - own if 100 - own >= 8 else 0
    assert is_copied(" ".join(told), (" ".join(source),)) == (copied >= SHARE * 100)
