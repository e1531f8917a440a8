# What can be known before a compile; the message shows it in a dry run too.
rule preflight:
    input:
        config="config/models/{model}.json",
        registry=registry_files,
        facts=lambda wildcards: facts_of(wildcards.model),
        modules=module_files("scripts.preflight"),
    output:
        walls="results/plan/{model}.walls.tsv",
    log:
        "results/logs/preflight/{model}.log",
    conda:
        "../environment.yml"
    params:
        seq_len=settings.seq_len,
        registry=lambda wildcards, input: folder_of(input.registry),
        tiles=lambda wildcards: own_tiles(wildcards.model),
        # Words for the message, which the output doesn't depend on: see rules/compile_elf.smk.
        summary=lambda wildcards, output: plan.preflight(wildcards.model),
    message:
        "Preflight {wildcards.model}: {params.summary}"
    shell:
        "python -m scripts.preflight {input.config:q} --seq-len {params.seq_len}"
        " --registry {params.registry:q} --tiles {params.tiles:q} --output {output.walls:q} &> {log:q}"
