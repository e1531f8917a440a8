"""Judging a case: build record and log in, verdict out. Pure; the same for both targets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from signal import Signals

from scripts.cases.case import Case
from scripts.cases.kernel_facts import KernelFacts, load_kernel
from scripts.cases.legal_tiles import method_flags
from scripts.precision.build_record import BuildRecord
from scripts.precision.contradictions import contradiction
from scripts.precision.hardware import afterwards, hardware_evidence
from scripts.precision.harness_log import HarnessLog, parse_attempts
from scripts.precision.known_failures import explain, recognise
from scripts.precision.numeric_failure import numeric_outcome, tier_text
from scripts.precision.outcome import Outcome, logged_precision
from scripts.precision.verdict import MEASURED, Evidence, Perf, Status, Verdict


@dataclass(frozen=True)
class _Attempt:
    """What a rule may look at."""

    case: Case
    facts: KernelFacts
    build: BuildRecord
    log: HarnessLog  # of this attempt
    earlier: tuple[str, ...] = ()  # [precision] lines of earlier attempts, which ran the same ELF

    @property
    def variables(self) -> dict[str, float]:
        """Dims, knobs and method flags, for the kernel's formulas."""
        return {**self.case.dims, **self.build.knobs, **method_flags(self.facts, self.build.method)}


def judge(
    case: Case,
    build: BuildRecord,
    log_text: str,
    used_by: Sequence[str] = (),
    exit_status: int | None = None,
) -> Verdict:
    """The verdict on `case`: that of the last attempt in the log.

    `exit_status` is that of a bare harness log, which has no [run] lines. An earlier attempt that failed
    is named in the reason of a pass, so that it does not go unnoticed.
    """
    facts = load_kernel(case.kernel)
    logs = parse_attempts(log_text, exit_status)
    seen = [line for log in logs for line in log.repeats]
    attempts = [_Attempt(case, facts, build, log) for log in logs[:-1]]
    attempts.append(_Attempt(case, facts, build, logs[-1], tuple(seen)))
    last, outcome = attempts[-1], _outcome(attempts[-1])
    started = [attempt for attempt in attempts if _ran(attempt)]
    return Verdict(
        case=case.name,
        kernel=case.kernel,
        shape=case.shape,
        status=outcome.status,
        reason=_reason(outcome, started),
        precision=outcome.precision,
        perf=_perf(last) if outcome.status in MEASURED else None,
        method=build.method,
        tile=build.tile,
        herd=build.herd,
        tiles_used=build.tiles_used,
        tiles_target=build.tiles_target,
        note=build.note,
        used_by=tuple(used_by),
        evidence=_evidence(last, len(started)),
    )


def _outcome(attempt: _Attempt) -> Outcome:
    """The first rule that applies decides; `_nothing_said` always does."""
    return next(filter(None, (rule(attempt) for rule in _RULES)))


def _not_built(attempt: _Attempt) -> Outcome | None:
    """There is no ELF: the compile step, or a harness that compiles by itself, says why."""
    build, wall = attempt.build, attempt.log.compile_wall
    if build.status == "TIMEOUT":
        return Outcome(Status.TIMEOUT, f"compile: {build.reason or 'time-out'}; not retried")
    if build.status == "OK" and wall is None:
        return None
    reason = wall or build.reason or "the compiler gave no reason"
    sighting = recognise(reason)
    if sighting:
        reason = explain(sighting, attempt.facts, attempt.variables)
    elif build.status == "COMPILE_ERROR":
        reason = f"compile error: {reason}"
    return Outcome(Status.COMPILE_WALL, _one_line(reason))


def _other_run(attempt: _Attempt) -> Outcome | None:
    """The log names another case or target than the build."""
    log, build = attempt.log, attempt.build
    if log.case not in (None, build.case):
        return Outcome(Status.BAD_LOG, f"the log is of case {log.case}, not {build.case}")
    if log.target not in (None, build.target):
        return Outcome(
            Status.BAD_LOG, f"the log is of target {log.target}, the build of target {build.target}"
        )
    return None


def _never_started(attempt: _Attempt) -> Outcome | None:
    if attempt.log.state != "not_run":
        return None
    reason = attempt.log.not_run or _last_error(attempt.log) or "the run step did not start it"
    return Outcome(Status.NOT_RUN, _one_line(reason))


def _changing_figures(attempt: _Attempt) -> Outcome | None:
    """Two runs of one ELF on the same inputs differ: the device, or the kernel's timing, decides."""
    different = list(dict.fromkeys((*attempt.earlier, *attempt.log.repeats)))
    if len(different) < 2:
        return None
    first, other = different[:2]
    return Outcome(Status.NONDETERMINISTIC, f"two runs of one ELF differ: {first} / {other}")


def _claimed_pass(attempt: _Attempt) -> Outcome | None:
    """PASS needs everything at once: exit status 0, `PASS!`, and a [precision] line that fits the case."""
    log = attempt.log
    if not log.passed:
        return None
    flaw = contradiction(log, attempt.case, attempt.facts)
    if flaw:
        return Outcome(Status.BAD_LOG, flaw)
    precision = logged_precision(log, attempt.facts)
    if log.unwritten:
        reason = f"{log.unwritten} of {precision.elements} elements were never written by any tile"
        return Outcome(Status.NUMERIC, f"{reason}; zeros there only look close", precision)
    proof = f"all {precision.elements} elements within tolerance"
    return Outcome(Status.PASS, f"{proof}; {tier_text(precision.mean_rel_L1, attempt.facts.tier)}", precision)


def _known(attempt: _Attempt) -> Outcome | None:
    """A failure people have met before, recognised in the log's text."""
    sighting = recognise(attempt.log.text)
    if sighting is None:
        return None
    reason = explain(sighting, attempt.facts, attempt.variables)
    return Outcome(Status(sighting.failure.status), reason)


def _ran_out_of_time(attempt: _Attempt) -> Outcome | None:
    if attempt.log.state != "timeout":
        return None
    seconds = attempt.log.seconds
    return Outcome(Status.TIMEOUT, f"no result within {seconds:.0f} s" if seconds else "no result in time")


def _claimed_failure(attempt: _Attempt) -> Outcome | None:
    """`failed.` with figures: the numbers are wrong."""
    log = attempt.log
    if not log.failed:
        return None
    flaw = contradiction(log, attempt.case, attempt.facts)
    if flaw:
        return Outcome(Status.BAD_LOG, flaw)
    return numeric_outcome(log, attempt.facts)


def _crashed(attempt: _Attempt) -> Outcome | None:
    status = attempt.log.exit_status
    if not status:
        return None
    cause = f"killed by {_signal_name(status)}" if _signal_name(status) else f"exit status {status}"
    last_error = _last_error(attempt.log)
    return Outcome(Status.RUNTIME, f"{cause}: {last_error}" if last_error else f"{cause} before a result")


def _nothing_said(attempt: _Attempt) -> Outcome:
    log = attempt.log
    if not log.text.strip():
        return Outcome(Status.BAD_LOG, "the log is empty")
    flaw = contradiction(log, attempt.case, attempt.facts)
    return Outcome(Status.BAD_LOG, flaw or "neither PASS! nor failed. in the log")


_RULES: tuple[Callable[[_Attempt], Outcome | None], ...] = (
    _other_run,
    _not_built,
    _never_started,
    _changing_figures,
    _claimed_pass,
    _known,
    _ran_out_of_time,
    _claimed_failure,
    _crashed,
    _nothing_said,
)


def _ran(attempt: _Attempt) -> bool:
    """Whether the attempt started at all."""
    return attempt.log.state != "not_run" and bool(attempt.log.text.strip())


def _reason(outcome: Outcome, started: Sequence[_Attempt]) -> str:
    """The outcome's reason; a pass after a failed attempt says so."""
    if len(started) > 1 and outcome.status is Status.PASS:
        number, before = len(started), _outcome(started[-2])
        history = f"passed on attempt {number}; attempt {number - 1}: {before.status}: {before.reason}"
        return f"{history}; {outcome.reason}"
    return "; ".join(filter(None, (outcome.reason, *afterwards(started[-1].log if started else None))))


def _perf(attempt: _Attempt) -> Perf | None:
    """The log's timing; throughput from the kernel's formulas where the log prints none."""
    latency, facts = attempt.log.latency_us, attempt.facts
    if latency is None or not isfinite(latency) or latency <= 0:
        return None
    gflops = attempt.log.gflops
    if gflops is None and facts.flops:
        gflops = round(facts.flops(attempt.variables) / latency / 1e3, 3)
    gbps = round(facts.bytes(attempt.variables) / latency / 1e3, 3) if facts.bytes else None
    return Perf(latency, gflops, gbps)


def _evidence(attempt: _Attempt, attempts: int) -> Evidence:
    """Where the verdict comes from; the build's times where nothing ran."""
    log, build, ran = attempt.log, attempt.build, _ran(attempt)
    return Evidence(
        kind=build.evidence_kind,
        target=build.target,
        source=attempt.facts.signal,
        command=log.command,
        elf_sha256=build.elf_sha256 or next(iter(log.device.get("artifacts", {}).values()), None),
        toolchain=build.toolchain,
        device=log.device.get("name") or build.device,
        started=log.started if ran else build.started,
        seconds=log.seconds if ran else build.seconds,
        attempts=attempts,
        hardware=hardware_evidence(log, build),
    )


def _last_error(log: HarnessLog) -> str | None:
    return _one_line(log.errors[-1]) if log.errors else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _signal_name(exit_status: int) -> str | None:
    """Name of the signal in an exit status: negative as Python gives it, above 128 as a shell does."""
    number = -exit_status if exit_status < 0 else exit_status - 128
    try:
        return Signals(number).name
    except ValueError:
        return None
