"""Components of several classes, with a penalty for pairs of rows in the wrong classes (Zhao and Miller).

coupling    the E-step, the allocation of components to classes, and the penalty once the classes are settled
mean_field  the free energy of components and classes under pairs, and two ways to lower it: all rows at once, damped,
            or one independent set after the other
pair_sums   sums over pairs, without listing the pairs that labels and blocks imply; also while rows change
"""
