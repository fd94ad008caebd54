"""The address of a pool: verified hosts, and passwords that are never shown."""

from pathlib import Path

import pytest

from vault_index.config import PoolConfig
from vault_index.errors import ConfigError, NotSetUpError, PoolError
from vault_index.team.address import connection_options, conninfo, label

NO_HOME = {"PGSERVICEFILE": "/nonexistent"}


def options(dsn: str, environ: dict[str, str] | None = None) -> dict[str, str]:
    return connection_options(PoolConfig(dsn=dsn), {**NO_HOME, **(environ or {})})


@pytest.mark.parametrize(
    ("dsn", "environ", "mode"),
    [
        ("postgresql://anna@db.example.org/team", {}, "verify-full"),
        ("dbname=team", {"PGHOST": "db.example.org"}, "verify-full"),
        ("hostaddr=192.0.2.1 dbname=team", {}, "verify-full"),
        ("host=localhost,db.example.org dbname=team", {}, "verify-full"),
        ("service=unknown", {}, "verify-full"),
        ("postgresql://anna@localhost/team", {}, None),
        ("host=/run/postgresql dbname=team", {}, None),
        ("host=127.0.0.1", {}, None),
        ("postgresql://anna@db.example.org/team?sslmode=require", {}, "require"),
        ("host=db.example.org", {"PGSSLMODE": "require"}, None),
    ],
)
def test_options_verify_hosts_that_are_not_local(dsn: str, environ: dict[str, str], mode: str | None) -> None:
    assert options(dsn, environ).get("sslmode") == mode


def test_options_read_the_service_file(tmp_path: Path) -> None:
    file = tmp_path / "services"
    file.write_text("[team]\nhost=db.example.org\ndbname=team\n[own]\nhost=x.org\nsslmode=require\n", "utf-8")
    environ = {"PGSERVICEFILE": str(file)}
    assert options("service=team", environ)["sslmode"] == "verify-full"
    assert "sslmode" not in options("service=own", environ)
    assert options("dbname=other", environ | {"PGSERVICE": "team"})["sslmode"] == "verify-full"


def test_password_command_is_run_and_its_output_is_not_shown() -> None:
    settings = PoolConfig(dsn="host=localhost", password_command="echo geheim")
    assert "password=geheim" in conninfo(settings)
    assert "geheim" not in label(settings)
    with pytest.raises(PoolError) as error:
        conninfo(PoolConfig(dsn="host=localhost", password_command="sh -c 'echo geheim; exit 1'"))
    assert "geheim" not in error.value.in_one_line


def test_label_names_host_and_database() -> None:
    assert label(PoolConfig(dsn="postgresql://anna@db.example.org:5433/team")) == "db.example.org:5433/team"
    assert label(PoolConfig(dsn="service=team")) == "service=team"


def test_options_refuse_what_is_no_address() -> None:
    with pytest.raises(NotSetUpError):
        options("")
    with pytest.raises(ConfigError, match="not an address"):
        options("postgresql://[")
