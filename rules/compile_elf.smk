# kernel.elf stands beside the record, but only when the build succeeded: a failed build is data.
rule compile_elf:
    input:
        facts=lambda wildcards: facts_file(kernel_of(wildcards.case)),
        sources=lambda wildcards: built_from(kernel_of(wildcards.case)),
        kernel_source=lambda wildcards: replaced_source(kernel_of(wildcards.case)),
        modules=module_files("scripts.compile_elf", *target.build_modules),
    output:
        record="results/build/{case}/build.json",
    log:
        "results/logs/compile_elf/{case}.log",
    conda:
        "../environment.yml"
    resources:
        runtime=settings.minutes["compile"],
    params:
        target=settings.target,
        toolchain=toolchain,
        tile=lambda wildcards: tile_options(wildcards.case),
        # Words for the record, which the ELF doesn't depend on: a param that asks for `output` triggers no rerun.
        reason=lambda wildcards, output: tile_reason(wildcards.case),
        checkout=lambda wildcards, output: checkout_options(),
        folder=lambda wildcards, output: Path(output.record).parent.as_posix(),
        failed_builds=lambda wildcards: failed_builds(Path("results/attempts", wildcards.case)),
    message:
        "Compile {wildcards.case}"
    shell:
        "python -m scripts.compile_elf {wildcards.case:q} --target {params.target:q}"
        " {params.tile:q} {params.reason:q} --output-dir {params.folder:q}"
        " {params.checkout:q} --kernel-source {input.kernel_source:q} --objects results/build/objects"
        " --time-limit $(( {resources.runtime} * 60 )) &> {log:q}"
