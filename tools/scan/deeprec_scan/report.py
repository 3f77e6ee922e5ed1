"""Findings as text and as a page of HTML."""

import collections
import html

from deeprec_scan.check import CHANGES, LACKS, UNREADABLE

_TITLES = {
    LACKS: "Lacking",
    CHANGES: "Changed",
    UNREADABLE: "Not readable",
}


def summary(findings, files: int) -> str:
    """One line: how many files and findings of each kind."""
    counts = collections.Counter(finding.kind for finding in findings)
    kinds = ", ".join(f"{counts[kind]} {_TITLES[kind].lower()}" for kind in _TITLES)
    return f"{files} files: {kinds}, in {len({f.file for f in findings})} of them"


def text(findings, files: int) -> str:
    """`file:line: kind: symbol what; do` for each finding, and the summary."""
    lines = [
        f"{f.file}:{f.line}: {f.kind}: {f.symbol}{' ' if f.symbol else ''}{f.what}; {f.todo}"
        + (" (the error is caught there)" if f.guarded else "")
        for f in findings
    ]
    return "\n".join([*lines, summary(findings, files)]) + "\n"


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid #ddd; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.lacks { color: #a11; } .changes { color: #850; } .unreadable { color: #555; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818; } th, td { border-color: #444; }
  .lacks { color: #f88; } .changes { color: #fb6; } .unreadable { color: #aaa; }
}
"""


def page(findings, files: int) -> str:
    """A page that needs no other file: the summary, the symbols by use, and the findings by file."""
    symbols = collections.Counter((f.symbol, f.kind, f.what, f.todo) for f in findings if f.symbol)
    rows = [
        f"<tr><td>{count}</td><td class={kind}><code>{html.escape(symbol)}</code></td>"
        f"<td>{html.escape(what)}</td><td>{html.escape(todo)}</td></tr>"
        for (symbol, kind, what, todo), count in symbols.most_common()
    ]
    by_file = collections.defaultdict(list)
    for finding in findings:
        by_file[finding.file].append(finding)
    sections = []
    for file, its in sorted(by_file.items()):
        items = "".join(
            f"<tr><td>{f.line}</td><td class={f.kind}>{_TITLES[f.kind]}</td><td><code>{html.escape(f.symbol)}</code> "
            f"{html.escape(f.what)}</td><td>{html.escape(f.todo)}{' (the error is caught)' if f.guarded else ''}</td></tr>"
            for f in its
        )
        head = "<tr><th>Line</th><th>Kind</th><th>What</th><th>Do</th></tr>"
        sections.append(f"<h2><code>{html.escape(file)}</code></h2><table>{head}{items}</table>")
    symbol_table = (
        "<h2>By symbol</h2><table><tr><th>Uses</th><th>Symbol</th><th>What</th><th>Do</th></tr>"
        + "".join(rows)
        + "</table>"
    )
    return (
        "<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>What this code uses</title><style>{_STYLE}</style>"
        f"<h1>What this code uses that TensorFlow lacks or changes</h1><p>{html.escape(summary(findings, files))}</p>"
        + (symbol_table if rows else "")
        + "".join(sections)
        + "</html>\n"
    )
