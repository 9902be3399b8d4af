package ptx

// opcodes says how each instruction is lowered.
var opcodes map[string]func(*lowering, *statement, *mods)

func init() {
	opcodes = map[string]func(*lowering, *statement, *mods){
		"add": lowerAdd, "sub": lowerAdd, "addc": lowerAdd, "subc": lowerAdd,
		"mul": lowerMul, "mad": lowerMad, "mul24": lowerMad24, "mad24": lowerMad24,
		"div": lowerDiv, "rem": lowerDiv, "min": lowerMinMax, "max": lowerMinMax,
		"abs": lowerUnary, "neg": lowerUnary, "sad": lowerSad, "fma": lowerFma,

		"and": lowerLogic, "or": lowerLogic, "xor": lowerLogic, "not": lowerLogic, "cnot": lowerLogic,
		"shl": lowerShift, "shr": lowerShift, "shf": lowerFunnel, "lop3": lowerLop3,
		"popc": lowerCount, "clz": lowerCount, "bfind": lowerFind, "brev": lowerReverse,
		"bfe": lowerExtract, "bfi": lowerInsert, "prmt": lowerPermute, "dp4a": lowerDot,

		"ex2": lowerFunction, "lg2": lowerFunction, "sin": lowerFunction, "cos": lowerFunction,
		"tanh": lowerFunction, "rcp": lowerFunction, "sqrt": lowerFunction, "rsqrt": lowerFunction,
		"copysign": lowerCopysign,

		"setp": lowerSetp, "set": lowerSet, "selp": lowerSelp, "slct": lowerSlct, "testp": lowerTestp,
		"cvt": lowerConvert, "mov": lowerMove, "cvta": lowerCvta, "isspacep": lowerIsspacep,

		"ld": lowerLoad, "ldu": lowerLoad, "st": lowerStore, "prefetch": lowerPrefetch, "prefetchu": lowerPrefetch,
		"membar": lowerFence, "fence": lowerFence,

		"bra": lowerBranch, "brx": lowerTableBranch, "call": lowerCall, "ret": lowerReturn, "exit": lowerReturn,
		"trap": lowerTrap, "brkpt": lowerTrap, "nanosleep": lowerNothing, "pmevent": lowerNothing,
		"atom": lowerAtomic, "red": lowerAtomic, "cp": lowerAsync,

		"shfl": lowerShuffle, "vote": lowerVote, "match": lowerMatch, "redux": lowerRedux,
		"activemask": lowerActive, "elect": lowerElect, "mma": lowerMatrix, "ldmatrix": lowerLoadMatrix,
		"wgmma": lowerWgmma, "setmaxnreg": lowerRegisters,
		"bar": lowerBarrier, "barrier": lowerBarrier, "mbarrier": lowerMbarrier,
	}
}
