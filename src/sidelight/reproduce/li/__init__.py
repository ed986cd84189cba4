"""Li, Ying and Campbell: semi-supervised latent process decomposition (SLPD).

* ``paper``: the protocol, the experiments and the claims
* ``tables``: tables 2 and 3, held-out rows of six real tables
* ``likelihood``: figure 2, the likelihood of held-out wines
* ``claims``: the verdict on each claim
"""
