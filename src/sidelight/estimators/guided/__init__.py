"""GuidedMixture: experts, weighed by what is known.

mixture       the estimator
core          the rows that experts learn from
guidance      from the table and what is known to experts and weights
rounds        experts and inference on links take turns
partitions    classes to start from, where only links are known
clusters      clusters of a mixture that knows only the table
new_classes   classes that no label names
doubts        what speaks against the result
"""
