"""Algorithms that the baselines are made of.

numbering            from a method's clusters to numbers and names that agree with the labels
centres              chunklets as heavy points; centres of clusters and where they start
soft_links           all statements as weighted pairs
conditional_modes    iterated conditional modes over linked rows
hmrf_energy          the objective of HMRF-KMeans
quadratic_metrics    its metrics, fixed or learned
embedding            leading eigenvectors and their clusters
conjugate_gradients  sparse systems with several right-hand sides
infeasible           errors that name links which cannot be respected
"""
