"""Prints the accessibility tree of a program's window: one JSON object a line, in order.

Usage: accessibility_tree.py PROGRAM
Each line: {"role", "name", "about", "focusable", "depth"}. Skips nodes that are not shown. The exit code is 1 if the
program shows no page within 30 seconds.
"""
import json
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

TIMEOUT_SECONDS = 30
STATES = Atspi.StateType


def child_nodes(node):
    for at in range(node.get_child_count()):
        child = node.get_child_at_index(at)
        if child is not None:
            yield child


def find_page(program):
    """Returns the node of the document in the program's window. None if there is no document yet."""
    pending = [app for app in child_nodes(Atspi.get_desktop(0)) if app.get_name() == program]
    while pending:
        node = pending.pop(0)
        if node.get_role_name() == "document web":
            return node
        pending.extend(child_nodes(node))
    return None


def print_tree(node, depth=0):
    states = node.get_state_set()
    if not states.contains(STATES.SHOWING) and depth > 0:
        return
    row = {
        "role": node.get_role_name(),
        "name": node.get_name() or "",
        "about": node.get_description() or "",
        "focusable": states.contains(STATES.FOCUSABLE),
        "depth": depth,
    }
    print(json.dumps(row), flush=True)
    for child in child_nodes(node):
        print_tree(child, depth + 1)


def main():
    Atspi.init()
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        page = find_page(sys.argv[1])
        if page is not None and page.get_child_count() > 0:
            print_tree(page)
            return 0
        time.sleep(0.2)
    return 1


sys.exit(main())
