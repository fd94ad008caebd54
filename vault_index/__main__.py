"""`python -m vault_index` is `vault-index`."""

from vault_index.cli import process

if __name__ == "__main__":
    process()
