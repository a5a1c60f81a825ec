#!/usr/bin/env python3
"""Libraries that others load and unload stay loaded, as their dynamic section asks the loader: threads of TBB, which dlclose()
would unload with them, still run its code for a moment after a call has ended.

  stays_loaded_test.py LIBRARY...
"""

import subprocess
import sys

unloaded = [library for library in sys.argv[1:]
            if "NODELETE" not in subprocess.run(["readelf", "--dynamic", library], check=True, capture_output=True, text=True).stdout]
for library in unloaded:
    print(f"{library} lacks the flag NODELETE: link it with -z nodelete")
sys.exit(1 if unloaded else 0)
