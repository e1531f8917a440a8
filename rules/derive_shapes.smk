rule derive_shapes:
    input:
        config="config/models/{model}.json",
        registry=registry_files,
        facts=lambda wildcards: facts_of(wildcards.model),
        modules=module_files("scripts.derive_shapes"),
    output:
        plan="results/plan/{model}.tsv",
    log:
        "results/logs/derive_shapes/{model}.log",
    conda:
        "../environment.yml"
    params:
        seq_len=settings.seq_len,
        registry=lambda wildcards, input: folder_of(input.registry),
    message:
        "Derive the cases of {wildcards.model}"
    shell:
        "python -m scripts.derive_shapes {input.config:q} --seq-len {params.seq_len}"
        " --registry {params.registry:q} --tiles --output {output.plan:q} &> {log:q}"
