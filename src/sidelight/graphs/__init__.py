"""Graph algorithms that couplings, starts and baselines share.

colouring               graph colouring with costs, and small conflicts where there is none
independent_sets        sets of nodes without links, which can be updated at once
correlation_clustering  join items by signed weights of their pairs
ward                    Ward's clustering with chunklets and cannot-links
neighbours              nearest rows, graphs of similar rows, and the width of a kernel
"""
