"""`python -m tidegate`: the command line."""

import sys

from tidegate.cli.main import main

sys.exit(main())
