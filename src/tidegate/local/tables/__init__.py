"""What `kubectl get` shows: objects as rows of a Table, with the columns and words Kubernetes uses.

`table` draws a list or one object, `table_row` one row for a watch. Here live columns and cells; nothing reads a clock,
asks the store or knows HTTP.
"""

from tidegate.local.tables.columns import Column
from tidegate.local.tables.custom import custom_columns
from tidegate.local.tables.table import IncludeObject, table, table_row

__all__ = ["Column", "IncludeObject", "custom_columns", "table", "table_row"]
