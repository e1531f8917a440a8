"""Reading the command line's targets."""

from scripts.workflow.requested import requested_targets


def test_cases_by_every_file_a_rule_makes_of_them() -> None:
    requested = requested_targets(
        [
            "-n",
            "results/gemm_1x2x3.verdict",
            "results/gemv_1x2.log",
            "./results/gelu_64.row",
            "results/build/rope_8x64/build.json",
            "results/gemm_1x2x3.log",
        ]
    )
    assert requested.cases == ("gemm_1x2x3", "gemv_1x2", "gelu_64", "rope_8x64")
    assert requested.models == ()


def test_a_name_that_is_no_case_is_kept_for_the_refusal() -> None:
    assert requested_targets(["results/gemm_5x.verdict"]).cases == ("gemm_5x",)


def test_models_by_every_file_a_rule_makes_of_them() -> None:
    requested = requested_targets(
        [
            "results/a-1.5b.gates.json",
            "results/b.phase1_kernels.md",
            "results/plan/c.tsv",
            "results/plan/d.walls.tsv",
        ]
    )
    assert requested.models == ("a-1.5b", "b", "c", "d")
    assert requested.cases == ()


def test_rules_options_and_other_files_are_no_targets() -> None:
    arguments = ["all", "--cores", "2", "--config", "seq_len=64", "results/logs/run_kernel/gemm_1x2x3.log"]
    assert requested_targets(arguments) == requested_targets([])
