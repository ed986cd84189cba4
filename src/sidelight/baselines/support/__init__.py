"""Algorithms that the baselines are made of.

centres            chunklets as heavy points; centres of clusters and where they start
similarity         all statements as weighted pairs; leading eigenvectors and their clusters
hmrf_energy        the objective of HMRF-KMeans, and iterated conditional modes over linked rows
quadratic_metrics  its metrics, fixed or learned
"""
