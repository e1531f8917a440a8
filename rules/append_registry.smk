# Simulated evidence goes to a working copy of the registry; the output is the proof that the row is there.
rule append_registry:
    input:
        verdict="results/{case}.verdict",
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        modules=module_files("scripts.append_registry"),
    output:
        receipt="results/{case}.row",
    log:
        "results/logs/append_registry/{case}.log",
    conda:
        "../environment.yml"
    params:
        seed=settings.registry,
        # A place of this machine: see rules/compile_elf.smk.
        root=lambda wildcards, output: registry_root_options(),
    message:
        "Record {wildcards.case}"
    shell:
        "python -m scripts.append_registry --verdict {input.verdict:q} --registry results/registry"
        " --seed {params.seed:q} {params.root:q} --receipt {output.receipt:q} &> {log:q}"
