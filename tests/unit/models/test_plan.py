"""The plan as a table."""

from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.models.plan import DECODE, PREFILL, call, merge, plan_text, read_plan

HEADER = "kernel\tshape\tcase\tphase\tcall_sites\tsource\n"
SITES = [
    call("gemv_add", DECODE, "O proj", M=64, K=64),
    call("gemm", PREFILL, "Q proj", M=64, K=64, N=64),
    call("gemm", PREFILL, "K/V proj", M=64, K=64, N=64),
    call("gemm", PREFILL, "O proj", M=64, K=64, N=64),
]


def test_text() -> None:
    rows = [
        "gemm\t64x64x64\tgemm_64x64x64\tprefill\tQ/O proj; K/V proj\tharness\n",
        "gemv_add\t64x64\tgemv_add_64x64\tdecode\tO proj\tdiagnosis\n",
    ]
    assert plan_text(merge(SITES)) == HEADER + "".join(rows)
    assert plan_text([]) == HEADER


def test_more_columns() -> None:
    text = plan_text(merge(SITES), [{"tile": "16/64/16/16", "herd": "4x4"}, {"tile": "-", "herd": "-"}])
    assert [line.split("\t")[6:] for line in text.splitlines()] == [
        ["tile", "herd"],
        ["16/64/16/16", "4x4"],
        ["-", "-"],
    ]


@pytest.mark.parametrize("extra", [(), [{"tile": "16", "herd": "4x4"}, {"tile": "-", "herd": "-"}]])
def test_there_and_back(tmp_path: Path, extra: list[dict[str, str]]) -> None:
    path = tmp_path / "model.tsv"
    path.write_text(plan_text(merge(SITES), extra), encoding="utf-8")
    assert read_plan(path) == merge(SITES)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "the header is not kernel shape"),
        ("a\tb\n", "the header is not"),
        (HEADER + "gemm\t1\n", ":2: 2 columns"),
    ],
)
def test_not_a_plan(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "model.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_plan(path)


def test_no_plan(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_plan(tmp_path / "model.tsv")
