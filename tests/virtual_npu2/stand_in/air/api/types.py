"""Stand-in for the element types of mlir-air's array language."""

from air.types import ELEMENT_TYPES

bf16, f32, i32 = (ELEMENT_TYPES[name] for name in ("bf16", "f32", "i32"))
