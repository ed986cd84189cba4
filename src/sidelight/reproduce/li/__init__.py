"""Li, Ying and Campbell: semi-supervised latent process decomposition (SLPD).

* ``paper``: the experiments, the claims and the verdict on each; ``protocol.md`` says what was run
* ``tables``: tables 2 and 3, held-out rows of six real tables
* ``likelihood``: figure 2, the likelihood of held-out wines
"""
