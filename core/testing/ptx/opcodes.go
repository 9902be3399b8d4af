package ptx

// opcodes says how each instruction is lowered.
var opcodes map[string]func(*lowering, *statement, *mods)

func init() {
	opcodes = map[string]func(*lowering, *statement, *mods){
		"add": lowerAdd, "sub": lowerAdd,
		"mul": lowerMul, "mad": lowerMad,
		"div": lowerDiv, "rem": lowerDiv, "min": lowerMinMax, "max": lowerMinMax,
		"abs": lowerUnary, "neg": lowerUnary, "fma": lowerFma,

		"and": lowerLogic, "or": lowerLogic, "xor": lowerLogic, "not": lowerLogic,
		"shl": lowerShift, "shr": lowerShift, "bfe": lowerExtract,
		"rcp": lowerReciprocal, "sqrt": lowerRoot,

		"setp": lowerSetp, "selp": lowerSelp,
		"cvt": lowerConvert, "mov": lowerMove, "cvta": lowerCvta,

		"ld": lowerLoad, "st": lowerStore, "atom": lowerAtomic, "cp": lowerAsync,
		"membar": lowerFence, "fence": lowerFence,

		"bra": lowerBranch, "call": lowerCall, "ret": lowerReturn,

		"shfl": lowerShuffle, "mma": lowerMatrix, "wgmma": lowerWgmma,
		"bar": lowerBarrier, "barrier": lowerBarrier,
	}
}
