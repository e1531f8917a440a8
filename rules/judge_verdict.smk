rule judge_verdict:
    input:
        build="results/build/{case}/build.json",
        log="results/{case}.log",
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        modules=module_files("scripts.judge_verdict"),
    output:
        verdict="results/{case}.verdict",
    log:
        "results/logs/judge_verdict/{case}.log",
    wildcard_constraints:
        case=case_pattern(harness_kernels()),
    conda:
        "../environment.yml"
    params:
        used_by=lambda wildcards: used_by_options(wildcards.case),
    message:
        "Judge {wildcards.case}"
    shell:
        "python -m scripts.judge_verdict {wildcards.case:q} --build {input.build:q} --log {input.log:q}"
        " --output {output.verdict:q} {params.used_by:q} 2>&1 | tee {log:q}"
