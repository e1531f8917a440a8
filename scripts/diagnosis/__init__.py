"""The diagnosis: a decoder's layers from kernels, each layer's output beside a reference's."""
