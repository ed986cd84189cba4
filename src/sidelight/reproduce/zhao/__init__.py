"""Zhao and Miller (2005): classes of several components found from links (MCGMM).

* ``paper``: the experiments, the claims and the verdict on each; ``protocol.md`` says what was run
* ``table``: table 1, five real tables
* ``clouds``: figure 1, round clouds of which several form a class
* ``methods``: links, the methods with the settings of the paper, and the measures
"""
