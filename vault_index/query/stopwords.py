"""Words that carry no topic, in the languages notes are most often written in: they match, but do not decide."""

_ENGLISH = """
a about after all also am an and any are as at be because been before being both but by can could did do does doing
down each few for from further had has have having he her here hers him his how i if in into is it its itself just me
more most my no nor not now of off on once only or other our out over own same she should so some such than that the
their them then there these they this those through to too under until up very was we were what when where which while
who whom why will with would you your
"""
_GERMAN = """
aber alle als also am an auch auf aus bei bin bis bist da dann das dass dem den der des die dies diese dieser dieses
doch du durch ein eine einem einen einer eines er es für hat haben hatte ich ihr im in ist ja kann kein keine man mein
mich mir mit nach nicht noch nur oder ohne sein sich sie sind so über um und uns unter vom von vor wann war was weil
welche welcher wenn wer werden wie wir wird wo wurde zu zum zur
"""
_FRENCH = """
à ai au aux avec ce ces cette comme comment dans de des du elle en es est et eu il ils je la le les leur lui ma mais me
mes mon ne nos notre nous on où ou par pas pour pourquoi qu quand que quel quelle qui sa sans se ses si son sont sur ta
te tes ton tu un une vos votre vous
"""

STOPWORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH}".split())
