"""A month of work: sixty sessions in which twenty questions are asked again and again, and tools are used."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.query.sessions import make_home, say
from tests.sources.opencode.stores import tool
from vault_index import VaultIndex


class Question(NamedTuple):
    asked: Sequence[str]
    """As it is asked, the first time first."""
    reply: Any
    """How it was answered once; None where it never was."""
    answer: str
    """A word of the answer; empty where there is none."""


QUESTIONS: Sequence[Question] = (
    Question(("Which port does the staging proxy listen on?", "which port does the staging proxy listen on"),
             [tool("grep", {"pattern": "staging proxy"}), "It's 5433, set in infra/proxy.yml."], "5433"),
    Question(("What database does the billing service use?", "What database is the billing service using?"),
             "Postgres 16, on a machine of its own.", "Postgres"),
    Question(("Who approves releases on Fridays?", "who approves releases on fridays?"),
             ["Let me check the handbook.", tool("read", {"filePath": "handbook.md"}),
              "Marta does, or Jonas if she is away."], "Marta"),
    Question(("How do we rotate the signing keys?", "Please tell me: how do we rotate the signing keys?"),
             "Run `make rotate`, then wait for the canary to turn green.", "make rotate"),
    Question(("Why was the login cache removed?", "why was the login cache removed again?"),
             ["I'll look at the history.", tool("bash", {"command": "git log --grep cache"}, metadata={"exit": 0}),
              "Stale entries locked people out after a password change."], "Stale entries"),
    Question(("When does the nightly import start?", "When does the nightly import start"), "At 02:15 UTC.", "02:15"),
    Question(("Where are the backups of the warehouse kept?", "Where are the warehouse backups kept?"),
             [tool("memory_search", {"query": "Where are the backups of the warehouse kept?"}, "Nothing."),
              "In the bucket cold-storage-eu, for ninety days."], "cold-storage-eu"),
    Question(("Do we support Python 3.10?", "do we support python 3.10"),
             "No. It was dropped in spring; 3.11 is the oldest.", "dropped in spring"),
    Question(("What is the rate limit of the public API?", "Remind me, what is the rate limit of the public API?"),
             "Sixty requests a minute for each key.", "Sixty"),
    Question(("Welchen Port benutzt der Mailserver?", "welchen Port benutzt der Mailserver"),
             "Er lauscht auf 2525, seit dem Umzug.", "2525"),
    Question(("Which flag turns on verbose tracing?", "Which flag turns verbose tracing on?"),
             ["Searching the sources.", tool("grep", {"pattern": "trace"}),
              "`--trace=full`; the short form only prints spans."], "--trace=full"),
    Question(("How many workers does the queue run in production?",
              "how many workers does the queue run in production"),
             "Twelve: four for mail, eight for everything else.", "Twelve"),
    Question(("¿Dónde se guardan los informes mensuales?", "¿dónde se guardan los informes mensuales?"),
             "En la carpeta compartida finanzas/2026.", "finanzas/2026"),
    Question(("What did we decide about the retry policy of the uploader?",
              "what did we decide about the uploader retry policy"),
             "Three tries with doubling pauses, then the file goes to the dead letter box.", "doubling pauses"),
    Question(("课程报告存放在哪个目录？", "课程报告存放在哪个目录"), "放在 reports/spring 里面。", "reports/spring"),
    # Answered by the vault alone.
    Question(("Which colour has the alert for a full disk?", "which colour has the alert for a full disk"),
             None, "amber"),
    # Never answered.
    Question(("Which vendor supplies the office coffee?", "which vendor supplies the office coffee?"), None, ""),
    Question(("What is the serial number of the spare router?", "what's the serial number of the spare router?"),
             None, ""),
    Question(("Where did the old label printer go?", "Where did the old label printer go"), None, ""),
    Question(("Who owns the domain tidewater.example?", "who owns the domain tidewater.example"), None, ""),
)  # fmt: skip
NO_REPLIES = (
    None,
    "I don't know.",
    "I found nothing about that in your notes, sorry. Which project do you mean?",
    [tool("memory_search", {"query": "…"}, "0 hits"), "I could not find any record of it."],
    ["Let me look through the repository.", tool("glob", {"pattern": "**/*"})],
)
CHORES = (
    ("Rename the helper in utils.ts to formatPrice.", "Renamed it in four files; the tests pass."),
    ("The build is red, fix it.", "A missing import in checkout.ts; the build is green again."),
    ("Add a test for empty carts.", "Added test_empty_cart; it fails on main and passes here."),
    ("Bump the linter and fix what it finds.", "Bumped to 9.4, eleven unused variables removed."),
)
NOTES = {
    "ops/alerts.md": "# Alerts\n\n## Disk\n\nA full disk raises an amber alert, a dying one a red alert.\n",
    "ops/coffee.md": "# Kitchen\n\nThe coffee machine is descaled on the first Monday.\n",
    "faq.md": "# FAQ\n\n## How do I reset my password?\n\nWith the link below the form.\n",
    "ops/network.md": "# Network\n\nThe router in the basement was replaced in March; a spare one is in the rack.\n",
}


@contextmanager
def month(folder: Path, **options: Any) -> Iterator[VaultIndex]:
    home, client = make_home(folder, notes=NOTES, **options)
    for number in range(60):
        question, round_ = QUESTIONS[number % 20], number // 20
        chore, done = CHORES[number % 4]
        reply = question.reply if round_ == 0 and question.reply else NO_REPLIES[number % len(NO_REPLIES)]
        asked = question.asked[round_ % 2]
        turns: list[Any] = [asked, reply]
        if number % 3 == 0:
            turns = [chore, done, *turns]
        if round_ == 2:  # in passing
            turns = [f'Yesterday I asked "{question.asked[0]}", never mind. {chore}', done]
        say(client, f"ses_day{number:02}", turns, title=asked if number % 2 else f"Work of day {number}")
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        yield index


NOTHING = ("I don't know.", "I found nothing", "I could not find", "Let me look through")


def says_nothing(question: Question, text: str) -> bool:
    return is_echo(question, text) or any(words in text for words in NOTHING)


def is_echo(question: Question, text: str) -> bool:
    """Whether a text repeats the question, and does not answer it."""
    plain = " ".join(text.casefold().split())
    repeats = any(asked.casefold().rstrip("?？") in plain for asked in question.asked)
    return repeats and (not question.answer or question.answer.casefold() not in plain)


def variants(question: Question) -> Sequence[str]:
    first, then = question.asked
    return then, first.upper().rstrip("?？"), f"Hi, {first[0].lower()}{first[1:]} Thanks!"
