from vault_index.team.database import connect, create_pool


def test_create_pool_keeps_an_existing_pool(pool_dsn: str) -> None:
    with connect(pool_dsn) as connection:
        assert not create_pool(connection)


def test_known_vectors_are_not_those_of_private_sources(pool_dsn: str) -> None:
    with connect(pool_dsn) as pool:
        pool.execute("INSERT INTO vector_space (provider, model, dimensions, endpoint) VALUES ('x', 'x', 2, '')")
        for name, key in (("private", b"1"), ("open", b"2")):
            pool.execute("INSERT INTO source (name, private) VALUES (%s, %s)", (name, name == "private"))
            pool.execute(
                "INSERT INTO embedding (space_id, zone_id, key, data) VALUES (1, zone_of(%s, '', ''), %s, '[1,0]')",
                (name, key),
            )
        found = pool.execute("SELECT key FROM known_vectors(1, %s)", ([b"1", b"2"],)).fetchall()
    assert found == [(b"2",)]
