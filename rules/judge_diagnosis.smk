# Kernels without a harness: the verdict of a case comes from the diagnosis of every model that calls it.
rule judge_diagnosis:
    input:
        build="results/build/{case}/build.json",
        diagnoses=lambda wildcards: diagnosis_files(plan.diagnosed_models(wildcards.case)),
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        modules=module_files("scripts.judge_diagnosis"),
    output:
        verdict="results/{case}.verdict",
    log:
        "results/logs/judge_diagnosis/{case}.log",
    wildcard_constraints:
        case=case_pattern(diagnosis_kernels()),
    conda:
        "../environment.yml"
    params:
        used_by=lambda wildcards: used_by_options(wildcards.case),
    message:
        "Judge {wildcards.case} by the diagnosis"
    shell:
        "python -m scripts.judge_diagnosis {wildcards.case:q} --build {input.build:q} --diagnoses {input.diagnoses:q}"
        " --output {output.verdict:q} {params.used_by:q} 2>&1 | tee {log:q}"
