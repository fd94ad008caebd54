from vault_index.team.database import connect, create_pool


def test_create_pool_keeps_an_existing_pool(pool_dsn: str) -> None:
    with connect(pool_dsn) as connection:
        assert not create_pool(connection)
