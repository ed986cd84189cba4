"""Echraibi, Flocon-Cholet, Gosselin and Vaton (2019): Bayesian mixtures guided by partial labels (SS-DPGMM).

* ``paper``: the experiments, the claims and the verdict on each; ``protocol.md`` says what was run
* ``gaussians``: sections 3.1 and 3.2, figures 3 to 5, four Gaussians
* ``tables``: sections 3.3 and 3.4, table 1 and figures 8 and 9, five real tables
* ``methods``: the authors' settings and the measures
"""
