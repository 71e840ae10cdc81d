"""Wraps documents evenly at 100 columns: paragraphs and items of lists are filled; tables, code,
headings, pictures and quotations stay as they are. tools/wrap does this to files; tools that make
documents do it before they write them.
"""
import re
import textwrap

COLUMNS = 100
ITEM = re.compile(r"( *)([-*] |\d+\. )")
KEPT = re.compile(r" *\||#|>|!\[|<|\[[^]]+\]: ")
CODE = re.compile(" {4,}")
ROW = re.compile(r" *\|")


def fill(lines):
    """Wraps one paragraph or list item. Its first line may begin with a bullet."""
    item = ITEM.match(lines[0])
    first = item[0] if item else re.match(" *", lines[0])[0]
    text = " ".join(line.strip() for line in lines)
    if item:
        text = text[len(item[2]):]
    # A line is not broken at a blank inside short code.
    text = re.sub(r"`[^`]{1,60}`", lambda code: code[0].replace(" ", "\0"), text.strip())
    # Markdown would take a sign at the beginning of a line for a list item.
    text = re.sub(r" ([-+*]) ", "\0\\1\0", text)
    filled = textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False,
                           break_on_hyphens=False)
    return [line.replace("\0", " ") for line in filled]


def wrapped(text):
    out, paragraph, fenced = [], [], False

    def end():
        if paragraph:
            out.extend(fill(paragraph))
            paragraph.clear()

    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            end()
            fenced = not fenced
            out.append(line)
        elif fenced:
            out.append(line)
        elif not line.strip():
            end()
            out.append(line)
        elif not paragraph and CODE.match(line): # a line of YAML looks like a list item
            out.append(line)
        elif ITEM.match(line) and not (paragraph and re.match(r" *\d+\. ", line) and not ITEM.match(paragraph[0])):
            end()
            paragraph.append(line)
        elif paragraph and not ROW.match(line):
            paragraph.append(line)
        elif KEPT.match(line):
            end()
            out.append(line)
        else:
            paragraph.append(line)
    end()
    return "\n".join(out)
