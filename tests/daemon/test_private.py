"""The daemon sends nothing that the settings on the disk keep, whether it has read them or not."""

from tests.daemon.fake_index import until
from tests.daemon.test_run import Place, place as place
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer


def test_settings_on_the_disk_hold_before_they_are_loaded(place: Place) -> None:
    for n in range(8):
        place.write(f"{n}.md", f"Everybody may read number {n}.\n")
        place.write(f"private/{n}.md", f"The secret number {n}.\n")
    with EmbeddingServer(dimensions=64) as server:
        place.configure()
        settings = place.home.config_file.read_text("utf-8").replace(
            'provider = "none"',
            f'provider = "openai"\nbase_url = "{server.base_url}"\nmodel = "toy"\ndimensions = 64\nbatch_texts = 1',
        )

        def keep_the_others(request: Request, reply: Reply) -> Reply:
            kept = settings.replace("[embedding]", 'local_only = ["private/"]\n[embedding]')
            place.home.config_file.write_text(kept, "utf-8")
            return reply

        place.home.config_file.write_text(settings, "utf-8")
        server.fail_next(keep_the_others)
        place.started(NO_PROXY="127.0.0.1", OPENAI_API_KEY="sk-test")
        until(lambda: len(server.texts) >= 8 and place.ask("status")["index"]["pending"] == 0)
        assert not any("secret" in text for text in server.texts[1:])
        assert sum("Everybody" in text for text in server.texts) == 8
