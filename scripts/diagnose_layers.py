"""Diagnose a model: each layer's output from the kernels beside that of a bf16 reference.

Kernels that have no harness get their signal here. A case that did not build, a kernel that crashes or a run
that takes too long is recorded, not raised.
"""

import argparse
import importlib.util
import json
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.atomic import write_text
from scripts.diagnosis.cliff import Thresholds
from scripts.diagnosis.document import Diagnosis, layer_records
from scripts.errors import InputError, exit_status
from scripts.models.plan import PlannedCase, read_plan
from scripts.precision.build_record import BuildRecord, read_build
from scripts.targets.attempts import FailedAttempt, record_attempt
from scripts.targets.build_folder import RECORD_NAME
from scripts.targets.interface import target_named
from scripts.targets.process import project_path, run_limited, utc_now

LAYERS_MODULE = "scripts.diagnosis.host_layers"
TIME_LIMIT_SECONDS = 1800.0
_EXTRA = ("torch", "transformers")


def diagnose(options: argparse.Namespace) -> Diagnosis:
    """The diagnosis of the model. Raises InputError for a plan, config or build record that can't be read."""
    plan = read_plan(options.plan)
    if options.target == "npu2":
        return _on_device(options, plan)
    builds = [read_build(options.builds / row.case / RECORD_NAME) for row in plan]
    missing = [f"{build.case} ({build.status})" for build in builds if build.status != "OK"]
    if missing:
        return _outcome(options, builds, "NOT_RUN", f"not built: {', '.join(missing)}")
    use_transformers, fallback = reference_choice(options.reference)
    if fallback:
        print(fallback, file=sys.stderr)
    return _compared(options, builds, use_transformers)


def _on_device(options: argparse.Namespace, plan: Sequence[PlannedCase]) -> Diagnosis:
    """The diagnosis by upstream's own command."""
    # Imported here, so that a run on the host does not depend on them.
    from scripts.diagnosis.device_layers import DeviceAccess, diagnose_on_device
    from scripts.targets.npu2.checkout import open_checkout
    from scripts.targets.npu2.device import find_device
    from scripts.targets.npu2.device_lock import DEFAULT_LOCK, WAIT_SECONDS, checked_lock

    access = DeviceAccess(
        checkout=open_checkout(options.mlir_air),
        device=find_device().line(),
        lock=checked_lock(options.lock or DEFAULT_LOCK),
        lock_wait=WAIT_SECONDS if options.lock_wait is None else options.lock_wait,
        time_limit=options.time_limit,
    )
    return diagnose_on_device(options.config.stem, plan, access, _thresholds(options))


def _thresholds(options: argparse.Namespace) -> Thresholds:
    return Thresholds(options.min_cosine, options.max_step)


def reference_choice(asked: str) -> tuple[bool, str | None]:
    """Whether transformers is the reference, and what to say when it would have been but is not there.

    Raises InputError when it was asked for by name and is not installed.
    """
    absent = [name for name in _EXTRA if importlib.util.find_spec(name) is None]
    install = f"not installed: {', '.join(absent)}; pip install '.[diagnosis]' adds it"
    if asked == "transformers" and absent:
        raise InputError(f"diagnosis.reference: transformers is {install}")
    if asked == "numpy":
        return False, None
    return not absent, f"the reference is our numpy one; transformers is {install}" if absent else None


def _compared(
    options: argparse.Namespace, builds: Sequence[BuildRecord], use_transformers: bool
) -> Diagnosis:
    """The comparison by a process of its own, which may crash."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "layers.json"
        command = _command(options, use_transformers)
        target = target_named(builds[0].target)
        finished = run_limited(
            [*command, "--output", str(output)], options.time_limit, target.run_environment(options.threads)
        )
        compared = json.loads(output.read_text(encoding="utf-8")) if output.is_file() else None
    shown = shlex.join(command)
    timing = {"command": shown, "started": finished.started, "seconds": round(finished.seconds, 3)}
    if compared is None:
        # Status 2 is bad input: something the diagnosis does not know, told in one line.
        ended = "NOT_RUN" if finished.exit_status == 2 else "RUNTIME"
        status = "TIMEOUT" if finished.state == "timeout" else ended
        return _outcome(options, builds, status, _failure(finished.state, finished.output), **timing)
    return _outcome(
        options,
        builds,
        "OK",
        None,
        **timing,
        reference=compared["reference"],
        records=layer_records(compared["per_layer"]),
        exercised={phase: tuple(cases) for phase, cases in compared["exercised"].items()},
    )


def _command(options: argparse.Namespace, use_transformers: bool) -> list[str]:
    files = {"--plan": options.plan, "--builds": options.builds}
    counts = {
        "--seq-len": options.seq_len,
        "--decode-tokens": options.decode_tokens,
        "--layers": options.layers,
        "--threads": options.threads,
    }
    return [
        *("python", "-m", LAYERS_MODULE, project_path(options.config)),
        *(text for name, path in files.items() for text in (name, project_path(path))),
        *(text for name, count in counts.items() for text in (name, str(count))),
        *(["--transformers"] if use_transformers else []),
    ]


def _failure(state: str, output: str) -> str:
    """The last line that the process printed, or how it ended."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f"the layers did not end in time ({state})" if state == "timeout" else (lines or ["no output"])[-1]


def _outcome(
    options: argparse.Namespace,
    builds: Sequence[BuildRecord],
    status: str,
    reason: str | None,
    **more: Any,
) -> Diagnosis:
    facts: Mapping[str, Any] = {"reference": None, "command": None, "started": utc_now(), "seconds": None}
    return Diagnosis(
        model=options.config.stem,
        kind=builds[0].evidence_kind,
        target=builds[0].target,
        status=status,
        reason=reason,
        device=builds[0].device,
        thresholds=_thresholds(options),
        **{**facts, **more},
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.diagnose_layers", description=__doc__)
    parser.add_argument("config", type=Path, help="config/models/<model>.json")
    parser.add_argument("--plan", type=Path, required=True, help="results/plan/<model>.tsv")
    parser.add_argument(
        "--builds", type=Path, default=Path("results/build"), help="folder of <case>/build.json"
    )
    parser.add_argument("--seq-len", type=int, required=True, help="positions of the prompt")
    parser.add_argument("--decode-tokens", type=int, required=True, help="tokens after the prompt")
    parser.add_argument("--layers", type=int, required=True, help="layers to compare")
    parser.add_argument("--min-cosine", type=float, required=True, help="cosine each layer must reach")
    parser.add_argument("--max-step", type=float, required=True, help="most it may fall from layer to layer")
    parser.add_argument(
        "--reference", choices=("auto", "transformers", "numpy"), default="auto", help="what to compare with"
    )
    parser.add_argument("--target", choices=("host", "npu2"), default="host", help="default: host")
    parser.add_argument("--mlir-air", type=Path, help="npu2: the checkout (default: $MLIR_AIR_ROOT)")
    parser.add_argument("--lock", type=Path, help="npu2: file of the device's lock (default: upstream's)")
    parser.add_argument("--lock-wait", type=float, metavar="S", help="npu2: seconds to wait for it")
    parser.add_argument("--attempts", type=Path, metavar="DIR", help="folder that keeps failed attempts")
    parser.add_argument("--threads", type=int, default=1, help="threads of a kernel (default 1)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_SECONDS, metavar="S", help="seconds")
    parser.add_argument("--output", type=Path, required=True, help="results/<model>.diagnosis.json")
    return parser.parse_args()


def main() -> None:
    """Command line."""
    options = _arguments()
    diagnosis = diagnose(options)
    if diagnosis.status != "OK" and options.attempts:
        attempt = FailedAttempt(
            case=f"{diagnosis.model} layers",
            step="run",
            status=diagnosis.status,
            reason=diagnosis.reason or "",
            started=diagnosis.started or utc_now(),
            log_tail="",
        )
        record_attempt(options.attempts, attempt)
    write_text(options.output, diagnosis.as_json())
    if diagnosis.status != "OK":
        print(f"{diagnosis.model}: {diagnosis.status}: {diagnosis.reason}", file=sys.stderr)
    for cliff in filter(None, diagnosis.cliffs().values()):
        print(f"{diagnosis.model}: {cliff.text()}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(exit_status(main))
