"""Call-site labels from published cells. The cells here have the published forms, with words of our own."""

import pytest

from scripts.errors import InputError
from scripts.registry.labels import call_site_labels


@pytest.mark.parametrize(
    "cell, labels",
    [
        ("", []),
        ("K-sweep", ["K-sweep"]),
        ("llama-3.2-1B K / V proj", ["llama-3.2-1b K/V proj"]),
        ("Qwen2.5-0.5B decode Gate/Up proj", ["qwen2.5-0.5b decode Gate/Up proj"]),
        ("llama-3.2-1B + Qwen3-1.7B prefill Norm", ["llama-3.2-1b prefill Norm", "qwen3-1.7b prefill Norm"]),
        (
            "llama-3.2-1B Q/O proj + Qwen3-1.7B O proj (square) + Qwen2.5-3B Q proj",
            ["llama-3.2-1b Q/O proj", "qwen3-1.7b O proj", "qwen2.5-3b Q proj"],
        ),
        ("Qwen3-8B Q proj AND O proj (x=4096, y=32*128 -> z)", ["qwen3-8b Q proj", "qwen3-8b O proj"]),
        ("Qwen3-4B Q proj (a=2560, b(c)=4096)", ["qwen3-4b Q proj"]),
        (
            "Qwen3-0.6B + Qwen3-1.7B prefill (d=128)",
            ["qwen3-0.6b prefill attention", "qwen3-1.7b prefill attention"],
        ),
        ("SmolVLA vision self-attn (V) — details, more", ["smolvla vision self-attn"]),
        ("SmolVLA o_proj, native N=720", ["smolvla o_proj"]),
        ("Qwen3-4B Down proj -- explained", ["qwen3-4b Down proj"]),
        ("coverage / Qwen2.5-0.5B prefill RoPE-K (2)", ["coverage", "qwen2.5-0.5b prefill RoPE-K"]),
        ("decode RoPE-K (8 KV heads)", ["decode RoPE-K"]),
        ("SmolLM2-1.7B LM-head", ["smollm2-1.7b LM-head"]),
    ],
)
def test_labels(cell, labels):
    assert call_site_labels(cell) == labels


def test_a_sentence_is_not_a_label():
    with pytest.raises(InputError, match="allowed: a call site of up to 7 words"):
        call_site_labels("Qwen3-4B this kernel runs on the host because it does not fit")
