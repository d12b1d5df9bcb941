# state file generated using paraview version 5.11.0
import paraview
paraview.compatibility.major = 5
paraview.compatibility.minor = 11

#### import the simple module from the paraview
from paraview.simple import *
#### disable automatic camera reset on 'Show'
paraview.simple._DisableFirstRenderCameraReset()

# ----------------------------------------------------------------
# setup views used in the visualization
# ----------------------------------------------------------------

# Create a new 'Render View'
renderView1 = CreateView('RenderView')
renderView1.ViewSize = [800, 600]
renderView1.AxesGrid = 'GridAxes3DActor'
renderView1.OrientationAxesVisibility = 0
renderView1.StereoType = 0
renderView1.CameraPosition = [2.35, -1.65, 1.6]
renderView1.CameraFocalPoint = [0.5, 0.5, 0.44]
renderView1.CameraViewUp = [0.0, 0.0, 1.0]
renderView1.CameraFocalDisk = 1.0
renderView1.CameraParallelScale = 0.8660254037844386

SetActiveView(None)

# ----------------------------------------------------------------
# restore active view
SetActiveView(renderView1)
# ----------------------------------------------------------------

# ----------------------------------------------------------------
# setup the data processing pipelines
# ----------------------------------------------------------------

# create a new 'XML Partitioned Image Data Reader'
fields000040pvti = XMLPartitionedImageDataReader(registrationName='fields-000040.pvti', FileName=['first/fields-000040.pvti'])
fields000040pvti.CellArrayStatus = ['field']

# create a new 'Cell Data to Point Data'
cellDatatoPointData1 = CellDatatoPointData(registrationName='CellDatatoPointData1', Input=fields000040pvti)
cellDatatoPointData1.CellDataArraytoprocess = ['field']

# create a new 'Slice'
slice1 = Slice(registrationName='Slice1', Input=cellDatatoPointData1)
slice1.SliceType = 'Plane'
slice1.HyperTreeGridSlicer = 'Plane'
slice1.SliceOffsetValues = [0.0]

# init the 'Plane' selected for 'SliceType'
slice1.SliceType.Origin = [0.5, 0.5, 0.35]
slice1.SliceType.Normal = [0.0, 0.0, 1.0]

# init the 'Plane' selected for 'HyperTreeGridSlicer'
slice1.HyperTreeGridSlicer.Origin = [0.5, 0.5, 0.5]

# create a new 'Contour'
contour1 = Contour(registrationName='Contour1', Input=cellDatatoPointData1)
contour1.ContourBy = ['POINTS', 'field']
contour1.Isosurfaces = [-0.08, 0.08]
contour1.PointMergeMethod = 'Uniform Binning'

# create a new 'Annotate Time Filter'
annotateTimeFilter1 = AnnotateTimeFilter(registrationName='AnnotateTimeFilter1', Input=contour1)
annotateTimeFilter1.Format = 't = {time:.2f}'

# ----------------------------------------------------------------
# setup the visualization in view 'renderView1'
# ----------------------------------------------------------------

# show data from contour1
contour1Display = Show(contour1, renderView1, 'GeometryRepresentation')

# get 2D transfer function for 'field'
fieldTF2D = GetTransferFunction2D('field')

# get color transfer function/color map for 'field'
fieldLUT = GetColorTransferFunction('field')
fieldLUT.TransferFunction2D = fieldTF2D
fieldLUT.RGBPoints = [-0.2, 0.23137254902, 0.298039215686, 0.752941176471, 0.0, 0.865, 0.865, 0.865, 0.2, 0.705882352941, 0.0156862745098, 0.149019607843]
fieldLUT.ScalarRangeInitialized = 1.0

# trace defaults for the display properties.
contour1Display.Representation = 'Surface'
contour1Display.ColorArrayName = ['POINTS', 'field']
contour1Display.LookupTable = fieldLUT
contour1Display.Specular = 0.4
contour1Display.SelectTCoordArray = 'None'
contour1Display.SelectNormalArray = 'Normals'
contour1Display.SelectTangentArray = 'None'
contour1Display.OSPRayScaleArray = 'field'
contour1Display.OSPRayScaleFunction = 'PiecewiseFunction'
contour1Display.SelectOrientationVectors = 'None'
contour1Display.ScaleFactor = 0.07602164819836617
contour1Display.SelectScaleArray = 'field'
contour1Display.GlyphType = 'Arrow'
contour1Display.GlyphTableIndexArray = 'field'
contour1Display.GaussianRadius = 0.0038010824099183084
contour1Display.SetScaleArray = ['POINTS', 'field']
contour1Display.ScaleTransferFunction = 'PiecewiseFunction'
contour1Display.OpacityArray = ['POINTS', 'field']
contour1Display.OpacityTransferFunction = 'PiecewiseFunction'
contour1Display.DataAxesGrid = 'GridAxesRepresentation'
contour1Display.PolarAxes = 'PolarAxesRepresentation'
contour1Display.SelectInputVectors = ['POINTS', 'Normals']
contour1Display.WriteLog = ''

# init the 'PiecewiseFunction' selected for 'ScaleTransferFunction'
contour1Display.ScaleTransferFunction.Points = [-0.07999999821186066, 0.0, 0.5, 0.0, 0.07999999821186066, 1.0, 0.5, 0.0]

# init the 'PiecewiseFunction' selected for 'OpacityTransferFunction'
contour1Display.OpacityTransferFunction.Points = [-0.07999999821186066, 0.0, 0.5, 0.0, 0.07999999821186066, 1.0, 0.5, 0.0]

# show data from slice1
slice1Display = Show(slice1, renderView1, 'GeometryRepresentation')

# trace defaults for the display properties.
slice1Display.Representation = 'Surface'
slice1Display.ColorArrayName = ['POINTS', 'field']
slice1Display.LookupTable = fieldLUT
slice1Display.SelectTCoordArray = 'None'
slice1Display.SelectNormalArray = 'None'
slice1Display.SelectTangentArray = 'None'
slice1Display.OSPRayScaleArray = 'field'
slice1Display.OSPRayScaleFunction = 'PiecewiseFunction'
slice1Display.SelectOrientationVectors = 'None'
slice1Display.ScaleFactor = 0.1
slice1Display.SelectScaleArray = 'None'
slice1Display.GlyphType = 'Arrow'
slice1Display.GlyphTableIndexArray = 'None'
slice1Display.GaussianRadius = 0.005
slice1Display.SetScaleArray = ['POINTS', 'field']
slice1Display.ScaleTransferFunction = 'PiecewiseFunction'
slice1Display.OpacityArray = ['POINTS', 'field']
slice1Display.OpacityTransferFunction = 'PiecewiseFunction'
slice1Display.DataAxesGrid = 'GridAxesRepresentation'
slice1Display.PolarAxes = 'PolarAxesRepresentation'
slice1Display.SelectInputVectors = [None, '']
slice1Display.WriteLog = ''

# init the 'PiecewiseFunction' selected for 'ScaleTransferFunction'
slice1Display.ScaleTransferFunction.Points = [-0.07010346659760898, 0.0, 0.5, 0.0, 1.1317276513662626, 1.0, 0.5, 0.0]

# init the 'PiecewiseFunction' selected for 'OpacityTransferFunction'
slice1Display.OpacityTransferFunction.Points = [-0.07010346659760898, 0.0, 0.5, 0.0, 1.1317276513662626, 1.0, 0.5, 0.0]

# show data from fields000040pvti
fields000040pvtiDisplay = Show(fields000040pvti, renderView1, 'UniformGridRepresentation')

# trace defaults for the display properties.
fields000040pvtiDisplay.Representation = 'Outline'
fields000040pvtiDisplay.ColorArrayName = [None, '']
fields000040pvtiDisplay.SelectTCoordArray = 'None'
fields000040pvtiDisplay.SelectNormalArray = 'None'
fields000040pvtiDisplay.SelectTangentArray = 'None'
fields000040pvtiDisplay.OSPRayScaleFunction = 'PiecewiseFunction'
fields000040pvtiDisplay.SelectOrientationVectors = 'None'
fields000040pvtiDisplay.ScaleFactor = 0.1
fields000040pvtiDisplay.SelectScaleArray = 'None'
fields000040pvtiDisplay.GlyphType = 'Arrow'
fields000040pvtiDisplay.GlyphTableIndexArray = 'None'
fields000040pvtiDisplay.GaussianRadius = 0.005
fields000040pvtiDisplay.SetScaleArray = [None, '']
fields000040pvtiDisplay.ScaleTransferFunction = 'PiecewiseFunction'
fields000040pvtiDisplay.OpacityArray = [None, '']
fields000040pvtiDisplay.OpacityTransferFunction = 'PiecewiseFunction'
fields000040pvtiDisplay.DataAxesGrid = 'GridAxesRepresentation'
fields000040pvtiDisplay.PolarAxes = 'PolarAxesRepresentation'
fields000040pvtiDisplay.ScalarOpacityUnitDistance = 0.027063293868263706
fields000040pvtiDisplay.OpacityArrayName = ['CELLS', 'field']
fields000040pvtiDisplay.ColorArray2Name = ['CELLS', 'field']
fields000040pvtiDisplay.SliceFunction = 'Plane'
fields000040pvtiDisplay.Slice = 32
fields000040pvtiDisplay.SelectInputVectors = [None, '']
fields000040pvtiDisplay.WriteLog = ''

# init the 'Plane' selected for 'SliceFunction'
fields000040pvtiDisplay.SliceFunction.Origin = [0.5, 0.5, 0.5]

# show data from annotateTimeFilter1
annotateTimeFilter1Display = Show(annotateTimeFilter1, renderView1, 'TextSourceRepresentation')

# setup the color legend parameters for each legend in this view

# get color legend/bar for fieldLUT in view renderView1
fieldLUTColorBar = GetScalarBar(fieldLUT, renderView1)
fieldLUTColorBar.Title = 'field'
fieldLUTColorBar.ComponentTitle = ''

# set color bar visibility
fieldLUTColorBar.Visibility = 1

# show color legend
contour1Display.SetScalarBarVisibility(renderView1, True)

# show color legend
slice1Display.SetScalarBarVisibility(renderView1, True)

# ----------------------------------------------------------------
# setup color maps and opacity mapes used in the visualization
# note: the Get..() functions create a new object, if needed
# ----------------------------------------------------------------

# get opacity transfer function/opacity map for 'field'
fieldPWF = GetOpacityTransferFunction('field')
fieldPWF.Points = [-0.07010346659760898, 0.0, 0.5, 0.0, 1.1317276513662626, 1.0, 0.5, 0.0]
fieldPWF.ScalarRangeInitialized = 1

# ----------------------------------------------------------------
# restore active source
SetActiveSource(annotateTimeFilter1)
# ----------------------------------------------------------------
