"""What the experiments of all papers share.

* ``experiment``: an experiment, its trials, the summary of its results, claims and papers, as types; the papers by name
* ``running``: runs the trials that are missing, on all cores
* ``journal``: trials on disk, so that an interrupted run continues
* ``reports``: a summary as a table for the terminal, as CSV and in Markdown
* ``drawing``: a summary as a picture in the form of the paper
* ``page``: the page of results with verdicts on all claims, ``docs/reproduction.md``
"""
