"""A stand-in for ParaView's Python package: as much as the scripts of test_paraview.py and the driver use.

A view draws one layer of one array, a pixel for each point, so that tests know every pixel.
"""
