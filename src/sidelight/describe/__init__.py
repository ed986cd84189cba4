"""What makes a cluster, in numbers and words, without drawing; plots and report both ask here.

* ``table``: the table that an estimator was fitted to, read a chunk at a time
* ``assignment``: the cluster of each row, the names of the clusters, and how certain the assignment is
* ``columns``: what each column of the table holds
* ``profiles``: which features tell a cluster from the rest, and the words for it
"""
