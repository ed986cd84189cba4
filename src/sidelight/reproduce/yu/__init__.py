"""Yu, Elhabian and Whitaker: a mixture of pairs (GM-PR) against four other methods for links.

* ``paper``: figures 3 to 10 and their pictures
* ``methods``: the data, the methods with the settings of the paper, and the measures
* ``claims``: the verdict on each claim
"""
