"""Amini's lecture: K-means, EM and CEM, the same with labels, self-training, and label propagation on a graph.

* ``paper``: figures 1 to 4, 7 and 8, table 1, their pictures, and the verdict on each claim
* ``methods``: the data, the methods and the measures
"""
