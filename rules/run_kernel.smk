# The log of the kernel is the output; the rule's own log holds what the step itself has to say.
rule run_kernel:
    input:
        build="results/build/{case}/build.json",
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        modules=lambda wildcards: module_files(
            "scripts.run_kernel",
            *target.run_modules,
            f"kernels.{kernel_of(wildcards.case)}.reference",
        ),
    output:
        log="results/{case}.log",
    log:
        "results/logs/run_kernel/{case}.log",
    wildcard_constraints:
        case=case_pattern(harness_kernels()),
    conda:
        "../environment.yml"
    threads: workflow.cores
    resources:
        npu=1,
        runtime=settings.minutes["run"],
    params:
        # Each failed attempt changes this number, so that exactly the failed cases run again.
        failed_attempts=lambda wildcards: failed_attempts(Path("results/attempts", wildcards.case)),
    message:
        "Run {wildcards.case}"
    shell:
        "python -m scripts.run_kernel {wildcards.case:q} --build {input.build:q} --log {output.log:q}"
        " --attempts results/attempts/{wildcards.case:q} --threads {threads}"
        " --time-limit $(( {resources.runtime} * 60 )) &> {log:q}"
