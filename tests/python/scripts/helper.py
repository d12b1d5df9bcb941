def layers_of(block):
    """The values of t by layer across z, of a block that has whole layers."""
    return {k: plane.ravel().tolist() for k, plane in zip(range(block.lo[2], block.hi[2]), block["t"], strict=True)}
