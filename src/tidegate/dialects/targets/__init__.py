"""One file per scheduler: its words for queue, user, priority and gang, on the objects of every kind."""

from __future__ import annotations

from tidegate.dialects.dialect import Dialect
from tidegate.dialects.targets.kueue import Kueue
from tidegate.dialects.targets.plugins import SchedulerPlugins
from tidegate.dialects.targets.tidegate import Tidegate
from tidegate.dialects.targets.volcano import Volcano
from tidegate.dialects.targets.yunikorn import Yunikorn

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (Kueue(), Yunikorn(), Volcano(), SchedulerPlugins(), Tidegate())
}
