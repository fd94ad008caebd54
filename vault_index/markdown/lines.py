"""Lines as every part of the program counts them: ended by LF, CRLF or CR, and by nothing else."""


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; a final line end opens no further line.

    `str.splitlines` would also split at form feeds, U+2028 and others, and lines would be counted as no editor does.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
