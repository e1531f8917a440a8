"""Changes in the text of a JSON file that leave every other byte of it as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.decoder import scanstring
from pathlib import Path
from typing import Any

from scripts.errors import InputError

_SPACE = re.compile(r"\s*")
_SCALAR = re.compile(r"[^\s,\]}]+")


@dataclass(frozen=True)
class Node:
    """A value of a JSON text, and where it stands."""

    start: int  # index of its first character
    end: int  # index after its last one
    members: Mapping[str, "Node"]  # of an object
    items: Sequence["Node"]  # of an array


def read_json(path: Path) -> str:
    """The text of a JSON file that holds an object.

    Raises InputError naming file and line when it is missing, has CR line ends or does not parse.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        value = json.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path} line 1: no such file; a registry of mlir-air has it") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path} line {error.lineno}: not JSON ({error.msg}); restore the file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} line 1: cannot be read: {error}") from None
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        raise InputError(f"{path} line {line}: ends in CR; allowed: LF line ends only")
    if not isinstance(value, dict):
        raise InputError(f"{path} line 1: found {type(value).__name__}; allowed: a JSON object")
    return text


def parse(text: str, start: int = 0) -> Node:
    """The value that starts at `start` in a text that is known to be JSON."""
    start = _SPACE.match(text, start).end()
    if text[start] == "{":
        return _object(text, start)
    if text[start] == "[":
        return _array(text, start)
    end = scanstring(text, start + 1)[1] if text[start] == '"' else _SCALAR.match(text, start).end()
    return Node(start, end, {}, ())


def _object(text: str, start: int) -> Node:
    members: dict[str, Node] = {}
    place = _SPACE.match(text, start + 1).end()
    while text[place] != "}":
        key, place = scanstring(text, place + 1)
        place = _SPACE.match(text, place).end() + 1
        members[key] = parse(text, place)
        place = _after_comma(text, members[key].end)
    return Node(start, place + 1, members, ())


def _array(text: str, start: int) -> Node:
    items: list[Node] = []
    place = _SPACE.match(text, start + 1).end()
    while text[place] != "]":
        items.append(parse(text, place))
        place = _after_comma(text, items[-1].end)
    return Node(start, place + 1, {}, items)


def _after_comma(text: str, place: int) -> int:
    place = _SPACE.match(text, place).end()
    return _SPACE.match(text, place + 1).end() if text[place] == "," else place


def replaced(text: str, node: Node, value: Any) -> str:
    """The text with another value in a node's place, laid out as the file is."""
    return text[: node.start] + _dump(text, value, _indent_at(text, node.start)) + text[node.end :]


def with_item(text: str, array: Node, value: Any) -> str:
    """The text with one item more at the end of an array."""
    return _inserted(text, array, value, "")


def with_member(text: str, node: Node, key: str, value: Any) -> str:
    """The text with one member more at the end of an object."""
    return _inserted(text, node, value, f"{json.dumps(key)}: ")


def insertion_place(container: Node) -> int:
    """Where the next item or member goes: behind the last one."""
    held = [*container.members.values(), *container.items]
    return held[-1].end if held else container.start + 1


def _inserted(text: str, container: Node, value: Any, label: str) -> str:
    outer = _indent_at(text, container.start)
    inner = outer + _indent_unit(text)
    place = insertion_place(container)
    addition = f"\n{inner}{label}{_dump(text, value, inner)}"
    if place == container.start + 1:
        return f"{text[:place]}{addition}\n{outer}{text[container.end - 1 :]}"
    return f"{text[:place]},{addition}{text[place:]}"


def _indent_at(text: str, place: int) -> str:
    """The spaces at the start of the line that `place` is in."""
    return _SPACE.match(text, text.rfind("\n", 0, place) + 1)[0]


def _indent_unit(text: str) -> str:
    """The file's own indent: that of its first member."""
    first = re.search(r"\n( +|\t)\S", text)
    return first[1] if first else "  "


def _dump(text: str, value: Any, indent: str) -> str:
    """A value as the file writes its own: its indent, and escapes where it has no letter outside of ASCII."""
    dumped = json.dumps(value, indent=_indent_unit(text), ensure_ascii=text.isascii())
    return dumped.replace("\n", f"\n{indent}")
