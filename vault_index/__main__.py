"""Run the `vault-index` command with `python -m vault_index`."""

from vault_index.cli import process

if __name__ == "__main__":
    process()
