"""What the Snakefile knows at parse time: settings, the plan, and the files each step depends on."""
