"""A Markdown table from a table of texts."""

import pandas as pd

_TEXT_COLUMNS = ("Shape", "Method", "Used by", "Evidence", "Kernel", "Contract", "Fastest")


def markdown_table(frame: pd.DataFrame) -> str:
    """The frame's cells as a pipe table, numbers aligned right, without an index column.

    A pipe inside a cell is escaped, so that it does not end the cell.
    """
    escaped = frame.map(lambda cell: cell.replace("|", r"\|"))
    alignment = ["left" if name in _TEXT_COLUMNS else "right" for name in frame.columns]
    return (
        escaped.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        if len(frame)
        else "No rows yet."
    )
