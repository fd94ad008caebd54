"""Words that carry no topic, in the languages notes are most often written in: they match, but do not decide.

A word that is a topic in another of these languages is left out (German `war` and `man`, French `ai`, Dutch `door`):
a common word that counts does little harm, a topic that does not count does much.
"""

_ENGLISH = """
a about after all also am an and any are aren't as at be because been before being both but by can can't could did
didn't do does doesn't doing don't down each few for from further had has hasn't have haven't having he her here hers
him his how i if in into is isn't it its itself just me more most my no nor not now of off on once only or other our
out over own same she should so some such than that the their them then there these they this those through to too
under until up us very was wasn't we were what when where which while who whom whose why will with won't would you
your
"""
_GERMAN = """
aber alle als am auf aus bei bis bist da dann das dass dem der des dies diese dieser dieses doch du durch ein eine
einem einen einer eines er es für habe haben hatte ich ihr im ist ja kann kein keine mein mich mir mit nach nicht noch
nur ob oder ohne sein sich sie sind so über um und uns unter vom von vor wann warum was weil welche welchen welcher
welches wem wen wenn wer werden wie wieso wir wird wo wurde zu zum zur
"""
_FRENCH = """
à au aux avec ce ces cette comment dans de des du elle en est et eu il ils je l la le les leur lui ma mais mes mon ne
nos notre nous on où ou par pas pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si sont
sur te tes tu un une vos votre vous y
"""
_SPANISH = """
al como con cómo cual cuál cuándo de del donde dónde el ella en entre es esta este esto está fue ha la las lo los
más mi muy o para pero por porque qué que quién se ser sobre su sus también un una uno unos y ya
"""
_ITALIAN = """
alla anche che chi come con cosa cui da dal dalla dei del della delle dove e ed gli ha ho i il in la le lo ma nel
nella non o perché per più quale quali quando quanto questa questo si sono su sul sulla tra un una
"""
_PORTUGUESE = """
ao às com como da das de do e é ela ele em entre essa esse esta este eu foi há isso já mais mas me meu minha na não
nas no nos o onde ou para pela pelo por qual quais quando quem que se sem seu sua também um uma à
"""
_DUTCH = """
aan als bij dat de deze dit een en er geen haar heb hebben heeft het hij ik je maar met mijn naar niet nog of om
ook op te tot uit voor waar waarom wanneer wat welke werd wie wij wordt zich zij zijn zonder
"""

_LETTERS = "s t d m n"  # what an apostrophe leaves, as in `l'eau` and `what's`; `c` and `r` are languages

STOPWORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_PORTUGUESE} {_DUTCH} {_LETTERS}".split())

_CONTRACTED = ("'s", "'re", "'ll", "'d", "'m", "'ve")


def is_stopword(word: str, *, shouted: bool = False) -> bool:
    """Whether a word of a question carries no topic. Capitals do (`WHO` is a name), unless all is `shouted`."""
    bare = word.strip("?!.,;:'’()[]…").replace("’", "'")
    if len(bare) > 1 and bare.isupper() and not shouted:
        return False
    folded = bare.casefold()
    stem = next((folded.removesuffix(end) for end in _CONTRACTED if folded.endswith(end)), folded)
    return folded in STOPWORDS or stem in STOPWORDS
