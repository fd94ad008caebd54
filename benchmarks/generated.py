"""Generate vaults of English words; the same number gives the same notes."""

import random
from pathlib import Path

NOUNS = """
account address agenda answer archive article backup balance battery bicycle bottle bridge budget
button cable camera candle canvas capital carbon change chapter circle climate coffee column compass
concert contract copper corner cotton database deadline decision deposit design detail diagram
dinner doctor document engine error estimate evening example factory failure feature festival filter
finance folder forest formula fraction garden gateway glass grammar guitar harbour header history
holiday hospital index insurance interview island journal journey kernel kitchen ladder lantern
letter library licence lighthouse luggage machine magnet manual market measure memory message method
mirror mixture module morning mountain museum network notebook number object ocean office option
orange orchard package painting paper partner password pattern pencil pepper picture pipeline planet
plaster pocket policy portrait postcard process product profile project protein question queue
railway recipe record release report request research river rocket sample schedule school science
season secret section server session shadow signal silver sister sketch socket soldier station
storage storm student sugar summer surface switch symbol system table teacher telescope temple
theatre thread ticket timber tongue tourist traffic training transfer travel tunnel umbrella update
vaccine valley vector vehicle version village violin visitor volume voyage wallet water weather
website wedding window winter worker writing yellow
"""
VERBS = (
    "is was needs holds follows replaces explains delays improves breaks saves "
    "moves checks shows keeps"
)


class Author:
    """Writes notes of headings and sentences, of 900 characters on average."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._nouns = NOUNS.split()
        self._verbs = VERBS.split()

    def words(self, count: int) -> str:
        """Return random words."""
        return " ".join(self.random.choices(self._nouns, k=count))

    def sentence(self) -> str:
        """Return a random sentence."""
        return f"The {self.words(2)} {self.random.choice(self._verbs)} the {self.words(3)}."

    def note(self) -> str:
        """Return the text of a random note."""
        sections = []
        for _ in range(self.random.randint(1, 4)):
            sentences = " ".join(self.sentence() for _ in range(self.random.randint(3, 11)))
            sections.append(f"## {self.words(2)}\n\n{sentences}\n")
        tags = ", ".join(self.random.sample(self._nouns, 2))
        return f"---\ntags: [{tags}]\n---\n# {self.words(3)}\n\n" + "\n".join(sections)


def make_vault(folder: Path, notes: int, seed: int = 7) -> None:
    """Write that many notes, fifty to a folder, some of the folders in others."""
    author = Author(seed)
    for number in range(notes):
        place = folder / f"area {number // 500}" / f"topic {number // 50}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{author.words(2)} {number}.md").write_text(author.note(), encoding="utf-8")
