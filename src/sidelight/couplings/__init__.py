"""Couplings: how side information enters the E-step. One way per file, or per folder.

independent    rows choose by themselves, labels as a mask; softly (EM) or outright (CEM)
chunklets      rows of a chunklet share a class
pairwise       linked rows in pairs, each pair with classes of its own
link_graph     chunklets and links as a Markov network
projection     posteriors moved until links hold on average
class_penalty  components of several classes, a penalty for pairs in the wrong ones
potts          labels, links and blocks as a Potts field

class_densities has the densities of classes from those of their components.
"""
