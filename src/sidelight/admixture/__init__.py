"""The second engine: latent process decomposition, a mixture with a latent variable for every cell of the table.

Rogers et al. (2005); with blocks of rows, Li, Ying and Campbell. A mixture of :mod:`sidelight.inference` has one latent
variable per row; the two engines share the loop, the reading of rows and the side information, and nothing else.

- ``model``: parameters, Gaussian densities, the Dirichlet part of the bound, draws, labels and distances of processes;
- ``scaling``: the units of a fit, and errors for cells that it cannot use;
- ``decomposition``: the model on its data, with process probabilities of cells and their sums (eq. 6), one step of the
  ascent and the bound; ``compiled`` has the E-step in numba;
- ``m_step``: α by Newton's method, means and variances with and without a prior (eqs. 8 and 9);
- ``starts``: k-means starts that respect the labels;
- ``unseen_rows``: fold-in of new rows, and their likelihood by importance sampling.
"""
