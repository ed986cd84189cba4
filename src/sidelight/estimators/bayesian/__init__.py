"""The Bayesian mixture.

``mixture`` is the estimator. ``search`` finds structure and number of components before the ascent, ``refinement`` is
what follows it, ``stream`` fits batch after batch. ``components`` and ``weights`` are what these share.
"""
