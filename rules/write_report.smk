rule write_report:
    input:
        gates="results/{model}.gates.json",
        plan="results/plan/{model}.tsv",
        walls="results/plan/{model}.walls.tsv",
        diagnosis=lambda wildcards: diagnosis_files([wildcards.model]),
        verdicts=lambda wildcards: case_files(wildcards.model, "results/{case}.verdict"),
        registry=registry_files,
        modules=module_files("scripts.write_report"),
    output:
        report="results/{model}.phase1_kernels.md",
    log:
        "results/logs/write_report/{model}.log",
    conda:
        "../environment.yml"
    params:
        registry=lambda wildcards, input: folder_of(input.registry),
    message:
        "Write the report of {wildcards.model}"
    shell:
        "python -m scripts.write_report {wildcards.model:q} --gates {input.gates:q} --plan {input.plan:q}"
        " --walls {input.walls:q} --diagnosis {input.diagnosis:q} --verdicts {input.verdicts:q} --registry {params.registry:q}"
        " --working-copy results/registry --output {output.report:q} &> {log:q}"
