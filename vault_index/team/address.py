"""The address of the pool: libpq options with a verified host and a password, and its name."""

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

from vault_index.config.schema import PoolConfig
from vault_index.embeddings.access import output_of
from vault_index.embeddings.packages import install
from vault_index.errors import ConfigError, NotSetUpError, PoolError

_PACKAGES = "'psycopg[binary,pool]>=3.2,<4'"
_CONNECT_SECONDS = "10"
_LOST_MS = "30000"
"""Milliseconds without an answer after which a connection counts as lost."""


def conninfo(config: PoolConfig) -> str:
    """Return the options for libpq as one text, which may hold the password: never print it."""
    options = connection_options(config)
    from psycopg.conninfo import make_conninfo

    return make_conninfo("", **options)


def connection_options(
    config: PoolConfig, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the options for libpq.

    A host that is not local gets `sslmode=verify-full`, unless the address, its service or
    `PGSSLMODE` says otherwise.
    """
    options = _parse(config)
    name = options.get("service") or environ.get("PGSERVICE", "")
    known = {**_service(name, environ), **options}
    unknown = "?" if name else ""  # the file of the whole system may define the service
    host = known.get("hostaddr") or known.get("host") or environ.get("PGHOST", unknown)
    if not _is_local(host) and "sslmode" not in known and "PGSSLMODE" not in environ:
        options["sslmode"] = "verify-full"
        own = Path(os.path.expanduser("~/.postgresql/root.crt"))
        if "sslrootcert" not in known and "PGSSLROOTCERT" not in environ and not own.exists():
            options["sslrootcert"] = "system"
            import ssl  # late, because it is slow

            # The OpenSSL of psycopg does not know the folders of the system.
            system = ssl.get_default_verify_paths()
            for name, path in (("SSL_CERT_FILE", system.cafile), ("SSL_CERT_DIR", system.capath)):
                if path:
                    os.environ.setdefault(name, path)
    if config.password_command:
        options["password"] = output_of(config.password_command, "pool.password_command", PoolError)
    limits = {"connect_timeout": _CONNECT_SECONDS, "tcp_user_timeout": _LOST_MS}
    return {**limits, "application_name": "vault-index", **options}


def label(config: PoolConfig) -> str:
    """Return host and database of the pool, for messages and the ledger."""
    options = _parse(config)
    if service := options.get("service"):
        return f"service={service}"
    host = options.get("host") or options.get("hostaddr") or "localhost"
    port = options.get("port")
    return f"{host}{f':{port}' if port else ''}/{options.get('dbname', '')}"


def _parse(config: PoolConfig) -> dict[str, str]:
    if not config.dsn:
        raise NotSetUpError("there is no pool yet", "join one: vault-index pool join DSN")
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise NotSetUpError(
            "the packages for a pool are not installed",
            f"install them: {install(_PACKAGES)}",
        ) from error
    try:
        return {key: str(value) for key, value in conninfo_to_dict(config.dsn).items()}
    except ProgrammingError as error:
        raise ConfigError(
            "pool.dsn is not an address of PostgreSQL",
            "use the form postgresql://notes@db.example.org/team, or service=team",
        ) from error


def _service(name: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the options of a service, as far as its file is readable here."""
    file = environ.get("PGSERVICEFILE") or os.path.expanduser("~/.pg_service.conf")
    services = configparser.ConfigParser(interpolation=None)
    try:
        services.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return {}
    return dict(services[name]) if name and services.has_section(name) else {}


def _is_local(host: str) -> bool:
    """Return whether every host is a Unix socket or this machine."""
    return all(
        not one or one[0] in "/@" or one in ("localhost", "::1") or one.startswith("127.")
        for one in host.split(",")
    )
