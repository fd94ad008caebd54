"""The daemon sends no text that the settings on disk keep local, loaded or not."""

from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.waiting import until
from tests.world import World


def test_daemon_obeys_privacy_settings_on_disk_before_loading_them(world: World) -> None:
    for n in range(8):
        world.write(f"{n}.md", f"Everybody may read number {n}.\n")
        world.write(f"private/{n}.md", f"The secret number {n}.\n")
    with EmbeddingServer(dimensions=64) as server:
        world.configure()
        settings = world.home.config_file.read_text("utf-8").replace(
            'provider = "none"',
            f'provider = "openai"\nbase_url = "{server.base_url}"\nmodel = "toy"\ndimensions = 64\nbatch_texts = 1',
        )

        def keep_the_others(request: Request, reply: Reply) -> Reply:
            kept = settings.replace("[embedding]", 'local_only = ["private/"]\n[embedding]')
            world.home.config_file.write_text(kept, "utf-8")
            return reply

        world.home.config_file.write_text(settings, "utf-8")
        server.fail_next(keep_the_others)
        world.daemon(NO_PROXY="127.0.0.1", OPENAI_API_KEY="sk-test")
        until(lambda: len(server.texts) >= 8 and world.ask("status")["index"]["pending"] == 0)
        assert not any("secret" in text for text in server.texts[1:])
        assert sum("Everybody" in text for text in server.texts) == 8
