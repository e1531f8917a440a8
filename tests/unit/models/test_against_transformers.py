"""The derivation against transformers: each model built from the same JSON, on the meta device.

Every linear layer, norm and bias, each attention's head layout and the width of RoPE have to be in our
derivation as often as in the model, and nothing else may be there.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.cases.case import parse_case
from scripts.models.call_sites import decode_calls, model_weights, prefill_calls
from scripts.models.config import load_config
from scripts.models.families import families, tower_defaults
from scripts.models.lm_head import lm_head
from scripts.models.padding import rounded_up
from scripts.models.weights import WeightSite, weight_sites

NEEDED = "the proof against transformers needs `pip install .[diagnosis]`"
torch = pytest.importorskip("torch", reason=NEEDED)
transformers = pytest.importorskip("transformers", reason=NEEDED)

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = {
    path.stem: path
    for folder in ("config/models", "tests/fixtures/models")
    for path in (ROOT / folder).glob("*.json")
}
Shapes = Counter[tuple[str, tuple[int, ...]]]


@cache
def _built(path: Path) -> Any:
    """The model as transformers builds it, without any memory; of Gemma 3's parts, the text's alone."""
    values = json.loads(path.read_text(encoding="utf-8"))
    config = transformers.AutoConfig.for_model(**values)
    with torch.device("meta"):
        if config.model_type == "smolvlm":
            return transformers.AutoModelForImageTextToText.from_config(config)
        return transformers.AutoModelForCausalLM.from_config(config.get_text_config())


def _modules(model: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    return ((name, module) for name, module in model.named_modules() if name.startswith(prefix))


def _theirs(model: Any, prefix: str = "") -> Shapes:
    """(kind, shape) of each tensor that isn't an embedding -> how many there are."""
    found: Shapes = Counter()
    for _, module in _modules(model, prefix):
        if isinstance(module, torch.nn.Linear | torch.nn.Conv2d):
            # A convolution with stride = kernel is a linear layer over the values of a patch.
            shape = (module.weight.shape[0], math.prod(module.weight.shape[1:]))
            found[("linear", shape)] += 1
        elif type(module).__name__.endswith("Norm"):
            found[("norm", tuple(module.weight.shape))] += 1
        else:
            continue
        if getattr(module, "bias", None) is not None:
            found[("bias", tuple(module.bias.shape))] += 1
    return found


def _ours(sites: list[WeightSite], kinds: tuple[str, ...] = ("linear", "norm", "bias")) -> Shapes:
    found: Shapes = Counter()
    for site in sites:
        if site.kind in kinds:
            found[(site.kind, site.shape)] += site.count
    return found


def _attentions(model: Any) -> Counter[tuple[int, int, int, str]]:
    """Query heads, key heads, head dimension and mask of each attention -> how many there are."""
    found: Counter[tuple[int, int, int, str]] = Counter()
    for _, module in _modules(model):
        if type(module).__name__.endswith("Attention"):
            heads = module.config.num_attention_heads
            kv_heads = heads // getattr(module, "num_key_value_groups", 1)
            mask = "causal" if module.is_causal else "full"
            found[(heads, kv_heads, rounded_up(module.head_dim), mask)] += 1
    return found


def _all_parameters_are_counted(model: Any, counted: Shapes) -> bool:
    """Nothing but embeddings is left over."""
    sizes = sum(math.prod(shape) * count for (_, shape), count in counted.items())
    embeddings = {module.weight for _, module in _modules(model) if isinstance(module, torch.nn.Embedding)}
    head = model.get_output_embeddings().weight
    tied = any(head is weight for weight in embeddings)
    unique = sum(weight.numel() for weight in embeddings if not (tied and weight is head))
    return sizes + unique == sum(parameter.numel() for parameter in model.parameters())


@pytest.fixture(params=sorted(CONFIGS))
def path(request: pytest.FixtureRequest) -> Path:
    return CONFIGS[request.param]


def test_every_weight_is_derived_as_often_as_the_model_has_it(path: Path) -> None:
    model = _built(path)
    ours = _ours(model_weights(load_config(path)))
    assert ours == _theirs(model)
    assert _all_parameters_are_counted(model, ours)


def test_decode_reads_every_linear_layer_of_the_decoder(path: Path) -> None:
    """Besides the tower's, which a prompt alone needs; norms between the projections run on the CPU."""
    config, kinds = load_config(path), ("linear", "bias")
    calls = decode_calls(config)
    in_prompt = [call for call in prefill_calls(config, 64, {}) if "vision" not in call.site]
    text = [call for call in in_prompt if call.site not in ("patch embedding", "connector proj")]
    assert _ours(weight_sites(calls), kinds) == _ours(weight_sites([*text, lm_head(config)]), kinds)
    assert _ours(weight_sites(calls), ("norm",)) <= _ours(model_weights(config), ("norm",))


def test_every_attention_has_its_head_layout(path: Path) -> None:
    model, found = _built(path), Counter()
    for call in prefill_calls(load_config(path), 64, {}):
        if call.kernel == "flash_attention":
            dims, mask = parse_case(call.case_name).dims, call.case_name.rsplit("_", 1)[1]
            assert dims["DK"] == dims["DV"]
            found[(dims["HQ"], dims["HKV"], dims["DK"], mask)] += call.layers
    assert found == _attentions(model)


def test_rope_turns_what_the_model_turns(path: Path) -> None:
    turned = {
        2 * buffer.numel() for name, buffer in _built(path).named_buffers() if name.endswith("inv_freq")
    }
    ropes = [call for call in prefill_calls(load_config(path), 64, {}) if call.kernel == "rope"]
    config = load_config(path)
    assert {parse_case(call.case_name).dims["HEAD_DIM"] for call in ropes} == turned
    assert [parse_case(call.case_name).dims["ROWS"] for call in ropes] == [
        64 * config.heads,
        64 * config.kv_heads,
    ]


def test_traits_that_no_weight_shows(path: Path) -> None:
    config, theirs = load_config(path), _built(path).config
    text = theirs.get_text_config()
    assert config.tied_embeddings == theirs.tie_word_embeddings
    assert config.max_positions == text.max_position_embeddings
    assert config.attention_soft_cap == getattr(text, "attn_logit_softcapping", None)
    assert config.logit_soft_cap == getattr(text, "final_logit_softcapping", None)
    assert config.window == _window(text)
    kinds = getattr(text, "layer_types", None)
    if config.window and kinds:
        assert config.window_layers == tuple(i for i, kind in enumerate(kinds) if kind == "sliding_attention")


def _window(text: Any) -> int | None:
    """The window, where a layer uses it."""
    kinds = getattr(text, "layer_types", None)
    used = kinds is None or "sliding_attention" in kinds
    return getattr(text, "sliding_window", None) if used else None


@pytest.mark.parametrize("model_type", sorted(families()))
def test_defaults_are_those_of_transformers(tmp_path: Path, model_type: str) -> None:
    """Field by field, and as a model whose config says nothing but its type and what it has to."""
    known = type(transformers.AutoConfig.for_model(model_type))
    defaults = families()[model_type].defaults
    assert defaults == {name: getattr(known, name, None) for name in defaults}
    path = tmp_path / f"{model_type}.json"
    stated = {
        name: getattr(known, name) for name in ("hidden_size", "intermediate_size", "num_hidden_layers")
    }
    path.write_text(json.dumps({"model_type": model_type, **stated}), encoding="utf-8")
    assert _ours(model_weights(load_config(path))) == _theirs(_built(path))


def test_defaults_of_the_tower_are_those_of_transformers() -> None:
    defaults = tower_defaults("smolvlm_vision")
    known = transformers.CONFIG_MAPPING["smolvlm_vision"]
    assert defaults == {name: getattr(known, name) for name in defaults}
