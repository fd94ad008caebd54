"""`python -m vault_index` is `vault-index`."""

import sys

from vault_index.cli import main

if __name__ == "__main__":
    sys.exit(main())
