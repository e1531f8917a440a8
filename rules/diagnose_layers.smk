# Whole layers from the model's own ELFs. What it has to say of a missing extra goes to the terminal, too.
rule diagnose_layers:
    input:
        config="config/models/{model}.json",
        plan="results/plan/{model}.tsv",
        builds=lambda wildcards: case_files(wildcards.model, "results/build/{case}/build.json"),
        modules=module_files("scripts.diagnose_layers", "scripts.diagnosis.host_layers"),
    output:
        diagnosis="results/{model}.diagnosis.json",
    log:
        "results/logs/diagnose_layers/{model}.log",
    conda:
        "../environment.yml"
    threads: workflow.cores
    resources:
        npu=1,
        runtime=settings.minutes["diagnose"],
    params:
        # Each failed attempt changes this number: see rules/run_kernel.smk.
        failed_attempts=lambda wildcards: failed_attempts(
            Path("results/attempts", f"{wildcards.model}.layers")
        ),
        seq_len=settings.seq_len,
        decode_tokens=settings.diagnosis["decode_tokens"],
        layers=settings.diagnosis["layers"],
        min_cosine=settings.diagnosis["min_cosine"],
        max_step=settings.diagnosis["max_step"],
        reference=settings.diagnosis["reference"],
        device=device,
        # Places of this machine, on which no result depends: see rules/compile_elf.smk.
        access=lambda wildcards, output: diagnosis_options(),
    message:
        "Diagnose the layers of {wildcards.model}"
    shell:
        "python -m scripts.diagnose_layers {input.config:q} --plan {input.plan:q} --seq-len {params.seq_len}"
        " --decode-tokens {params.decode_tokens} --layers {params.layers} --min-cosine {params.min_cosine}"
        " --max-step {params.max_step} --reference {params.reference} {params.access:q} --threads {threads}"
        " --attempts results/attempts/{wildcards.model:q}.layers"
        " --time-limit $(( {resources.runtime} * 60 )) --output {output.diagnosis:q} 2>&1 | tee {log:q}"
