"""The shapes of keys that vendors give out, each with what such a key cannot be without (spec 1-horizon §7).

A shape that begins with a telling prefix is found wherever it stands, also glued to a word; one whose prefix is
short or common must stand on its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALONE: Final = r"(?<![A-Za-z0-9_.+/=-])"
_NO_WORD: Final = r"(?<![A-Za-z_])"
_ANY: Final = "[A-Za-z0-9_-]"

SHAPES: Final[Mapping[str, tuple[str, ...]]] = {
    # Models
    r"sk-(?<![A-Za-z_]sk-)(?:proj-|ant-|svcacct-|admin-|or-v1-|lf-)?(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{20,}": (
        "sk-",
    ),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    rf"{_NO_WORD}(?:r8|gsk|tvly|pplx|nvapi|lin_api|figd|sbp|phc|phx)[_-]{_ANY}{{24,}}": (
        *("r8_", "r8-", "gsk_", "gsk-", "tvly_", "tvly-", "pplx_", "pplx-", "nvapi_", "nvapi-"),
        *("lin_api", "figd_", "figd-", "sbp_", "sbp-", "phc_", "phc-", "phx_", "phx-"),
    ),  # Replicate, Groq, Tavily, Perplexity, NVIDIA, Linear, Figma, Supabase, PostHog
    r"hf_(?<![A-Za-z_]hf_)[A-Za-z0-9]{30,}": ("hf_",),  # Hugging Face
    rf"{_NO_WORD}xai-[A-Za-z0-9]{{40,}}": ("xai-",),
    rf"{_ALONE}fw_(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{22,}}": ("fw_",),  # Fireworks
    r"tgp_v1_[A-Za-z0-9_-]{30,}": ("tgp_v1_",),  # Together
    r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}": ("lsv2_",),  # LangSmith
    r"pcsk_[A-Za-z0-9_]{40,}": ("pcsk_",),  # Pinecone
    rf"{_ALONE}sk_[0-9a-f]{{40,}}": ("sk_",),  # ElevenLabs
    # Code and packages
    r"gh[pousr]_[A-Za-z0-9]{30,}": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),  # GitHub
    r"github_pat_[A-Za-z0-9_]{30,}": ("github_pat_",),
    r"gl(?:pat|rt|rtr|ptt|dt|cbt|soat|ft|imt|oas|agent|ffct)-[A-Za-z0-9_-]{18,}": (
        *("glpat-", "glrt-", "glrtr-", "glptt-", "gldt-", "glcbt-", "glsoat-"),
        *("glft-", "glimt-", "gloas-", "glagent-", "glffct-"),
    ),  # GitLab
    r"ATATT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{24,}": ("ATATT3", "ATBB"),  # Atlassian, Bitbucket
    r"npm_[A-Za-z0-9]{30,}": ("npm_",),
    r"pypi-[A-Za-z0-9_-]{40,}": ("pypi-",),
    r"rubygems_[0-9a-f]{40,}": ("rubygems_",),
    r"dckr_pat_[A-Za-z0-9_-]{20,}": ("dckr_pat_",),
    rf"{_ALONE}cio(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{32}}|{_ALONE}oy2(?=[a-z]{{0,43}}\d)[a-z0-9]{{43}}": ("cio", "oy2"),  # crates, NuGet
    r"CLOJARS_[a-z0-9]{50,}": ("CLOJARS_",),
    r"AKCp[A-Za-z0-9]{60,}": ("AKCp",),  # JFrog
    rf"{_NO_WORD}PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}": ("PMAK-",),  # Postman
    r"rdme_[a-z0-9]{50,}": ("rdme_",),
    rf"{_NO_WORD}pn[bu]_[A-Za-z0-9]{{30,}}": ("pnu_", "pnb_"),  # Prefect
    r"(?:CCIPAT|bkua|bkaj)_[A-Za-z0-9_]{30,}": ("CCIPAT_", "bkua_", "bkaj_"),  # CircleCI, Buildkite
    # Clouds
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}": ("AKIA", "ASIA", "ABIA", "ACCA"),  # AWS access key ids
    r"AIza[A-Za-z0-9_-]{35}": ("AIza",),  # Google
    r"ya29\.[A-Za-z0-9_-]{20,}": ("ya29.",),  # Google OAuth
    r"GOCSPX-[A-Za-z0-9_-]{20,}": ("GOCSPX-",),
    rf"{_ALONE}1//0[A-Za-z0-9_-]{{30,}}": ("1//0",),  # Google, to refresh
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,}": ("Q~",),  # Azure applications
    r"do[opr]_(?<![A-Za-z_]do[opr]_)v1_[0-9a-f]{40,}": ("_v1_",),  # DigitalOcean
    rf"{_ALONE}LTAI[A-Za-z0-9]{{16,}}|{_ALONE}AKID(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{28,}}": ("LTAI", "AKID"),  # Alibaba, Tencent
    r"HRKU-[A-Za-z0-9_-]{36,}": ("HRKU-",),  # Heroku
    r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}": ("v1.0-",),  # Cloudflare's origins
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}": (".atlasv1.",),  # Terraform
    rf"{_NO_WORD}dapi[0-9a-f]{{32,}}(?:-\d)?": ("dapi",),  # Databricks
    r"hv[sbr]\.(?<![A-Za-z_]hv[sbr]\.)[A-Za-z0-9_-]{20,}": ("hvs.", "hvb.", "hvr."),  # Vault
    r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9._-]{30,}": ("dp.",),  # Doppler
    rf"{_NO_WORD}pul-[0-9a-f]{{40,}}": ("pul-",),  # Pulumi
    r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{20,}": ("tskey-",),  # Tailscale
    rf"{_NO_WORD}nf[pcoub]_[A-Za-z0-9]{{30,}}": ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),  # Netlify
    rf"{_ALONE}rnd_(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{26,}}": ("rnd_",),  # Render
    r"fm[12]_[A-Za-z0-9+/=_-]{60,}": ("fm1_", "fm2_"),  # Fly
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}": ("pscale_",),  # PlanetScale
    r"sb_secret_[A-Za-z0-9_-]{20,}": ("sb_secret_",),  # Supabase
    rf"{_NO_WORD}sha256~[A-Za-z0-9_-]{{40,}}": ("sha256~",),  # OpenShift
    # Watching
    r"sntry[su]_[A-Za-z0-9+/=_-]{40,}": ("sntrys_", "sntryu_"),  # Sentry
    r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,}": ("glsa_", "glc_"),  # Grafana
    r"NR(?:AK|AA|BR|II|IQ|JS)-[A-Za-z0-9_-]{19,}": ("NRAK-", "NRAA-", "NRBR-", "NRII-", "NRIQ-", "NRJS-"),  # New Relic
    r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{60,}": ("dt0",),  # Dynatrace
    # Talking and mail
    r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}": ("xox",),  # Slack
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}": ("xapp-",),
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}": ("https://hooks.slack.com/",),
    r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{40,}": ("/api/webhooks/",),
    r"(?<![A-Za-z0-9])(?:[MNO][DTjz][A-Za-z0-9][0-5w-z]){5,6}[A-Za-z0-9]{0,2}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}": (
        *("MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
    ),  # Discord: a number in base64, a time, a signature
    r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,}": (":AA",),  # Telegram bots
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}": ("SG.",),  # SendGrid
    r"key-(?<![A-Za-z_]key-)[0-9a-f]{32}": ("key-",),  # Mailgun
    r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}": ("-us",),  # Mailchimp
    r"x(?:keys|smtps)ib-[0-9a-f]{64}-[A-Za-z0-9]{16}": ("xkeysib-", "xsmtpsib-"),  # Brevo
    rf"{_NO_WORD}SK[0-9a-f]{{32}}": ("SK",),  # Twilio
    # Paying and selling
    r"[srp]k_(?<![A-Za-z_][srp]k_)(?:live|test)_[A-Za-z0-9]{16,}": ("k_live_", "k_test_"),  # Stripe
    r"whsec_[A-Za-z0-9+/=]{20,}": ("whsec_",),
    r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}": ("sq0",),  # Square
    rf"{_ALONE}EAA(?=[A-Za-z_-]{{0,60}}\d)[A-Za-z0-9_-]{{60,}}": ("EAA",),  # Square, Facebook
    r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}": ("access_token$",),  # Braintree
    r"EZ[AT]K[A-Za-z0-9]{54}": ("EZAK", "EZTK"),  # EasyPost
    r"FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?": ("FLWSECK", "FLWPUBK"),
    r"duffel_(?:live|test)_[A-Za-z0-9_-]{30,}": ("duffel_",),
    r"shp(?:at|ss|ca|pa|tka)_[0-9a-fA-F]{32,}": ("shpat_", "shpss_", "shpca_", "shppa_", "shptka_"),  # Shopify
    # Working together
    rf"{_NO_WORD}(?:secret_|ntn_)[A-Za-z0-9]{{43,}}": ("secret_", "ntn_"),  # Notion
    rf"{_NO_WORD}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}": ("pat",),  # Airtable
    rf"{_NO_WORD}pat-[a-z]{{2,3}}\d-[0-9a-f-]{{36}}": ("pat-",),  # HubSpot
    r"(?<![\d/])[0-2]/\d{10,}(?:/\d{10,})?:[0-9a-f]{32,}": ("0/", "1/", "2/"),  # Asana
    r"CFPAT-[A-Za-z0-9_-]{40,}": ("CFPAT-",),  # Contentful
    r"fio-u-[A-Za-z0-9_=-]{60,}": ("fio-u-",),  # Frame.io
    rf"{_ALONE}sl\.[A-Za-z0-9_-]{{100,}}": ("sl.",),  # Dropbox
    r"IGQV[A-Za-z0-9_-]{80,}": ("IGQV",),  # Instagram
    r"(?<!A)A{18,40}[A-Za-z0-9]{4,80}%[0-9A-Fa-f]{2}[A-Za-z0-9%]{20,}": ("AAAAAAAAAAAAAAAAAA",),  # X
    rf"{_ALONE}aio_[A-Za-z0-9]{{28}}": ("aio_",),  # Adafruit
    r"AQVN[A-Za-z0-9_-]{35,}|y0_[A-Za-z0-9_-]{50,}": ("AQVN", "y0_"),  # Yandex
    r"ops_eyJ[A-Za-z0-9_-]{60,}": ("ops_eyJ",),  # 1Password
    # Whoever's
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}": ("AGE-SECRET-KEY-1",),
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}": (".eyJ",),  # signed JSON web tokens
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{0,800}(?:\.[A-Za-z0-9_-]{8,}){2}\.[A-Za-z0-9_-]{16,}": ("eyJ",),  # encrypted ones
    rf"{_NO_WORD}[sp]k\.eyJ[A-Za-z0-9_-]{{20,}}\.[A-Za-z0-9_-]{{20,}}": ("k.eyJ",),  # Mapbox
    r"\$(?:apr1|[1256y]|2[abxy]|argon2(?:id?|d))\$[./A-Za-z0-9$=,+-]{20,}": (
        *("$apr1$", "$1$", "$2$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2x$", "$2y$", "$argon2"),
    ),  # passwords as systems keep them
}  # fmt: skip
"""Shapes, each with the letters of which one stands in every such key: most texts have none of them."""
SIGNS: Final = tuple((sign, shape) for shape, signs in SHAPES.items() for sign in signs)
_NEXT: Final = r"A(?:KIA|SIA|BIA|CCA)|AIza|key-|do[opr]_v1_|SK[0-9a-f]{32}"
"""How a key begins that may stand right behind another: those whose shapes do not run on over it."""


@lru_cache(maxsize=64)
def pattern(shapes: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds keys of any of these `shapes`, whole."""
    return re.compile(rf"(?:{'|'.join(shapes)})(?:(?![A-Za-z0-9])|(?={_NEXT}))")
