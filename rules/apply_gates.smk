rule apply_gates:
    input:
        plan="results/plan/{model}.tsv",
        verdicts=lambda wildcards: case_files(wildcards.model, "results/{case}.verdict"),
        receipts=lambda wildcards: case_files(wildcards.model, "results/{case}.row"),
        modules=module_files("scripts.apply_gates"),
    output:
        gates="results/{model}.gates.json",
    log:
        "results/logs/apply_gates/{model}.log",
    conda:
        "../environment.yml"
    message:
        "Apply the gates to {wildcards.model}"
    shell:
        "python -m scripts.apply_gates {wildcards.model:q} --plan {input.plan:q} --verdicts {input.verdicts:q}"
        " --receipts {input.receipts:q} --output {output.gates:q} &> {log:q}"
