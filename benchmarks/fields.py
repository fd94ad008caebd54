"""Measure whether the value of a memory's field is found: 200 memories, 60 questions.

    python benchmarks/fields.py [--json FILE] [--worst]

One field of one memory answers each question: facts, subtitle, digest, concepts, files, bead, or a
key of the user. Questions use the words of the field (`exact`: a rare word, `plain`: common words,
`file`: a name) or others (`other`). Neither the body nor any other memory has the answer. If every
value were its own passage, the vectors of the shipped model alone would rank 57 of 60 first. Prints
how often the right memory is first, by channel and in both, how often the first hit shows the
value, and how often `recall` quotes it. Exits with 1 if a figure misses its limit.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe
from vault_index import VaultIndex
from vault_index.config.edit import create_config
from vault_index.config.home import find_home
from vault_index.query.search import Mode

MEMORIES = 200
WANTED = 0.85
CHANNELS: tuple[Mode, ...] = ("hybrid", "text", "vector")


class Case(NamedTuple):
    """A field with its memory and its question."""

    field: str
    value: str
    title: str
    body: str
    question: str
    kind: str


CASES = tuple(
    (Case(*one) for one in (
        (
            "facts", "The hull is varnished with Epifanes, in three coats",
            "Winter work on the dinghy",
            "The boat came out of the water in October and stands under the lean-to.",
            "how many coats of Epifanes", "exact",
        ),
        (
            "facts", "The left pedal has a reversed thread", "Overhaul of the tandem",
            "Chain, cables and both saddles were renewed before the tour.",
            "which side unscrews the other way", "other",
        ),
        (
            "facts", "The new queen is of Buckfast stock", "Hive two after the swarm",
            "The colony was weak in June and is calm again.", "where is there a Buckfast queen",
            "exact",
        ),
        (
            "facts", "The cone drops at 1222 degrees", "Glaze firing of the mugs",
            "The second shelf came out matt, the others as they should.",
            "at how many degrees does the cone drop", "plain",
        ),
        (
            "facts", "Only rosin of Bernardel does not squeak", "Strings for the viola",
            "The old set had lost its brightness by the autumn concert.",
            "which rosin does not squeak?", "plain",
        ),
        (
            "facts", "He is allergic to hazelnut and carries an injector",
            "Minding Oskar on Thursdays", "He is picked up at three and likes the swings best.",
            "does the boy have an allergy", "other",
        ),
        (
            "facts", "The pump trips its fuse at four amperes", "Water in the basement",
            "After the storm it stood up to the second shelf.",
            "at how many amperes does the fuse trip", "plain",
        ),
        (
            "facts", "Ms Okonkwo signs for every parcel", "Moving the office to the third floor",
            "Desks go first, then the shelves, the plants at last.", "who takes in packages",
            "other",
        ),
        (
            "facts", "Yeast W-34/70 was pitched at nine degrees", "Lager for the village fair",
            "Two kegs are ready and the third follows in a week.",
            "what was fermented with W-34/70", "exact",
        ),
        (
            "facts", "The ice lost ninety metres of length in a single summer",
            "Notes on the Aletsch", "Seen from the ridge each August since the map was drawn.",
            "how far did the glacier retreat in a year", "other",
        ),
        (
            "facts", "The lens mount has a nick at two o'clock", "Selling the old camera",
            "Box, strap and both batteries come with it.", "is there a nick in the lens mount",
            "plain",
        ),
        (
            "facts", "The dough stays eleven hours in the cold room", "Bread for the market stall",
            "Forty loaves on Saturdays, half of them with seeds.",
            "how long does it rest in the fridge", "other",
        ),
        (
            "facts", "The tenor part is transposed down a third", "Carols arranged for the choir",
            "Six of them fit on one side of the programme.", "which part was transposed down",
            "plain",
        ),
        (
            "facts", "Visas are issued by the consulate in Tbilisi", "Journey through the Caucasus",
            "By train as far as it goes, then by shared taxi.",
            "is there a consulate in Tbilisi for us?", "exact",
        ),
        (
            "facts", "The rent follows the Landesindex, once a year", "Lease of the workshop",
            "The landlord keeps the yard and we keep the key of the gate.", "Landesindex", "exact",
        ),
        (
            "facts", "The third stair creaks and is marked with chalk",
            "Ghost walk through the manor", "Visitors meet at the lamp and are counted twice.",
            "which step makes a noise", "other",
        ),
        (
            "subtitle", "because the ferrite core saturates", "Coil whine of the amplifier",
            "It was heard in quiet rooms only and stopped with the new part.",
            "what if the ferrite saturates", "exact",
        ),
        (
            "subtitle", "goats prefer bramble to thistle", "Clearing the upper meadow",
            "A week with twelve animals did what the mower could not.",
            "do goats prefer thistle or bramble", "plain",
        ),
        (
            "subtitle", "the harbour master leaves at noon", "Mooring in Kotka",
            "There is space for two masts behind the breakwater.",
            "until when is the harbour master there", "plain",
        ),
        (
            "subtitle", "limewash instead of acrylic", "Walls of the chapel",
            "Damp had lifted the coat of the seventies in sheets.", "limewash or acrylic?", "exact",
        ),
        (
            "subtitle", "two parts clay, one part chopped straw", "How the oven dome is built",
            "Sand is heaped up first and dug out through the door.",
            "how much straw goes into the clay", "plain",
        ),
        (
            "subtitle", "seven members must be present", "Statutes of the rowing club",
            "Printed in the yearbook, amended twice since the war.",
            "how many people make a quorum", "other",
        ),
        (
            "subtitle", "the sextant reads four minutes too high", "Practice in the bay",
            "Sun at noon, then two stars before the horizon went.",
            "by how much is the sextant wrong", "plain",
        ),
        (
            "subtitle", "Vesna takes the nights", "Rota of the shelter",
            "Beds are made at five and breakfast is laid out before.", "when does Vesna work",
            "exact",
        ),
        (
            "digest", "Otters returned once the weir was opened.", "River survey below the mill",
            "Tracks were counted on both banks every fortnight.",
            "what did opening the weir do for otters", "plain",
        ),
        (
            "digest", "The grant was refused for lack of an equality plan.",
            "Application to the foundation",
            "Forty pages, four letters and a budget in two currencies.",
            "why did we get no funding", "other",
        ),
        (
            "digest", "Cardamom replaces vanilla from March on.", "Menu of the café",
            "Fewer cakes, more of what can be eaten with one hand.", "what is replaced by cardamom",
            "exact",
        ),
        (
            "digest", "Bus 14 leaves from the rear exit during the works.",
            "How to get to the clinic", "The lift is slow, the ramp on the left is not.",
            "from where does bus 14 leave", "plain",
        ),
        (
            "digest", "The soprano has laryngitis until Easter.", "Cast of the oratorio",
            "Rehearsals are on Mondays in the parish hall.", "which of the singers is ill", "other",
        ),
        (
            "digest", "Insulated with hemp, since glass wool made us itch.", "Attic conversion",
            "Beams were doubled first and the floor laid last.",
            "which fibre is used instead of fiberglass", "other",
        ),
        (
            "digest", "A falcon on the tower keeps pigeons away.", "Cleaning the market square",
            "Twice a week before the stalls are put up.", "who keeps the pigeons away", "plain",
        ),
        (
            "digest", "Only the Italian game is taught to beginners.",
            "Saturday course at the library", "Nine children, five boards, juice at half past ten.",
            "which chess opening do the children learn", "other",
        ),
        (
            "concepts", "hysteresis", "Thermostat of the greenhouse",
            "It clicked on and off every minute until the band was widened.", "hysteresis", "exact",
        ),
        (
            "concepts", "token bucket", "Readings of the weather stations",
            "Too many came at the full hour, and the last ones were lost.",
            "where do we use a token bucket", "plain",
        ),
        (
            "concepts", "palimpsest", "Scans of the monastery codex",
            "Under blue light the margin of leaf nine became legible.", "a palimpsest", "exact",
        ),
        (
            "concepts", "cap and trade", "Essay on the power plants",
            "Two thousand words for the evening class, due in May.",
            "what have I on cap and trade?", "plain",
        ),
        (
            "concepts", "counterpoint", "Hours with Mr Ferrante",
            "At the piano, Wednesdays, an exercise to take home each time.",
            "who teaches counterpoint", "exact",
        ),
        (
            "concepts", "mycorrhiza", "Why the pines on the slope thrive",
            "They were planted with a shovel of old forest soil each.", "mycorrhiza", "exact",
        ),
        (
            "concepts", "fan-out on write", "News of the club in its app",
            "Opening the page took a second for those with many friends.", "fan-out on write",
            "plain",
        ),
        (
            "files_modified", "src/tariff/rounding_rules.py", "Cents that went missing",
            "Every tenth bill differed from the meter by one.",
            "what was changed in rounding_rules.py", "file",
        ),
        (
            "files_modified", "deploy/helm/values-canary.yaml", "Slow start of new pods",
            "Probes were asked before the caches were warm.", "values-canary.yaml", "file",
        ),
        (
            "files_modified", "migrations/0042_split_address.sql",
            "Streets apart from house numbers", "The courier wants them in two columns.",
            "migration that splits the address", "file",
        ),
        (
            "files_modified", "web/components/DatePickerPopover.tsx",
            "Calendar hidden behind the footer", "On small screens only, since the new layout.",
            "DatePickerPopover", "file",
        ),
        (
            "files_modified", "firmware/drivers/bme680.c", "Humidity stuck at ninety",
            "A register was read before the sensor was ready.", "why did we touch bme680.c?",
            "file",
        ),
        (
            "files_modified", "scripts/nightly_reindex.sh", "Load at two in the morning",
            "It is spread over an hour now and nobody notices.", "nightly reindex script", "file",
        ),
        (
            "files_modified", "lib/auth/refreshToken.ts", "Logged out after lunch",
            "The clock of the phone was believed where it should not be.", "refreshToken.ts",
            "file",
        ),
        (
            "files_read", "docs/rfc-0193-pagination.md", "Lists of ten thousand rows",
            "They are cut into slices with an opaque mark for the next.", "rfc-0193", "file",
        ),
        (
            "files_read", "vendor/openssl/ssl_lib.c", "Handshake with old printers",
            "They speak a version that was switched off in spring.",
            "what did I look up in ssl_lib.c", "file",
        ),
        (
            "files_read", "reports/boiler-inspection.pdf", "Contract for the heating",
            "Signed for three winters, with a bonus for a mild one.", "boiler-inspection.pdf",
            "file",
        ),
        (
            "files_read", "config/logrotate.d/squid", "Disk of the gateway full",
            "It happened on a Sunday and again on the next.", "logrotate of squid", "file",
        ),
        (
            "files_read", "notebooks/churn_cohorts.ipynb", "Subscribers who leave in spring",
            "Mostly those who came for the calendar.", "notebook with churn cohorts", "file",
        ),
        (
            "bead_id", "bd-417", "Flaky upload on trains",
            "Tunnels cut it off and it began from the start.", "bd-417", "exact",
        ),
        (
            "bead_id", "orchard-88", "Grafting weekend",
            "Scions were cut in January and kept in damp sand.", "what is orchard-88 about",
            "exact",
        ),
        (
            "bead_id", "kx-2093", "Language of the kiosk",
            "It fell back to Finnish after each restart.", "kx-2093", "exact",
        ),
        (
            "vendor", "Halvorsen and Sons", "New garage door",
            "Delivered in parts on a Friday, hung by Monday.", "what did Halvorsen deliver",
            "exact",
        ),
        (
            "reviewer", "Priyanka", "Draft of the safety leaflet",
            "Eight pages with drawings instead of sentences.", "what was Priyanka the reviewer of",
            "exact",
        ),
        (
            "instrument", "theodolite", "Corners of the plot",
            "Three stones were found, the fourth is below the hedge.",
            "what was measured with the theodolite", "exact",
        ),
        (
            "warranty", "ends with the sixth harvest", "Olive press",
            "It came by ship and was put up by two men in a day.",
            "until which harvest does the guarantee run", "other",
        ),
        (
            "callsign", "Zulu-Kestrel", "Radio weekend on the island",
            "Four antennas, one generator, no sleep.", "who was Zulu-Kestrel", "exact",
        ),
        (
            "budget", "ninety thousand crowns", "Renovation of the tram shelter",
            "Glass, bench and a roof that is green.", "how many thousand crowns", "plain",
        ),
    )),
)  # fmt: skip

_THINGS = (
    "lighthouse", "sawmill", "ski lift", "aquarium", "bell tower", "print shop", "orchard fence",
    "ice rink", "vineyard", "planetarium", "cable car", "salt mine", "stud farm", "archive",
    "watermill", "tea house", "airfield", "quarry", "puppet theatre", "sand dune", "bakery van",
    "fish ladder", "stone bridge", "wind turbine", "herb garden", "rope course", "tannery",
    "town clock",
)  # fmt: skip
_ASPECTS = ("Opening hours", "Repairs", "Visitors", "Neighbours", "Paperwork")
_SAID = (
    "Somebody has to be there when it is delivered, and to sign for it.",
    "The first coat dried overnight, for the second one there was no time.",
    "It makes a noise on one side that nobody could explain.",
    "On the way back we stopped at a café and wrote down what was left to do.",
    "Three offers came in; the second was taken, in crowns and not in euros.",
    "There was a vote, and two members were against it.",
    "Until noon it was dry, then the pump had to run for an hour.",
    "At twelve degrees it is too cold for the hands, at twenty the glue runs.",
    "Children may come along, as long as somebody keeps an eye on them.",
    "The script was run by hand and took a quarter of an hour.",
    "A year ago it was done in another way, which took longer.",
    "The funding covers half of it, the rest is paid by the club.",
    "The next harvest is late, so that there is time until September.",
    "Ask the office for the key; it hangs in the third box from the left.",
    "The roof over it leaks, and warmth goes out through the door.",
    "One of the singers at the party knew a man who has the parts.",
    "We opened it at night, because by day there are too many people.",
    "It was measured twice, and the results differ by four minutes.",
    "A notebook with drawings lies in the drawer, beside the chalk.",
    "The bus is late in winter, so start early or take the bicycle.",
    "What was replaced is kept in a box, for a year at least.",
    "Never eat or drink beside it, says the sign that was put up.",
    "The house was let to others that summer, and the address changed.",
    "Birds sit on it in the evening, and somebody has to clean it.",
    "It is written in the statutes, on the page before the last.",
    "After the works the exit at the rear is to be opened again.",
    "Who teaches it next year is open; two have asked.",
    "A step further on there is a gap, through which one sees the river.",
    "The pages are in the wrong order, and two of them are missing.",
    "It rests on two beams that were changed last spring.",
)
_PEOPLE = ("Ayla", "Bram", "Chidi", "Dunja", "Emre", "Fenna", "Goran", "Hilde", "Ines", "Jonas")
_TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
_LISTS = ("facts", "concepts", "files_read", "files_modified")


@dataclass(frozen=True, slots=True)
class Memory:
    """A generated memory."""

    name: str
    front: dict[str, Any]
    body: str

    def text(self) -> str:
        """Return the file of the memory."""
        # JSON is YAML, and needs no package to be written.
        front = "\n".join(
            f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in self.front.items()
        )
        return f"---\n{front}\n---\n{self.body}\n"


def make_memories(seed: int = 1) -> list[Memory]:
    """Return the memories of the cases, by their place in `CASES`, and others on other topics."""
    chance = random.Random(seed)
    found = []
    for at in range(MEMORIES - len(CASES)):
        thing, aspect = _THINGS[at % len(_THINGS)], _ASPECTS[at // len(_THINGS)]
        body = (
            f"{aspect} of the {thing} were talked over with {chance.choice(_PEOPLE)}; "
            "it goes on as before."
        )
        found.append(
            _memory(chance, f"filler-{at}", f"{aspect} of the {thing}", _told(chance, body), thing)
        )
    for at, case in enumerate(CASES):
        made = _memory(chance, f"case-{at}", case.title, _told(chance, case.body), "")
        value = [case.value] if case.field in _LISTS else case.value
        found.append(Memory(made.name, made.front | {case.field: value}, made.body))
    return found


def _told(chance: random.Random, body: str) -> str:
    """A body with more to read, in the words of the questions, that answers none of them."""
    more = chance.sample(_SAID, chance.randrange(3, 9))
    return "\n\n".join(
        [
            " ".join([body, *more[:2]]),
            " ".join(more[2:5]),
            *([" ".join(more[5:])] if more[5:] else []),
        ]
    )


def _memory(chance: random.Random, name: str, title: str, body: str, thing: str) -> Memory:
    """With fields of every kind; those of a case are about nothing that is asked for."""
    number = chance.randrange(100, 1000)
    about = thing or title.casefold()
    fields = {
        "subtitle": f"as {chance.choice(_PEOPLE)} told it",
        "digest": f"{title}: what was agreed, in short.",
        "facts": [
            f"{chance.choice(_PEOPLE)} was there on day {number}",
            f"sheet {number} has a drawing of it",
        ],
        "concepts": [f"plan {number}", "upkeep"],
        "files_read": [f"papers/{about.replace(' ', '_')}_{number}.txt"],
        "files_modified": [f"lists/{number}.csv"],
        "bead_id": f"tk-{number}{name.partition('-')[2]}",
        "season": chance.choice(("spring", "winter")),
    }
    kept = chance.sample(list(fields), 5)
    front = {
        "type": chance.choice(_TYPES),
        "title": title,
        "tags": [chance.choice(("home", "work", "club"))],
    }
    front["created"] = (
        f"2026-{chance.randrange(1, 11):02d}-{chance.randrange(1, 28):02d}T10:00:00+00:00"
    )
    return Memory(name, front | {key: fields[key] for key in fields if key in kept}, body)


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranks of the right memory."""

    case: Case
    first: Mapping[Mode, bool]
    """Whether the right memory is first, by channel."""
    ranks: Mapping[Mode, int]
    """Its place among the first ten, from 1; 0 where it is not there."""
    shown: bool
    quoted: bool
    came: str
    """The title that hybrid found first."""


def holds(text: str, value: str) -> bool:
    """Whether a text says a value, marks and line breaks aside."""
    said, wanted = (re.sub(r"[\W_]+", " ", one).casefold() for one in (text, value))
    return wanted.strip() in said


def measure(index: VaultIndex) -> list[Answer]:
    """Ask all questions."""
    answers = []
    for at, case in enumerate(CASES):
        name = f"case-{at}"
        ranks: dict[Mode, int] = {}
        for mode in CHANNELS:
            hits = index.search(case.question, mode=mode, limit=10, per_document=1).results
            places = [place for place, hit in enumerate(hits, 1) if Path(hit.path).stem == name]
            ranks[mode] = places[0] if places else 0
            if mode == "hybrid":
                came, best = (hits[0].title, hits[0]) if hits else ("nothing", None)
        shown = (
            best is not None
            and ranks["hybrid"] == 1
            and holds(f"{best.snippet} {best.digest}", case.value)
        )
        quoted = holds(index.recall(case.question).text, case.value)
        first = {mode: rank == 1 for mode, rank in ranks.items()}
        answers.append(Answer(case, first, ranks, shown, quoted, came))
    return answers


def shares(answers: list[Answer]) -> dict[str, float]:
    """Return the shares of questions with the right memory first, by kind."""
    found = {mode: sum(one.first[mode] for one in answers) / len(answers) for mode in CHANNELS}
    shown, quoted = (
        sum(getattr(one, what) for one in answers) / len(answers) for what in ("shown", "quoted")
    )
    return {**{str(mode): share for mode, share in found.items()}, "shown": shown, "recall": quoted}


def print_table(answers: list[Answer]) -> None:
    """Print the shares as a table."""
    groups = {"all": answers}
    for one in answers:
        groups.setdefault(one.case.kind, []).append(one)
    own = Counter(one.case.field for one in answers)
    for one in answers:
        groups.setdefault(one.case.field if own[one.case.field] > 1 else "own keys", []).append(one)
    print(
        f"\n{'right first':16}{'questions':>10}" + "".join(f"{name:>9}" for name in shares(answers))
    )
    for name, group in groups.items():
        print(
            f"{name:16}{len(group):>10}"
            + "".join(f"{share:>9.2f}" for share in shares(group).values())
        )


def missed(answers: list[Answer]) -> list[str]:
    """Return the figures that miss their limit."""
    found = shares(answers)
    lines = (
        [f"hybrid has {found['hybrid']:.2f} right first, wanted {WANTED}"]
        if found["hybrid"] < WANTED
        else []
    )
    return lines + [
        f"hybrid is under {one}" for one in ("text", "vector") if found["hybrid"] < found[one]
    ]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument(
        "--worst", action="store_true", help="name the questions that hybrid does not answer first"
    )
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory(prefix="vx-") as temporary:
        answers = run(Path(temporary))
    print_table(answers)
    if options.worst:
        for one in answers:
            if not one.first["hybrid"]:
                places = ", ".join(f"{mode} {rank or '-'}" for mode, rank in one.ranks.items())
                print(f"{one.case.field:16}{one.case.question}   ({places}; came: {one.came})")
    if options.json:
        options.json.write_text(json.dumps(shares(answers), indent=1) + "\n", "utf-8")
    if faults := missed(answers):
        raise SystemExit("\n".join(["", *faults]))


def run(folder: Path) -> list[Answer]:
    """Measure with a new home."""
    memories = folder / "vault/80-memory"
    memories.mkdir(parents=True)
    for one in make_memories():
        (memories / f"{one.name}.md").write_text(one.text(), "utf-8")
    home = find_home(folder / "home")
    create_config(home, folder / "vault", provider="local", memory_dir=None)
    with VaultIndex.open(home) as index:
        report = index.sync()
        assert report.added == MEMORIES, report
        return measure(index)


if __name__ == "__main__":
    main()
