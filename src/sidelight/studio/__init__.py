"""The studio: a web page on which people say which rows belong together, while the model learns.

* ``table``: the table of a project, and its cells as they are shown
* ``store``: where a project is kept: a SQLite file, or a schema in PostgreSQL
* ``events``, ``ledger``, ``writer``: what people did, what it says now, and how it gets to the disk
* ``pooling``: from the answers of several people to side information; the place for a model of annotators
* ``fitting``, ``identity``, ``plane``, ``choosing``: one refit, its clusters, its map and its questions
* ``worker``, ``supervisor``: the process that refits, and what keeps it going
* ``dispatch``: who is asked what
* ``progress``, ``people``: how far the work is, and who did it
* ``studio``: all of this together
* ``exports``: what leaves the studio
* ``api``: the JSON interface; ``page``: the browser's side
"""
