"""After a change, what depends on it runs again, and nothing else. Each test starts from a finished run."""

import json

GEMM = {"gemm_256x2048x2048", "gemm_256x2048x256"}
FUSED = {"gemv_add_2048x2048", "rmsnorm_gate_up_swiglu_2048x2048"}
MODEL_END = ["Apply the gates to tiny", "Keep the record of tiny", "Write the report of tiny"]
# What follows when the layers are diagnosed again.
DIAGNOSIS = [
    "Diagnose the layers of tiny",
    *(f"Judge {case} by the diagnosis" for case in FUSED),
    *(f"Record {case}" for case in FUSED),
]


def cases(jobs: list[str], step: str) -> set[str]:
    """The cases that a step runs again for."""
    return {job.split()[1] for job in jobs if job.startswith(f"{step} ")}


def steps(jobs: list[str]) -> set[str]:
    """First words of the jobs."""
    return {job.split()[0] for job in jobs}


def test_nothing_runs_again_when_nothing_changed_even_elsewhere(finished, rerun) -> None:
    """The copy lies in another folder: no path of this machine is part of what is compared."""
    assert rerun(finished) == []


def test_a_file_that_is_only_touched(finished, rerun) -> None:
    for file in ("kernels/rope/rope.cc", "scripts/run_kernel.py", "config/models/tiny.json"):
        (finished.root / file).touch()
    assert rerun(finished) == []


def test_a_kernel_s_source(finished, rerun) -> None:
    finished.append("kernels/gemm/gemm.cc", "\n// edited\n")
    jobs = rerun(finished)
    # gemm_f32 and gemm_low are built from the same source.
    others = {"gemm_f32_256x2048x256", "gemm_low_256x256x256"}
    for step, also in (("Compile", set()), ("Run", set()), ("Judge", FUSED), ("Record", FUSED)):
        assert cases(jobs, step) == GEMM | others | also
    assert [job for job in jobs if "tiny" in job] == sorted([DIAGNOSIS[0], *MODEL_END])


def test_the_host_api(finished, rerun) -> None:
    finished.append("kernels/aie_host/include/aie_api/rounding.hpp", "\n// edited\n")
    jobs = rerun(finished)
    assert len(cases(jobs, "Compile")) > 13
    assert "Derive the cases of tiny" not in jobs


def test_a_kernel_s_reference_is_run_again_but_not_compiled(finished, rerun) -> None:
    finished.append("kernels/silu_and_mul/reference.py", "\n# edited\n")
    jobs = rerun(finished)
    assert cases(jobs, "Compile") == set()
    assert cases(jobs, "Run") == {"silu_and_mul_524288"}


def test_a_kernel_s_facts(finished, rerun) -> None:
    finished.append("kernels/layernorm/kernel.yaml", "\n# edited\n")
    jobs = rerun(finished)
    for step in ("Compile", "Run", "Judge", "Record"):
        assert cases(jobs, step) == {"layernorm_64x768"}
    assert "Apply the gates to tiny" not in jobs


def test_a_tile(finished, rerun) -> None:
    finished.replace("config/config.yaml", "tiles: {}", "tiles: {silu_and_mul_524288: {tile_n: 1024}}")
    jobs = rerun(finished)
    for step, also in (("Compile", set()), ("Run", set()), ("Judge", FUSED), ("Record", FUSED)):
        assert cases(jobs, step) == {"silu_and_mul_524288"} | also
    assert finished.snakemake("all").returncode == 0
    record = json.loads(finished.text("results/build/silu_and_mul_524288/build.json"))
    assert (record["tile"], record["tile_source"]) == ({"tile_n": 1024}, "override")
    finished.replace("config/config.yaml", "tiles: {silu_and_mul_524288: {tile_n: 1024}}", "tiles: {}")
    assert cases(rerun(finished), "Compile") == {"silu_and_mul_524288"}


def test_a_model_config(finished, rerun) -> None:
    """A larger vocabulary changes the LM head's case, and the model's plan, gates and report.

    The case that it was before is the Q projection's too: it loses a call site, and is judged again.
    """
    finished.replace("config/models/tiny.json", '"vocab_size": 2048', '"vocab_size": 8192')
    assert rerun(finished) == sorted(
        [
            *(f"{step} gemv_8192x2048" for step in ("Compile", "Run", "Judge", "Record")),
            *(f"{step} gemv_2048x2048" for step in ("Judge", "Record")),
            "Derive the cases of tiny",
            "Preflight tiny",
            *DIAGNOSIS,
            *MODEL_END,
        ]
    )


def test_a_field_of_the_config_that_no_case_depends_on(finished, rerun) -> None:
    finished.replace("config/models/tiny.json", '"num_hidden_layers": 2', '"num_hidden_layers": 3')
    expected = ["Derive the cases of tiny", "Preflight tiny", *DIAGNOSIS, *MODEL_END]
    assert rerun(finished) == sorted(expected)


def test_a_module_of_one_step(finished, rerun) -> None:
    finished.append("scripts/report/sections.py", "\n# edited\n")
    assert rerun(finished) == ["Keep the record of tiny", "Write the report of tiny"]
    finished.append("scripts/judge_verdict.py", "\n# edited\n")
    assert steps(rerun(finished)) == {"Judge", "Record", "Apply", "Write", "Keep"}


def test_a_module_that_steps_share(finished, rerun) -> None:
    finished.append("scripts/targets/host_device.py", "\n# edited\n")
    jobs = rerun(finished)
    assert steps(jobs) == {"Run", "Judge", "Diagnose", "Record", "Apply", "Write", "Keep"}


def test_the_compiler(finished, planned, tmp_path) -> None:
    compiler = tmp_path / "g++-next"
    compiler.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "g++ (next) 99.1.0" && exit\nexec g++ "$@"\n'
    )
    compiler.chmod(0o755)
    jobs = planned(finished.snakemake("-n", "all", environment={"CXX": str(compiler)}))
    assert len(cases(jobs, "Compile")) == 13 + len(FUSED) and len(cases(jobs, "Run")) == 13


def test_another_model_repeats_no_case_that_is_done(finished, planned) -> None:
    """Only the call sites of shared cases change: they are judged again, not built or run."""
    twin = (finished.root / "config" / "models" / "tiny.json").read_text()
    (finished.root / "config" / "models" / "twin.json").write_text(twin)
    jobs = planned(finished.snakemake("-n", "all", "--config", "models=[tiny,twin]"))
    ends = {"Judge", "Record", "Apply", "Write", "Keep", "Enforce"}
    assert steps(jobs) == {"Derive", "Preflight", "Diagnose", *ends}
    assert "Derive the cases of twin" in jobs and "Derive the cases of tiny" not in jobs
