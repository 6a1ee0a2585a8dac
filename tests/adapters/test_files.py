"""The two primitives and the locks on real files, and names before they become paths."""

import os

import pytest

from horizon.adapters.bee_files import bees_of, check_name, owner_of
from horizon.adapters.files import (
    append_lines,
    locked_or_busy,
    make_folder,
    replace_file,
    sweep,
    take_back,
    write_lines,
)
from horizon.errors import InvalidInput, StoreBusy


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("name", ["mia", "Éloïse", "e\u0301lise", "abeille_2", "小美", "a-b", "देवी", "7", "m" * 64])
def test_a_name_of_letters_digits_and_dashes_is_taken(name):
    assert check_name(check_name(name)) == check_name(name)


def test_both_spellings_of_an_accent_are_one_name():
    assert check_name("e\u0301lise") == "\u00e9lise"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../mia", "a/b", "a\\b", "a.b", "-rf", "a b", "a\0b", "a\nb", "con", "NUL", "com1", "m" * 65),
        *("\u0301a", "a\u202eb", "a\ud800", "𠀀" * 64, "a:b", "~", "*"),
    ],
)
def test_a_name_that_could_be_a_path_or_a_command_is_refused(name):
    with pytest.raises(InvalidInput):
        check_name(name)


@pytest.mark.parametrize(
    ("stem", "owner"),
    [
        ("mia-messages", "mia"),
        ("mia-messages.000001", "mia"),
        ("mia-messages-2026-07", "mia"),
        ("mia-messages_7", "mia"),
        ("mia-messages-messages.000001", "mia-messages"),
        ("mia-messages-messages", "mia-messages"),
        ("mia-messagesx", None),
        ("-messages", None),
        ("mia-phares", None),
    ],
)
def test_a_segment_belongs_to_the_bee_with_the_longest_name(stem, owner):
    assert owner_of(stem) == owner


def test_bees_are_known_by_a_journal_an_archive_or_settings(tmp_path):
    for name in (
        "window/mia-messages.jsonl",
        "window/archive/zoé-messages.000001.jsonl.gz",
        "window/mia-horizon.jsonl",
        "window/léa-phares.jsonl",
        "bees/noé.toml",
        "bees/bad name.toml",
        "window/../escape-messages.jsonl",
    ):
        make_folder((tmp_path / name).parent)
        (tmp_path / name).touch()
    assert bees_of(tmp_path) == ("mia", "noé", "zoé")
    assert bees_of(tmp_path / "nowhere") == ()


def test_a_replaced_file_is_whole_and_for_the_user_only(tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    replace_file(path, b"one")
    assert path.read_bytes() == b"one"
    assert mode(path) == 0o600
    assert mode(path.parent) == mode(path.parent.parent) == 0o700
    path.chmod(0o640)
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert mode(path) == 0o640, "its owner's choice of rights is kept"
    assert [found.name for found in path.parent.iterdir()] == ["file"]


def test_a_file_that_cannot_be_replaced_stands_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "folder"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace_file(path, b"text")
    assert [found.name for found in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("there", [True, False])
def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path, there):
    (tmp_path / "vault").mkdir()
    target, link = tmp_path / "vault" / "notes.md", tmp_path / "journal.md"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    left = target.with_name(".notes.md.1-0.tmp")
    left.write_bytes(b"half")

    replace_file(link, b"new")
    sweep(link)

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert not left.exists()


def test_an_append_mends_a_missing_newline_first(tmp_path):
    path, lock = tmp_path / "f.jsonl", tmp_path / "f.lock"
    append_lines(path, b"one\n", lock=lock)
    assert mode(path) == mode(lock) == 0o600
    with path.open("ab") as file:
        file.write(b"torn")
    append_lines(path, b"two\nthree\n", lock=lock)
    assert path.read_bytes() == b"one\ntorn\ntwo\nthree\n"


def test_bytes_are_taken_back_only_while_they_are_the_last(tmp_path):
    fd = os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        start, end = write_lines(fd, b"mine\n")
        assert (start, end) == (0, 5)
        os.write(fd, b"theirs\n")
        take_back(fd, start, end)
        assert os.pread(fd, 99, 0) == b"mine\ntheirs\n"
        start, end = write_lines(fd, b"again\n")
        take_back(fd, start, end)
        assert os.pread(fd, 99, 0) == b"mine\ntheirs\n"
    finally:
        os.close(fd)


def test_a_held_lock_says_who_holds_it_and_is_free_afterwards(tmp_path):
    lock = tmp_path / "x.lock"
    with (
        locked_or_busy(lock, "the horizon of mia"),
        pytest.raises(StoreBusy, match=f"the horizon of mia.*process {os.getpid()} "),
        locked_or_busy(lock, "the horizon of mia"),
    ):
        pass
    with locked_or_busy(lock, "the horizon of mia"):
        pass
