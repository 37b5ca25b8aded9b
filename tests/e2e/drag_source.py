"""A window from which files can be dragged, like a file manager. Prints the events of the drag.

Usage: drag_source.py X Y FILE...
Prints `ready`, then `began` when a drag starts and `ended` when it is over, one per line.
"""
import pathlib
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def report(event):
    print(event, flush=True)


def main():
    x, y = int(sys.argv[1]), int(sys.argv[2])
    uris = [pathlib.Path(name).resolve().as_uri() for name in sys.argv[3:]]

    window = Gtk.Window(title="Files to drag")
    window.set_decorated(False)
    window.set_keep_above(True)
    window.set_default_size(120, 120)
    handle = Gtk.EventBox()
    handle.add(Gtk.Label(label="drag me"))
    window.add(handle)

    handle.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
    handle.drag_source_add_uri_targets()
    handle.connect("drag-data-get", lambda _widget, _context, data, _info, _time: data.set_uris(uris))
    handle.connect("drag-begin", lambda *_: report("began"))
    handle.connect("drag-end", lambda *_: report("ended"))
    window.connect("destroy", Gtk.main_quit)
    window.connect("map-event", lambda *_: (window.move(x, y), report("ready")) and False)
    window.show_all()
    Gtk.main()


if __name__ == "__main__":
    main()
