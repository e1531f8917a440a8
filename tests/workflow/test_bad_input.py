"""What bad input gets from the workflow: one line, exit status 2, nothing written.

What is refused, and in which words, is tested in tests/unit/workflow and tests/unit/models; here it is that
every refusal reaches the person who called Snakemake.
"""

import json
import shutil

import pytest

# What Snakemake says by itself before it reads the Snakefile.
SNAKEMAKE_S_OWN = ("Using workflow specific profile", "Config file config/config.yaml is extended")


def refused(project, *arguments: str) -> str:
    """The one line with which Snakemake refuses `arguments`."""
    run = project.snakemake(*arguments)
    assert run.returncode == 2, run.stdout + run.stderr
    own = [line for line in run.stderr.splitlines() if not line.startswith(SNAKEMAKE_S_OWN)]
    assert len(own) == 1 and own[0].startswith("error: "), run.stderr
    assert "Traceback" not in run.stdout
    assert not (project.root / "results").exists()
    return own[0]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["results/gemm_5x.verdict"], ["'gemm_5x'", "{M}x{K}x{N}"]),
        (["results/nokernel_1.verdict"], ["'nokernel_1'", "flash_attention"]),
        (["results/gemm_17x19x23.row"], ["gemm_17x19x23", "no legal tile"]),
        (["results/nomodel.gates.json"], ["'nomodel'", "llama-3.2-1b"]),
        (["--config", "modles=[llama-3.2-1b]"], ["unknown key modles", "models, seq_len"]),
        (["--config", "target=moon"], ["target: found 'moon'"]),
        (
            ["--config", "tiles={gemm_2048x2048x512: {tile_m: 7}}"],
            ["tiles.gemm_2048x2048x512", "nearest legal"],
        ),
    ],
)
def test_the_command_line(project, arguments: list[str], parts: list[str]) -> None:
    line = refused(project, *arguments)
    for part in parts:
        assert part in line


def test_an_unknown_key_in_the_config_file(project) -> None:
    project.append("config/config.yaml", "\nthreads: 4\n")
    line = refused(project, "-n")
    assert "config/config.yaml" in line and "unknown key threads" in line


def test_an_illegal_tile_in_the_config_file(project) -> None:
    project.replace("config/config.yaml", "tiles: {}", "tiles: {gemm_2048x2048x512: {tile_n: 240}}")
    line = refused(project)
    for part in ("N divisible", "= 512 must be == 0", "nearest legal tile"):
        assert part in line


def test_a_model_that_is_not_supported(project) -> None:
    unsupported = project.root / "tests" / "fixtures" / "models_unsupported" / "mixtral-8x7b.json"
    shutil.copy(unsupported, project.root / "config" / "models")
    line = refused(project, "--config", "models=[mixtral-8x7b]")
    assert "config/models/mixtral-8x7b.json" in line and "mixture of experts" in line


def test_a_model_config_that_lacks_a_field(project) -> None:
    path = project.root / "config" / "models" / "llama-3.2-1b.json"
    fields = json.loads(path.read_text())
    del fields["hidden_size"]
    path.write_text(json.dumps(fields))
    line = refused(project, "-n")
    assert "config/models/llama-3.2-1b.json" in line and "hidden_size" in line


def test_a_model_config_that_is_no_json(project) -> None:
    (project.root / "config" / "models" / "llama-3.2-1b.json").write_text("{")
    assert "config/models/llama-3.2-1b.json" in refused(project)


def test_no_compiler(project) -> None:
    run = project.snakemake("-n", environment={"CXX": "no-such-compiler"})
    assert run.returncode == 2
    assert "error: CXX: 'no-such-compiler'" in run.stderr
