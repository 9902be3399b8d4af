package kernel

// avx512 is the family "avx512": AVX-512 F, BW, DQ and VL, and AVX2 for functions that gain nothing
// from wider vectors.
var avx512 = &machine{
	lanes: 16,
	pair: []tileFunc{nil, avx512Tile1x2, avx512Tile2x2, avx512Tile3x2, avx512Tile4x2, avx512Tile5x2, avx512Tile6x2, avx512Tile7x2,
		avx512Tile8x2, avx512Tile9x2, avx512Tile10x2, avx512Tile11x2, avx512Tile12x2, avx512Tile13x2, avx512Tile14x2},
	pairTail: []tileFunc{nil, avx512Tile1x2Tail, avx512Tile2x2Tail, avx512Tile3x2Tail, avx512Tile4x2Tail, avx512Tile5x2Tail,
		avx512Tile6x2Tail, avx512Tile7x2Tail, avx512Tile8x2Tail, avx512Tile9x2Tail, avx512Tile10x2Tail, avx512Tile11x2Tail,
		avx512Tile12x2Tail, avx512Tile13x2Tail, avx512Tile14x2Tail},
	single: []tileFunc{nil, avx512Tile1x1Tail, avx512Tile2x1Tail, avx512Tile3x1Tail, avx512Tile4x1Tail, avx512Tile5x1Tail,
		avx512Tile6x1Tail, avx512Tile7x1Tail, avx512Tile8x1Tail, avx512Tile9x1Tail, avx512Tile10x1Tail, avx512Tile11x1Tail,
		avx512Tile12x1Tail, avx512Tile13x1Tail, avx512Tile14x1Tail},
	wide: []tileFunc{nil, avx512Tile1x8, avx512Tile2x4, avx512Tile3x4}, wideVecs: []int{0, 8, 4, 4},
	fullVecs: 2, packFull: avx512Pack2,
	pack: avx512Pack2, packTail: avx512Pack2Tail,
	rowDot1: avx512RowDot1, rowDot4: avx512RowDot4, colSum8: avx512ColSum8, colSum1: avx512ColSum1,
	transpose8: avx2Transpose8, transpose16: avx2Transpose16,
	add: avx512Add, sub: avx512Sub, mul: avx512Mul, scale: avx512Scale, axpy: avx512Axpy, lerp: avx512Lerp,
	relu: avx512ReLU, tanh: avx512Tanh, silu: avx512SiLU, mish: avx512Mish, elu: avx512ELU, exp: avx512Exp, log: avx512Log,
	sigmoid: avx512Sigmoid, softplus: avx512Softplus, sigmoidGrad: avx512SigmoidGrad, softplusGrad: avx512SoftplusGrad,
	reluGrad: avx512ReLUGrad, tanhGrad: avx512TanhGrad, siluGrad: avx512SiLUGrad, mishGrad: avx512MishGrad, eluGrad: avx512ELUGrad,
	adam1: avx512Adam1, adam2: avx512Adam2, laprop1: avx512LaProp1, laprop2: avx512LaProp2,
	squares1: avx512Squares1, squares2: avx512Squares2, squaresDiff: avx512SquaresDiff, normals: avx512Normals, fromBytes: avx512FromBytes,
	peak: avx512Peak,
	patchTiles: patchTiles{
		pair: []linesFunc{nil, avx512Lines1x2, avx512Lines2x2, avx512Lines3x2, avx512Lines4x2, avx512Lines5x2, avx512Lines6x2,
			avx512Lines7x2, avx512Lines8x2, avx512Lines9x2, avx512Lines10x2, avx512Lines11x2, avx512Lines12x2,
			avx512Lines13x2, avx512Lines14x2},
		pairTail: []linesFunc{nil, avx512Lines1x2Tail, avx512Lines2x2Tail, avx512Lines3x2Tail, avx512Lines4x2Tail, avx512Lines5x2Tail,
			avx512Lines6x2Tail, avx512Lines7x2Tail, avx512Lines8x2Tail, avx512Lines9x2Tail, avx512Lines10x2Tail,
			avx512Lines11x2Tail, avx512Lines12x2Tail, avx512Lines13x2Tail, avx512Lines14x2Tail},
		single: []linesFunc{nil, avx512Lines1x1Tail, avx512Lines2x1Tail, avx512Lines3x1Tail, avx512Lines4x1Tail, avx512Lines5x1Tail,
			avx512Lines6x1Tail, avx512Lines7x1Tail, avx512Lines8x1Tail, avx512Lines9x1Tail, avx512Lines10x1Tail,
			avx512Lines11x1Tail, avx512Lines12x1Tail, avx512Lines13x1Tail, avx512Lines14x1Tail},
	},
}
