"""Cases: their names, the facts of their kernels, the choice of a tile, and the walls a tile runs into."""
