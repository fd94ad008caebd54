"""The budget of the code base: simplify what exceeds it, or raise the budget on purpose, with a reason."""

import ast
import re
from collections.abc import Iterator, Sequence, Set
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import vault_index

PACKAGE = Path(vault_index.__file__).parent
TESTS = Path(__file__).parent
STATEMENTS = 27_569
"""Executable ones: without docstrings and imports."""
MODULES = 298
TEST_LINES = 42_213
LINES = 600
BEGINNINGS = ("TOML",)
"""Names in upper case that may begin a message."""

RIDDLES = re.compile(
    r"\b(who|whose|whom|nobody|is none|are none|told|said|what is|what are|of those|of these|of late|anew|beside"
    r"|besides|as it stands|as they stand|so many|of which|in question|asks)\b",
    re.IGNORECASE,
)
"""Words that make a sentence hard to read when they pile up; WORDS_A_RIDDLE is the limit."""
WORDS_A_RIDDLE = {"docs": 333, "messages": 333, "docstrings": 250}

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DECISIONS = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.Assert)
NOW = ("date.today", "datetime.now", "datetime.today", "time.time")
WAITS = {"wait": 0, "result": 0, "until": 1}
"""Calls that wait, and the argument that holds the time."""
PAGE_READS = {
    "all_inner_texts", "all_text_contents", "count", "get_attribute", "inner_text", "input_value", "is_checked",
    "is_disabled", "is_enabled", "is_hidden", "is_visible", "text_content",
}  # fmt: skip
"""Methods of Playwright that answer at once."""
ABOUT_DEADLINES = {"embeddings/test_openai.py"}


def test_house_keeps_within_its_budget() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    modules = [path for path in texts if path.name != "__init__.py"]
    statements = sum(is_executable(node) for text in texts.values() for node in ast.walk(ast.parse(text)))
    too_long = [path.name for path, text in texts.items() if text.count("\n") > LINES]
    advice = "over the budget (CONTRIBUTING.md, Structure of the code): make room, or ask to raise it"
    assert statements <= STATEMENTS, advice
    assert len(modules) <= MODULES, advice
    assert too_long == [], advice
    tests = sum(path.read_text(encoding="utf-8").count("\n") for path in TESTS.rglob("*.py"))
    assert tests <= TEST_LINES, advice


def is_executable(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return False
    return isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom)


def test_house_functions_are_simple() -> None:
    """At most 14 decisions, `and` and `or` among them (ruff counts none), and no nested conditional expression."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.IfExp):
                assert sum(isinstance(one, ast.IfExp) for one in ast.walk(node)) == 1, f"{path}:{node.lineno}"
            if isinstance(node, DEFINITIONS[:2]):
                assert decisions(node) < 15, f"{path}:{node.lineno}"


def decisions(node: ast.AST) -> int:
    """Those of a node and all below it, without inner functions."""
    own = isinstance(node, DECISIONS) + len(getattr(node, "ifs", ()))
    more = len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    below = (one for one in ast.iter_child_nodes(node) if not isinstance(one, DEFINITIONS))
    return own + more + sum(map(decisions, below))


def test_house_prose_is_plain() -> None:
    """At most 3 riddles per 1,000 words of docs and messages, 4 of docstrings."""
    prose = {
        "docs": [path.read_text("utf-8") for path in PACKAGE.parent.glob("docs/*.md")],
        "messages": [],
        "docstrings": [],
    }
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 2:
                prose["docstrings" if id(node) in documentation else "messages"].append(node.value)
    for kind, texts in prose.items():
        text = "\n".join(texts)
        assert len(RIDDLES.findall(text)) * WORDS_A_RIDDLE[kind] <= len(re.findall(r"[A-Za-z']+", text)), kind


def test_house_has_no_import_cycles() -> None:
    """Including late imports and those for types only; a package's `__init__` is a module."""
    graph = grimp.build_graph("vault_index", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_house_errors_and_hints_are_not_sentences() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    classes = error_classes([node for tree in trees.values() for node in ast.walk(tree)])
    found = [(path.name, *words) for path, tree in trees.items() for words in words_of_errors(tree, classes)]
    assert len(found) > 400  # else errors are made in a way that this test does not see
    assert [words for words in found if is_sentence(*words[2:])] == []


def test_house_check_detects_a_sentence_in_an_error() -> None:
    for call, wrong in {
        "UsageError('it is gone', 'TOML can hold it')": False, "UsageError('it is gone.')": True,
        "UsageError(f'{path} is gone.', hint)": True, "UsageError(f'Gone: {path}')": True,
        "type(error)('it is gone.' if path else name)": True, "UsageError(message, hint='wait' + '.')": True,
    }.items():  # fmt: skip
        found = words_of_errors(ast.parse(call), {"UsageError"})
        assert any(is_sentence(first, last) for _, first, last in found) == wrong, call


def test_house_tests_do_not_depend_on_the_clock() -> None:
    """No date is read at import of a test, and every deadline is PATIENCE (tests/waiting.py)."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}
    found = {path.relative_to(TESTS).as_posix(): clocks(tree) for path, tree in trees.items()}
    assert {path: places for path, places in found.items() if places and path not in ABOUT_DEADLINES} == {}


def test_house_page_tests_wait_for_their_assertions() -> None:
    """A plain `assert` reads the page once, perhaps too early; `expect` reads it until it is true."""
    trees = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in (TESTS / "page_real").glob("*.py")}
    found = [
        f"{name}:{call.lineno}"
        for name, tree in trees.items()
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assert)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PAGE_READS
        if call.func.attr != "count" or not call.args
    ]
    assert found == []


def clocks(tree: ast.Module) -> list[str]:
    """The calls that read the clock at import, or give a number of seconds to a wait."""
    at_import = {node for one in tree.body if not isinstance(one, DEFINITIONS) for node in ast.walk(one)}
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func)
            place = WAITS.get(name.rpartition(".")[2], len(call.args))
            seconds = [*call.args[place:][:1], *(one.value for one in call.keywords if one.arg == "timeout")]
            numbers = [one for one in seconds if isinstance(one, ast.Constant) and isinstance(one.value, int | float)]
            if numbers or (call in at_import and name.endswith(NOW)):
                found.append(f"line {call.lineno}: {ast.unparse(call)[:60]}")
    return found


def is_sentence(first: str, last: str) -> bool:
    return last.endswith(".") or (first[:1].isupper() and not first.startswith(BEGINNINGS))


def error_classes(nodes: Sequence[ast.AST]) -> set[str]:
    """The names of `VaultIndexError` and all classes below it."""
    classes = {"VaultIndexError"}
    while (
        more := {
            node.name
            for node in nodes
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in classes for base in node.bases)
        }
        - classes
    ):
        classes |= more
    return classes


def words_of_errors(tree: ast.AST, classes: Set[str]) -> Iterator[tuple[int, str, str]]:
    """Line, and the literal beginning and end of each message and hint."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {*classes, "type(error)", "error"}:
            for given in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from ((node.lineno, *ends) for ends in literal_ends(given))


def literal_ends(node: ast.AST) -> list[tuple[str, str]]:
    """The beginning and end of each text that an expression may give; empty if not literal."""
    match node:
        case ast.Constant(value=str(text)):
            return [(text, text)]
        case ast.JoinedStr(values=[first, *_] as parts):
            begin, end = (getattr(part, "value", "") for part in (first, parts[-1]))
            return [(begin if isinstance(begin, str) else "", end if isinstance(end, str) else "")]
        case ast.IfExp(body=one, orelse=other):
            return literal_ends(one) + literal_ends(other)
        case ast.BinOp(left=one, op=ast.Add(), right=other):
            return literal_ends(one) + literal_ends(other)
    return []
