"""Tools of the workspace."""

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, object_schema
from silu.tools.toolbox import ToolBox, read_arguments

__all__ = [
    "Args",
    "Tool",
    "ToolBox",
    "ToolContext",
    "ToolOutput",
    "object_schema",
    "read_arguments",
    "workspace_tools",
]


def workspace_tools() -> ToolBox:
    """The tools every session has on its workspace."""
    from silu.tools.list_files import LIST_FILES
    from silu.tools.read_document import READ_DOCUMENT
    from silu.tools.read_file import READ_FILE
    from silu.tools.search_files import SEARCH_FILES

    return ToolBox([READ_FILE, LIST_FILES, SEARCH_FILES, READ_DOCUMENT])
