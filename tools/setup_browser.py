"""Bring Chromium for the report's tests: Debian's package, where this may be installed; else say what is missing.

Playwright's own download is not used, so that a machine with a package mirror is enough.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    if any(map(shutil.which, NAMES)):
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        subprocess.run(install, check=True, env=quiet, stdout=subprocess.DEVNULL)
        return 0
    print(
        "No Chromium found: install it (Debian: apt-get install chromium). Until then the report's tests are skipped."
    )
    return int(os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
