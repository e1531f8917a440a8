# The log of the kernel is the output; the rule's own log holds what the step itself has to say.
rule run_kernel:
    input:
        build="results/build/{case}/build.json",
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        canary=canary_build(),
        modules=lambda wildcards: run_modules(kernel_of(wildcards.case)),
    output:
        log="results/{case}.log",
    log:
        "results/logs/run_kernel/{case}.log",
    wildcard_constraints:
        case=case_pattern(harness_kernels()),
    conda:
        "../environment.yml"
    # On the host the kernel itself takes every core; on the device the cores go on compiling.
    threads: workflow.cores if target.name == "host" else 1
    resources:
        npu=1,
        runtime=settings.minutes["run"],
    params:
        # Each failed attempt changes this number, so that exactly the failed cases run again.
        failed_attempts=lambda wildcards: failed_attempts(Path("results/attempts", wildcards.case)),
        repeats=repeat_options(),
        device=device,
        # Places of this machine, on which no result depends: see rules/compile_elf.smk.
        access=lambda wildcards, output: device_options(),
    message:
        "Run {wildcards.case}"
    shell:
        "python -m scripts.run_kernel {wildcards.case:q} --build {input.build:q} --log {output.log:q}"
        " --attempts results/attempts/{wildcards.case:q} --threads {threads}"
        " --canary {input.canary:q} {params.repeats:q} {params.access:q}"
        " --time-limit $(( {resources.runtime} * 60 )) &> {log:q}"
