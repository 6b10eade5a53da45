"""Server-side apply and the tracking of field owners (`metadata.managedFields`).

`server_side_apply` answers an apply, `track_update` every other write. Both are pure: objects, a schema and the time
in, a new object out. Which fields a request cannot change, and what an object is defaulted to, the caller knows.
"""

from tidegate.local.patch.apply.fieldset import FieldSet
from tidegate.local.patch.apply.reset import reset_fields
from tidegate.local.patch.apply.server_side import Applier, server_side_apply
from tidegate.local.patch.apply.update import identical, settled, track_update

__all__ = ["Applier", "FieldSet", "identical", "reset_fields", "server_side_apply", "settled", "track_update"]
