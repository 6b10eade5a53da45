"""See the package."""

from __future__ import annotations

import sys

from tools.generate import outdated, write

if "--check" not in sys.argv[1:]:
    write()
wrong = outdated()  # What is left after writing is what nothing generates any more.
for path in wrong:
    print(f"{path} is not current; run python -m tools.generate, or remove it if nothing makes it any more")
sys.exit(1 if wrong else 0)
