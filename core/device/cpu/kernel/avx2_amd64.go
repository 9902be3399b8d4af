package kernel

//go:generate go run ./gen

// avx2 is the family "avx2": AVX2 with fused multiply-add.
var avx2 = &machine{
	lanes:    8,
	pair:     []tileFunc{nil, avx2Tile1x2, avx2Tile2x2, avx2Tile3x2, avx2Tile4x2, avx2Tile5x2, avx2Tile6x2},
	pairTail: []tileFunc{nil, avx2Tile1x2Tail, avx2Tile2x2Tail, avx2Tile3x2Tail, avx2Tile4x2Tail, avx2Tile5x2Tail, avx2Tile6x2Tail},
	single: []tileFunc{nil, avx2Tile1x1Tail, avx2Tile2x1Tail, avx2Tile3x1Tail, avx2Tile4x1Tail, avx2Tile5x1Tail, avx2Tile6x1Tail,
		avx2Tile7x1Tail, avx2Tile8x1Tail, avx2Tile9x1Tail, avx2Tile10x1Tail, avx2Tile11x1Tail, avx2Tile12x1Tail},
	wide: []tileFunc{nil, avx2Tile1x8, avx2Tile2x4, avx2Tile3x4}, wideVecs: []int{0, 8, 4, 4},
	full: []tileFunc{nil, avx2Tile1x3, avx2Tile2x3, avx2Tile3x3, avx2Tile4x3}, fullVecs: 3, packFull: avx2Pack3,
	pack: avx2Pack2, packTail: avx2Pack2Tail,
	rowDot1: avx2RowDot1, rowDot4: avx2RowDot4, colSum8: avx2ColSum8, colSum1: avx2ColSum1,
	transpose8: avx2Transpose8, transpose16: avx2Transpose16,
	add: avx2Add, sub: avx2Sub, mul: avx2Mul, scale: avx2Scale, axpy: avx2Axpy, lerp: avx2Lerp,
	relu: avx2ReLU, tanh: avx2Tanh, silu: avx2SiLU, mish: avx2Mish, elu: avx2ELU, exp: avx2Exp, log: avx2Log,
	sigmoid: avx2Sigmoid, softplus: avx2Softplus, sigmoidGrad: avx2SigmoidGrad, softplusGrad: avx2SoftplusGrad,
	reluGrad: avx2ReLUGrad, tanhGrad: avx2TanhGrad, siluGrad: avx2SiLUGrad, mishGrad: avx2MishGrad, eluGrad: avx2ELUGrad,
	adam1: avx2Adam1, adam2: avx2Adam2, laprop1: avx2LaProp1, laprop2: avx2LaProp2,
	squares1: avx2Squares1, squares2: avx2Squares2, squaresDiff: avx2SquaresDiff, normals: avx2Normals, fromBytes: avx2FromBytes,
	largest: avx2Largest, expSum: avx2ExpSum, sum: avx2Sum, dot: avx2Dot, mirrored: avx2Mirrored, groupSoftmax4: avx2GroupSoftmax4,
	gatedUpdate: avx2GatedUpdate, gatedGrad: avx2GatedGrad, gatedKeep: avx2GatedKeep, rmsNorm: avx2RMSNorm, rmsNormDX: avx2RMSNormDX, rmsNormDGamma: avx2RMSNormDGamma,
	peak: avx2Peak,
	patchTiles: patchTiles{
		pair: []linesFunc{nil, avx2Lines1x2, avx2Lines2x2, avx2Lines3x2, avx2Lines4x2, avx2Lines5x2, avx2Lines6x2},
		pairTail: []linesFunc{nil, avx2Lines1x2Tail, avx2Lines2x2Tail, avx2Lines3x2Tail, avx2Lines4x2Tail, avx2Lines5x2Tail,
			avx2Lines6x2Tail},
		single: []linesFunc{nil, avx2Lines1x1Tail, avx2Lines2x1Tail, avx2Lines3x1Tail, avx2Lines4x1Tail, avx2Lines5x1Tail,
			avx2Lines6x1Tail, avx2Lines7x1Tail, avx2Lines8x1Tail, avx2Lines9x1Tail, avx2Lines10x1Tail,
			avx2Lines11x1Tail, avx2Lines12x1Tail},
	},
}
