"""Models: a Hugging Face config, and the kernel calls it leads to."""
