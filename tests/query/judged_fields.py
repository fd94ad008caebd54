"""Memories whose fields say what their texts do not, and questions about them, written before anything was tuned."""

import json
from collections.abc import Iterator

_BLOCKS = """
auth-tokens | Login sessions
text: We changed how people stay logged in. The old cookie is gone.
fact: Access tokens expire after fifteen minutes
fact: The refresh token rotates at each use, and a stolen one ends the whole family
subtitle: Short tokens with silent renewal
concept: authentication
files_modified: src/auth/session_store.py
bead_id: vx-117
? how long does an access token live
? what happens when a refresh token is stolen
? session_store.py
? silent renewal of tokens
? vx-117

cache-redis | Cache layer
text: Pages are kept in memory for a while so that the database has less to do.
fact: Redis evicts the least recently used keys at four gigabytes
fact: Product pages stay valid for ninety seconds
concept: stampede protection
files_read: deploy/redis/values.yaml
? when does redis evict keys
? how long are product pages cached
? stampede protection

db-postgres | Main database
text: The main database was moved to bigger machines in spring.
fact: Vacuum runs at three in the morning, when the reports are done
fact: Replica lag above two minutes pages the on-call engineer
subtitle: Sizing, vacuum and alarms of the primary
bead_id: vx-204
? at what hour does vacuum run
? replica lag alarm
? sizing of the primary

db-sqlite | Embedded database on the tills
text: Each till keeps its own file and sends its sales at night.
fact: A till that was offline for a week needs twenty minutes to catch up
fact: The journal mode is WAL because receipts print while sales are written
files_modified: till/storage/journal.rs
? how long does an offline till take to catch up
? reason for WAL on the tills
? journal.rs

pay-invoice | Invoices
text: Firms pay by invoice.
fact: Reminders go out after fourteen and after twenty-eight days
fact: Switzerland needs the QR code at the foot of the page
concept: dunning
? when are reminders sent
? which country wants a QR code on the invoice
? dunning

"""
_PLAIN = (
    "Tokens of the design system have names now.",
    "The cache of the coffee machine is full of beans: nobody empties it.",
    "Reports are read at three in the morning by nobody.",
    "The till in the canteen takes cards.",
    "Messages to customers are written by Jana.",
    "An event for all customers takes place in May.",
    "The bank has a new address.",
    "Pages of the handbook are printed once a year.",
)


def memories() -> Iterator[tuple[str, str]]:
    """Files by path: the memories of the questions, and others that share words with these."""
    for number, (name, title, lines, _) in enumerate(_blocks()):
        lists = ("fact", "concept", "files_read", "files_modified")
        fields: dict[str, list[str]] = {}
        text = ""
        for line in lines:
            key, _, value = line.partition(": ")
            if key == "text":
                text = value
            else:
                fields.setdefault(key, []).append(value)
        front = [f"title: {title}"]
        for key, values in fields.items():
            if key in lists and number % 2:  # as they are written by `add`
                front.append(f"{key}s: {json.dumps(values)}" if key in lists[:2] else f"{key}: {json.dumps(values)}")
            elif key in lists:
                front += [f"{key}s:" if key in lists[:2] else f"{key}:", *(f"  - {value}" for value in values)]
            else:
                front.append(f"{key}: {values[0]}")
        yield f"80-memory/{name}.md", "\n".join(["---", *front, "---", text, ""])
    for number, text in enumerate(_PLAIN):
        yield f"80-memory/plain-{number}.md", f"{text}\n"


def questions() -> Iterator[tuple[str, str]]:
    """Each question with the path of its answer."""
    for name, _, _, asked in _blocks():
        yield from ((question, f"80-memory/{name}.md") for question in asked)


def _blocks() -> Iterator[tuple[str, str, list[str], list[str]]]:
    for block in _BLOCKS.strip().split("\n\n"):
        head, *lines = block.split("\n")
        name, _, title = head.partition(" | ")
        yield (
            name,
            title,
            [line for line in lines if not line.startswith("? ")],
            [line[2:] for line in lines if line.startswith("? ")],
        )
