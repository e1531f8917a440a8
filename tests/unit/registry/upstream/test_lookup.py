"""The lookups against mlir-air's JSON, for every shape in it."""

import json

import pytest

from scripts.registry import UnmeasuredShape, gemm_config, gemm_config_method, kernel_config

FILES = {"bf16": "GEMM_bf16_in_bf16_out.json", "f32": "GEMM_bf16_in_fp32_out.json"}
PRECISIONS = ("high", "low")
METHODS = ("fused-cast", "drain", "direct", "external")


@pytest.fixture(params=FILES)
def entries(request, real_registry):
    """The output type and the entries of its JSON, once each for both types."""
    text = (real_registry / "details" / FILES[request.param]).read_text(encoding="utf-8")
    return request.param, json.loads(text)["shapes"]


def _dims(entry):
    return entry["M"], entry["K"], entry["N"]


def _figures(method, entry):
    fields = ("tile", "gflops", "mean_rel_L1")
    return {"method": method, **{field: entry["methods"][method][field] for field in fields}}


def test_gemm_config_gives_the_best_of_each_tier_as_the_json_has_it(entries):
    dtype, shapes = entries
    asked = 0
    for entry in shapes:
        for precision in PRECISIONS:
            method = entry.get("best", {}).get(precision)
            if method is None:
                with pytest.raises(KeyError):
                    gemm_config(*_dims(entry), dtype, precision)
                continue
            herd = {key: value for key, value in entry["methods"][method].items() if key == "herd"}
            assert gemm_config(*_dims(entry), dtype, precision) == {**_figures(method, entry), **herd}
            asked += 1
    assert asked >= len(shapes)


def test_gemm_config_method_gives_each_method_as_the_json_has_it(entries):
    dtype, shapes = entries
    for entry in shapes:
        for method in METHODS:
            if method in entry["methods"]:
                assert gemm_config_method(*_dims(entry), dtype, method) == _figures(method, entry)
            else:
                with pytest.raises(KeyError):
                    gemm_config_method(*_dims(entry), dtype, method)


def test_kernel_config_gives_the_same_best(entries):
    dtype, shapes = entries
    for entry in shapes:
        dims = {name: entry[name] for name in "MKN"}
        for precision, method in entry.get("best", {}).items():
            config = kernel_config("gemm", output_dtype=dtype, precision=precision, **dims)
            assert {key: value for key, value in config.items() if key != "herd"} == _figures(method, entry)
            assert config["herd"] == entry["methods"][method].get("herd", [8, 4])


def test_defaults_and_the_exceptions_are_those_of_mlir_air():
    assert gemm_config(2048, 2048, 512) == gemm_config(2048, 2048, 512, "bf16", "high")
    assert gemm_config(2048, 2048, 512, output_dtype="bf16", precision="high")["method"] == "drain"
    for ask in (gemm_config, gemm_config_method):
        extra = ("drain",) if ask is gemm_config_method else ()
        with pytest.raises(ValueError, match="allowed: \\['bf16', 'f32'\\]"):
            ask(2048, 2048, 512, "int8", *extra)
        with pytest.raises(KeyError, match="is not in the registry"):
            ask(2048, 2048, 513, "bf16", *extra)
    with pytest.raises(KeyError, match="no best of precision 'low'"):
        gemm_config(2048, 2048, 512, "f32", "low")
    with pytest.raises(KeyError, match="no method 'external'"):
        gemm_config_method(2048, 2048, 512, "bf16", "external")


def test_other_kernels_have_the_rows_of_the_detail_pages(real_registry):
    from scripts.cases.kernel_facts import load_kernel
    from scripts.registry.upstream.pages import detail_table
    from scripts.registry.upstream.pipe_table import read_page

    asked = 0
    kernels = (
        "gemv",
        "rmsnorm",
        "layernorm",
        "rope",
        "silu_and_mul",
        "gelu",
        "eltwise_add",
        "flash_attention",
    )
    for kernel in kernels:
        facts = load_kernel(kernel)
        path = real_registry / "details" / f"{facts.registry['page']}.md"
        table = detail_table(path, read_page(path), None, facts)
        mean = next(column for column in table.columns if column.names == ("mean_rel_L1",))
        for row in table.table.rows:
            config = kernel_config(kernel, **table.dims(row))
            assert config["mean_rel_L1"] == pytest.approx(float(row.cells[mean.index].strip("*")), rel=1e-9)
            asked += 1
    assert asked > 80
    with pytest.raises(UnmeasuredShape):
        kernel_config("gemv", M=8, K=8)
