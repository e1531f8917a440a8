"""The config: what is taken, and the one line for what is not."""

import json
from pathlib import Path

import pytest
import yaml

from scripts.errors import InputError
from scripts.targets.interface import target_names
from scripts.workflow.settings import SCHEMA, read_settings

CONFIG = Path(__file__).resolve().parents[3] / "config" / "config.yaml"


@pytest.fixture
def config() -> dict:
    return yaml.safe_load(CONFIG.read_text(encoding="utf-8"))


def test_the_config_that_comes_with_the_project(config) -> None:
    settings = read_settings(config)
    assert settings.models == ("llama-3.2-1b",)
    assert (settings.seq_len, settings.target, settings.gate_scope) == (2048, "host", "all")


def test_config_and_schema_hold_the_same_keys(config) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert list(config) == list(schema["properties"]) == schema["required"]


def test_the_schema_s_targets_are_those_there_are() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert sorted(schema["properties"]["target"]["enum"]) == target_names()


def test_a_tile_and_numbers_that_come_as_text(config) -> None:
    """Snakemake's `--config tiles={...}` passes nested numbers as text."""
    tiles = {"gemm_512x512x512": {"tile_m": "32", "herd_m": 8, "method": "drain"}}
    settings = read_settings({**config, "tiles": tiles})
    assert settings.tiles["gemm_512x512x512"] == {"tile_m": 32, "herd_m": 8, "method": "drain"}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"modles": ["x"]}, ["unknown key modles", "models, seq_len"]),
        ({"minutes": {"compile": 1, "run": 1, "walk": 1}}, ["unknown key walk in minutes", "compile, run"]),
        ({"minutes": {"compile": 1}}, ["minutes", "run"]),
        ({"models": "llama-3.2-1b"}, ["models: found 'llama-3.2-1b'", "a list of names"]),
        ({"models": []}, ["models: found []", "a list of names"]),
        ({"models": ["../secret"]}, ["models.0: found '../secret'", "without .json"]),
        ({"models": ["a", "a"]}, ["models", "each once"]),
        ({"seq_len": 0}, ["seq_len: found 0", "a positive integer"]),
        ({"seq_len": "long"}, ["seq_len: found 'long'", "a positive integer"]),
        ({"target": "moon"}, ["target: found 'moon'", "host"]),
        ({"gate_scope": "none"}, ["gate_scope: found 'none'", "harness, all"]),
        ({"tiles": {"gemm_1x1x1": {"tile_m": -1}}}, ["tiles.gemm_1x1x1.tile_m: found -1", "positive"]),
        ({"tiles": {"gemm_1x1x1": {}}}, ["tiles.gemm_1x1x1: found {}"]),
        ({"tiles": None}, ["tiles: found None"]),
    ],
)
def test_what_is_wrong_is_named_in_one_line(config, change: dict, parts: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        read_settings({**config, **change})
    message = str(refusal.value)
    assert message.startswith("config/config.yaml") and "\n" not in message
    for part in parts:
        assert part in message


def test_a_missing_key_is_named(config) -> None:
    del config["seq_len"]
    with pytest.raises(InputError, match="key seq_len is missing"):
        read_settings(config)


def test_sources_of_the_host_target_are_refused_for_npu2(config) -> None:
    """The device's harnesses build the checkout's own, so the setting would be ignored in silence."""
    for key, value in (("kernel_source", "mlir-air"), ("kernels", {"gemm": {"source": "mm.cc"}})):
        with pytest.raises(InputError, match=f"{key}: set, with target npu2"):
            read_settings({**config, "target": "npu2", key: value})
