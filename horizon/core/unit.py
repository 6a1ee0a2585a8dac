"""Units, currencies and multipliers by their French, English and Chinese names, and what each is of its base (spec 1-horizon §7)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

_TABLE: Final = {
    "bytes": (
        (1, "o|octet|octets|b|byte|bytes|字节"), (10**3, "ko|kb|kio|kib"), (10**6, "mo|mb|mio|mib|兆"), (10**9, "go|gb|gio|gib"),
        (10**12, "to|tb|tio|tib"),
    ),
    "seconds": (
        (Fraction(1, 1000), "ms|milliseconde|millisecondes|millisecond|milliseconds|毫秒"), (1, "s|sec|secs|seconde|secondes|second|seconds|秒|秒钟"),
        (60, "min|mins|minute|minutes|mn|分钟"), (3_600, "h|heure|heures|hour|hours|hr|hrs|小时|个小时"), (86_400, "j|jour|jours|day|days|天"),
        (604_800, "semaine|semaines|week|weeks|周|个星期|星期"), (2_629_800, "mois|month|months|个月"),
        (31_557_600, "an|ans|année|années|year|years|年"),
    ),
    "metres": (
        (Fraction(1, 1000), "mm|millimètre|millimètres"), (Fraction(1, 100), "cm|centimètre|centimètres|厘米"),
        (1, "m|mètre|mètres|metre|metres|meter|meters|米"), (1000, "km|kilomètre|kilomètres|kilometers|kilometres|公里|千米"),
    ),
    "grams": (
        (Fraction(1, 1000), "mg"), (1, "g|gramme|grammes|gram|grams|克"), (1000, "kg|kilo|kilos|kilogrammes|kilograms|公斤|千克"),
        (10**6, "tonne|tonnes|吨"),
    ),
    "litres": (
        (Fraction(1, 1000), "ml|millilitre|millilitres|毫升"), (Fraction(1, 100), "cl|centilitre|centilitres"), (Fraction(1, 10), "dl"),
        (1, "l|litre|litres|liter|liters|升"),
    ),
    "share": ((Fraction(1, 100), "%|pour cent|pourcent|percent|per cent|pourcents"),),
    "euros": ((1, "€|eur|euro|euros|欧元"),),
    "dollars": ((1, "$|usd|dollar|dollars|美元"),),
    "pounds": ((1, "£|gbp"),),
    "francs": ((1, "chf|franc|francs|瑞士法郎"),),
    "yuan": ((1, "¥|元|块|块钱|cny|rmb|yuan|人民币"),),
}  # fmt: skip
UNITS: Final = {
    name: (dimension, Fraction(value))
    for dimension, units in _TABLE.items()
    for value, names in units
    for name in names.split("|")
}
"""By name: the dimension, and how many of its base units the unit is."""
MONEY_BEFORE: Final = {
    "€": "euros",
    "eur": "euros",
    "$": "dollars",
    "usd": "dollars",
    "£": "pounds",
    "gbp": "pounds",
    "chf": "francs",
    "¥": "yuan",
    "cny": "yuan",
    "rmb": "yuan",
}
"""Signs and codes that stand before their number."""
LOOSE: Final = frozenset({"share", *MONEY_BEFORE.values()})
"""Dimensions that a number may have without their sign beside it."""
MULTIPLIERS: Final = {
    "k": 10**3, "mille": 10**3, "thousand": 10**3, "millier": 10**3, "milliers": 10**3, "千": 10**3, "万": 10**4, "m": 10**6, "million": 10**6,
    "millions": 10**6, "mn": 10**6, "亿": 10**8, "milliard": 10**9, "milliards": 10**9, "billion": 10**9, "billions": 10**9, "bn": 10**9, "百万": 10**6, "dozen": 12, "dozens": 12,
    "dizaine": 10, "dizaines": 10, "douzaine": 12, "douzaines": 12, "centaine": 100, "centaines": 100,
}  # fmt: skip
