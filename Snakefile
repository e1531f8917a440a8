# Phase 1 kernel validation: every (kernel, shape) a model calls, from its config to a verdict and the gates.
# Rule, script and log of a step share one name: rules/<step>.smk, scripts/<step>.py, results/logs/<step>/.

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/derive_shapes.smk"
include: "rules/preflight.smk"
include: "rules/compile_elf.smk"
include: "rules/run_kernel.smk"
include: "rules/judge_verdict.smk"
include: "rules/diagnose_layers.smk"
include: "rules/judge_diagnosis.smk"
include: "rules/append_registry.smk"
include: "rules/apply_gates.smk"
include: "rules/write_report.smk"
include: "rules/record_model.smk"


# The only rule that fails: each step before it records what happened, so that every case gets its turn.
rule all:
    default_target: True
    input:
        gates=expand("results/{model}.gates.json", model=settings.models),
        reports=expand("results/{model}.phase1_kernels.md", model=settings.models),
        records=expand("results/{model}.recorded", model=settings.models),
    log:
        "results/logs/all.log",
    conda:
        "environment.yml"
    params:
        scope=settings.gate_scope,
    message:
        "Enforce the gates"
    shell:
        "python -m scripts.apply_gates --enforce {input.gates:q} --scope {params.scope} 2>&1 | tee {log:q}"
