"""The second engine: latent process decomposition, a mixture with a latent for every cell of the table.

It shares the loop, the reading of rows and the side information with the first; a mixture has one latent per row, and
nothing is bent to share more.
"""
