# The record is no output: Snakemake removes outputs before a rule runs, and these files hold what people add, too.
rule record_model:
    input:
        config="config/models/{model}.json",
        gates="results/{model}.gates.json",
        report="results/{model}.phase1_kernels.md",
        modules=module_files("scripts.record_model"),
    output:
        receipt="results/{model}.recorded",
    log:
        "results/logs/record_model/{model}.log",
    conda:
        "../environment.yml"
    params:
        # A place of this machine, on which no result depends: see rules/compile_elf.smk.
        folder=lambda wildcards, output: settings.record_folder(wildcards.model),
    message:
        "Keep the record of {wildcards.model}"
    shell:
        "python -m scripts.record_model {input.config:q} --gates {input.gates:q} --report {input.report:q}"
        " --folder {params.folder:q} --receipt {output.receipt:q} &> {log:q}"
