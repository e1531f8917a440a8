"""A real mlir-air checkout, unmodified, on the virtual NPU2: Makefiles, harness scripts and XRTRunner."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPLIT = ROOT / "scripts" / "targets" / "npu2" / "split_harness.py"
GEMM, GEMM_F32 = "matrix_multiplication/bf16_in_bf16_out", "matrix_multiplication/bf16_in_fp32_out"
RMSNORM = "weighted_rms_norm.py"
ATTENTION = "flash_attention/kernel_fusion_based"
GEMM_KNOBS = "tile_m=32,tile_k_l2=64,tile_k_l1=32,tile_n=64,herd_m=8,herd_n=4"
GEMM_VARIABLES = "M=256 K=192 N=256 TILE_M=32 TILE_K_L2=64 TILE_K_L1=32 TILE_N=64 PERF_ITERS=0"


@dataclass(frozen=True)
class Harness:
    """A case, once as its harness is asked for it and once as the host target is."""

    case: str
    folder: str  # of the harness, in programming_examples
    knobs: str  # --tile of the host target
    variables: str = ""  # of the harness's Makefile; SHAPE and EXTRA take one value of several words
    method: str | None = None
    script: str | None = None  # the harness's script with its arguments, where make does not forward a shape

    def id(self) -> str:
        """The name of the test."""
        return self.case if self.method is None else f"{self.case}-{self.method}"


HARNESSES = [
    Harness("eltwise_add_16384", "eltwise_add", "tile=1024,herd_x=8,herd_y=1", "SHAPE=16384 TILE=1024"),
    Harness(
        "rmsnorm_64x256",
        "weighted_rms_norm",
        "herd_x=8",
        script=f"{RMSNORM} --M 64 --N 256 --herd-x 8",
    ),
    Harness("gemm_256x192x256", GEMM, GEMM_KNOBS, f"METHOD=drain {GEMM_VARIABLES}", "drain"),
    Harness("gemm_256x192x256", GEMM, GEMM_KNOBS, f"METHOD=fused-cast {GEMM_VARIABLES}", "fused-cast"),
    Harness("gemm_low_256x192x256", GEMM, GEMM_KNOBS, f"HIGH_PRECISION=false {GEMM_VARIABLES}", "direct"),
    Harness("gemm_f32_256x192x256", GEMM_F32, GEMM_KNOBS, GEMM_VARIABLES, "external"),
    Harness(
        "gemv_256x512",
        "matrix_vector_multiplication/bf16",
        "tile_m=8,m_input=4,herd_m=8",
        "M=256 K=512 TILE_M=8 M_INPUT=4 HERD_M=8",
    ),
    Harness("rope_64x64", "rope_halfsplit", "herd_x=8,herd_y=1", "ROWS=64 HEAD_DIM=64"),
    Harness("silu_and_mul_32768", "silu_and_mul", "tile_n=4096,herd_x=8,herd_y=1", "N=32768 TILE_N=4096"),
    Harness("gelu_65536", "gelu", "tile_n=4096,herd_x=8,herd_y=1", "N=65536 TILE_N=4096"),
    Harness("layernorm_64x256", "layer_norm", "herd_x=8", "M=64 N=256 HERD_X=8"),
    Harness(
        "flash_attention_256x256_d64x64_h2x1_causal",
        ATTENTION,
        "lqp=256,lkp=64,num_q_tiles=4,num_heads_per_unroll=2,num_cascade_stages=4",
        "LQ=256 LK=256 LQP=256 LKP=64 DK=64 DV=64 NUM_HEADS=2 NUM_KV_HEADS=1 EXTRA_PY_FLAGS=--causal",
    ),
    # The values' last dimension in two slices: the harness lays them out as no other kernel's.
    Harness(
        "flash_attention_256x256_d128x128_h2x2_full",
        ATTENTION,
        "lqp=256,lkp=64,num_q_tiles=4,num_heads_per_unroll=2,num_cascade_stages=4",
        "LQ=256 LK=256 LQP=256 LKP=64 DK=128 DV=128 NUM_HEADS=2 NUM_KV_HEADS=2",
    ),
]


class Virtual:
    """Runs commands of a checkout on the virtual device."""

    def __init__(self, examples: Path, environment: dict[str, str], folder: Path) -> None:
        self.examples, self.environment, self.folder = examples, environment, folder

    def run(self, command: Sequence[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run `command`; what it prints to stdout and stderr as one text."""
        return subprocess.run(
            command,
            cwd=folder or self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    def harness(
        self, harness: Harness, build: str, python: Sequence[str] = ("python3",)
    ) -> subprocess.CompletedProcess[str]:
        """The harness of `harness` in the folder `build`, its script started with `python`."""
        folder = self.folder / build
        folder.mkdir(exist_ok=True)
        home = self.examples / harness.folder
        if harness.script is not None:
            script, *arguments = harness.script.split()
            return self.run([*python, str(home / script), *arguments], folder)
        make = ["make", "-C", str(home), "run", f"BUILD_DIR={folder}", f"PYTHON={' '.join(python)}"]
        return self.run([*make, *harness.variables.split()])


@pytest.fixture
def virtual(mlir_air: Path, virtual_npu2: dict[str, str], tmp_path: Path) -> Virtual:
    """The checkout on the virtual device."""
    return Virtual(mlir_air / "programming_examples", virtual_npu2, tmp_path)


def host_lines(harness: Harness, folder: Path) -> list[str]:
    """What the host target prints for the same case and tile."""
    command = [sys.executable, "-m", "scripts.compile_elf", harness.case, "--output-dir", str(folder)]
    command += ["--tile", harness.knobs, *(["--method", harness.method] if harness.method else [])]
    subprocess.run(command, cwd=ROOT, check=True)
    device = [sys.executable, "-m", "scripts.targets.host_device", str(folder / "kernel.elf"), harness.case]
    printed = subprocess.run(device, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return harness_lines(printed)


def harness_lines(printed: str) -> list[str]:
    """The figures and the outcome in what a harness printed."""
    starts = ("[precision]", "Mismatches:", "PASS!", "failed.")
    return [line for line in printed.splitlines() if line.startswith(starts)]


@pytest.mark.parametrize("harness", HARNESSES, ids=Harness.id)
def test_the_real_harness_prints_what_the_host_target_prints(
    harness: Harness, virtual: Virtual, tmp_path: Path
) -> None:
    done = virtual.harness(harness, "build")
    lines = harness_lines(done.stdout)
    assert lines, done.stdout
    assert lines == host_lines(harness, tmp_path / "host")
    assert (done.returncode == 0) == (lines[-1] == "PASS!"), done.stdout


@pytest.mark.parametrize("harness", [HARNESSES[index] for index in (0, 1, 3, 11)], ids=Harness.id)
def test_compiled_without_a_device_and_run_later(harness: Harness, virtual: Virtual, tmp_path: Path) -> None:
    store, node = tmp_path / "store", Path(virtual.environment["VIRTUAL_NPU2_DEVICE"])
    node.unlink()
    compiled = virtual.harness(harness, "compiled", split("compile", store))
    assert compiled.returncode == 0, compiled.stdout
    assert harness_lines(compiled.stdout) == []
    node.touch()
    # No compiler from here on: what the second half needs is in the store.
    environment = virtual.environment
    virtual.environment = {**environment, "VIRTUAL_NPU2_COMPILER": "absent"}
    ran = virtual.harness(harness, "ran", split("run", store))
    virtual.environment = environment
    plain = virtual.harness(harness, "plain")
    assert harness_lines(ran.stdout) == harness_lines(plain.stdout) != []
    assert ran.returncode == plain.returncode
    assert [line.split()[0] for line in node.read_text().splitlines()] == [harness.case] * 2


def split(half: str, store: Path) -> list[str]:
    """The command that takes the place of the harness's `python3`."""
    return [sys.executable, str(SPLIT), half, "--store", str(store), "--"]


def test_the_device_computes_from_the_inputs_it_is_given(virtual: Virtual, tmp_path: Path) -> None:
    harness = HARNESSES[1]
    script = virtual.examples / harness.folder / "weighted_rms_norm.py"
    text = script.read_text(encoding="utf-8")
    assert text.count("np.random.seed(0)") == 1
    other = tmp_path / script.name
    other.write_text(text.replace("np.random.seed(0)", "np.random.seed(1)"), encoding="utf-8")
    done = virtual.run(["python3", str(other), *harness.script.split()[1:]])
    lines = harness_lines(done.stdout)
    assert lines[-1] == "PASS!"
    assert lines != harness_lines(virtual.harness(harness, "build").stdout)


def test_an_expected_value_of_the_harness_cannot_reach_the_device(virtual: Virtual, tmp_path: Path) -> None:
    harness = HARNESSES[1]
    script = virtual.examples / harness.folder / "weighted_rms_norm.py"
    wrong = script.read_text(encoding="utf-8").replace(
        "expected_outputs=[y_expected]", "expected_outputs=[y_expected + y_expected]"
    )
    other = tmp_path / script.name
    other.write_text(wrong, encoding="utf-8")
    done = virtual.run(["python3", str(other), *harness.script.split()[1:]])
    assert harness_lines(done.stdout)[-1] == "failed."
    assert done.returncode != 0


def test_without_a_device_the_plain_run_fails_at_load(virtual: Virtual) -> None:
    Path(virtual.environment["VIRTUAL_NPU2_DEVICE"]).unlink()
    done = virtual.harness(HARNESSES[0], "build")
    assert done.returncode != 0
    assert "no device" in done.stdout


def test_an_object_file_of_another_tile_is_refused(virtual: Virtual) -> None:
    gemm = HARNESSES[2]
    home, folder = virtual.examples / gemm.folder, virtual.folder / "build"
    virtual.run(["make", "-C", str(home), "compile-kernel", f"BUILD_DIR={folder}", "TILE_M=64"])
    assert json.loads((folder / "mm.o").read_text())["macros"]["DIM_M"] == "64"
    arguments = [
        "--method",
        "drain",
        "--m",
        "256",
        "--k",
        "192",
        "--n",
        "256",
        "--tile-m",
        "32",
        "--tile-k-l2",
        "64",
        "--tile-n",
        "64",
    ]
    done = virtual.run(["python3", str(home / "run.py"), *arguments], folder)
    assert done.returncode != 0
    assert "mm.o was compiled with DIM_M=64, the module has 32" in done.stdout


def test_the_checkout_is_left_as_it_was(virtual: Virtual) -> None:
    before = sorted(path for path in (virtual.examples / "eltwise_add").rglob("*"))
    virtual.harness(HARNESSES[0], "build")
    assert sorted(path for path in (virtual.examples / "eltwise_add").rglob("*")) == before
