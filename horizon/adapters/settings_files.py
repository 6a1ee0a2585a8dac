"""Settings files: `config.json`, `<hive>/horizon.toml`, `<hive>/bees/<bee>.toml` (spec 1-horizon §5).

Read again whenever a file changes. A file that does not parse keeps the values it last had: those seen by
this process, else those that the last append, upkeep or night kept in `settings.last-good.json`, in `window/`
or, in a home without it, in the home itself.
"""

from __future__ import annotations

import json
import operator
import os
import re
from codecs import BOM_UTF8
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from horizon.adapters.files import replace_file
from horizon.settings import Layer, Problem, merge_consolidation, merge_horizon

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from horizon.settings import ConsolidationSettings, HorizonSettings, Resolved

_KEPT_IN: Final = "settings.last-good.json"

_Stamp: TypeAlias = tuple[int, int, int]


@dataclass(slots=True, kw_only=True)
class _Document:
    """A settings file as last read: its tables, its text for line numbers, what was wrong with it."""

    stamp: _Stamp | None
    tables: Mapping[str, object]
    text: str = ""
    problems: tuple[Problem, ...] = ()


_ABSENT: Final = _Document(stamp=None, tables={})


@dataclass(slots=True)
class SettingsFiles:
    """The settings of one hive (or home): its own files and the `config.json` of the folder above it."""

    hive: Path
    _seen: dict[Path, _Document] = field(default_factory=dict["Path", _Document], repr=False)
    _kept_under: dict[str | None, object] = field(default_factory=dict[str | None, object], repr=False)
    """By bee: the stamp under which the last good values were last seen to be kept."""
    _watched: dict[str | None, tuple[str, ...]] = field(default_factory=dict[str | None, tuple[str, ...]], repr=False)
    _merged: dict[str, tuple[list[_Document], Resolved[HorizonSettings]]] = field(
        default_factory=dict[str, tuple[list["_Document"], "Resolved[HorizonSettings]"]], repr=False
    )
    """By bee: the documents that were merged last, and what that gave."""

    def paths(self, bee: str | None = None) -> tuple[Path, ...]:
        """Return the files that count, the most general first."""
        own = (self.hive.parent / "config.json", self.hive / "horizon.toml")
        return own if bee is None else (*own, self.hive / "bees" / f"{bee}.toml")

    def stamp(self, bee: str | None = None) -> tuple[_Stamp | None, ...]:
        """Return a cheap value that changes whenever one of the files does."""
        watched = self._watched.get(bee)
        if watched is None:
            watched = self._watched[bee] = tuple(map(str, self.paths(bee)))
        return tuple(map(_stamp, watched))

    def horizon(self, bee: str) -> Resolved[HorizonSettings]:
        """Return a bee's merged settings; what was passed over is in `problems`, by file, line and key."""
        documents = [self._read(path) for path in self.paths(bee)]
        before = self._merged.get(bee)
        if before is not None and all(map(operator.is_, before[0], documents)):
            return before[1]
        layers, problems = _layers("horizon", self.paths(bee), documents)
        config = documents[0]
        resolved = merge_horizon(
            layers,
            modele=documents[-1].tables.get("modele", ""),
            switches=_table("interrupteurs", self.paths()[0], config, problems),
        )
        resolved = replace(resolved, problems=(*_parsing(documents), *problems, *resolved.problems))
        self._merged[bee] = (documents, resolved)
        return resolved

    def consolidation(self) -> Resolved[ConsolidationSettings]:
        """Return a home's merged settings; what was passed over is in `problems`, by file, line and key."""
        documents = [self._read(path) for path in self.paths()]
        layers, problems = _layers("consolidation", self.paths(), documents)
        resolved = merge_consolidation(
            layers, switches=_table("interrupteurs", self.paths()[0], documents[0], problems)
        )
        return replace(resolved, problems=(*_parsing(documents), *problems, *resolved.problems))

    def keep_good(self, bee: str | None = None) -> None:
        """Keep the present values of every file that parses, for processes that find it broken. A cache, no more.

        As long as no file changes this looks at their stamps only; one that was kept as it stands is not parsed.
        What the disk refuses is not kept.
        """
        stamp = self.stamp(bee)
        if bee in self._kept_under and self._kept_under[bee] == stamp:
            return
        before = self._last_good()
        kept = dict(before)
        for path, mark in zip(self.paths(bee), stamp, strict=True):
            if mark is None:
                kept.pop(str(path), None)
            elif str(path) not in kept or kept[str(path)].stamp != mark:
                document = self._read(path)
                if document.stamp is not None and not document.problems:
                    kept[str(path)] = document
        if {path: good.stamp for path, good in kept.items()} != {path: good.stamp for path, good in before.items()}:
            fields = {path: {"stamp": good.stamp, "tables": good.tables} for path, good in kept.items()}
            with suppress(OSError):
                replace_file(
                    self._kept_in, json.dumps(fields, ensure_ascii=False, default=str, sort_keys=True).encode()
                )
        self._kept_under[bee] = stamp

    @property
    def _kept_in(self) -> Path:
        # A home is not given a `window/` for it: that would make it a hive, and the folder one of its sources.
        window = self.hive / "window"
        return (window if window.is_dir() else self.hive) / _KEPT_IN

    def _last_good(self) -> dict[str, _Document]:
        """Return the files' values as they were last kept, by path; what is not as it was written is none."""
        try:
            found = json.loads(self._kept_in.read_bytes())
            return {
                path: _Document(stamp=cast("_Stamp", tuple(good["stamp"])), tables=dict(good["tables"]))
                for path, good in found.items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}

    def _read(self, path: Path) -> _Document:
        stamp = _stamp(str(path))
        before = self._seen.get(path)
        if before is not None and before.stamp == stamp:
            return before
        if stamp is None:
            document = _ABSENT
        else:
            try:
                if path.exists() and not path.is_file() and not path.is_dir():
                    raise OSError("it is a device or a pipe")  # which may have no end
                raw = path.read_bytes()
                text = raw.removeprefix(BOM_UTF8).decode()
                tables = json.loads(text) if path.suffix == ".json" else _toml(text)
                if not isinstance(tables, dict):
                    raise TypeError("a JSON object is expected")
                document = _Document(stamp=stamp, tables=cast("dict[str, object]", tables), text=text)
            except (OSError, ValueError, TypeError, RecursionError) as error:
                good = before.tables if before else self._last_good().get(str(path), _ABSENT).tables
                problem = Problem(
                    layer=str(path),
                    line=_line_of(error),
                    key="",
                    found=f"{'cannot be read' if isinstance(error, OSError) else 'does not parse'} ({error})",
                    allowed="the last good values hold; mend the file" if good else "it is passed over; mend the file",
                )
                document = _Document(stamp=stamp, tables=good, problems=(problem,))
        self._seen[path] = document
        return document


def _toml(text: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - a first read whose view was left for it parses no settings

    return tomllib.loads(text)


def _stamp(path: str) -> _Stamp | None:
    """Return what changes with a file, or with why it cannot be reached; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - on the read path; a Path doubles its cost
    except OSError as error:
        # a link to nothing is no file that was taken away: often what it leads to is only not mounted
        gone = isinstance(error, FileNotFoundError | NotADirectoryError) and not os.path.islink(path)  # noqa: PTH114 - as above
        return None if gone else (0, 0, error.errno or 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _line_of(error: Exception) -> int | None:
    if isinstance(error, json.JSONDecodeError):
        return error.lineno
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) if found else None


def _layers(table: str, paths: tuple[Path, ...], documents: list[_Document]) -> tuple[list[Layer], list[Problem]]:
    problems: list[Problem] = []
    layers = [_table(table, path, document, problems) for path, document in zip(paths, documents, strict=True)]
    return layers, problems


def _table(table: str, path: Path, document: _Document, problems: list[Problem]) -> Layer:
    values = document.tables.get(table, {})
    if not isinstance(values, dict):
        problems.append(
            Problem(
                layer=str(path), line=None, key=table, found=repr(values), allowed=f"a table is expected: [{table}]"
            )
        )
        values = {}
    named = cast("dict[str, object]", values)
    return Layer(name=str(path), values=named, line_of=partial(_line_of_key, table, path, document.text))


def _line_of_key(table: str, path: Path, text: str, key: str) -> int | None:
    """Find the line of a table's key: the parsers give none."""
    as_json = path.suffix == ".json"
    mark = rf'"{re.escape(table)}"\s*:' if as_json else rf"(?m)^\s*\[\s*{re.escape(table)}\s*\]"
    start = re.search(mark, text)
    if start is None:
        return None
    named = rf'"{re.escape(key)}"\s*:' if as_json else rf'(?m)^\s*"?{re.escape(key)}"?\s*='
    found = re.compile(named).search(text, start.end())
    return None if found is None else text.count("\n", 0, found.end()) + 1


def _parsing(documents: list[_Document]) -> tuple[Problem, ...]:
    return tuple(problem for document in documents for problem in document.problems)
