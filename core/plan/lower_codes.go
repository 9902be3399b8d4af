package plan

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
)

func init() {
	for kind, code := range map[op.Kind]device.Code{
		op.Exp: device.Exp, op.Log: device.Log, op.Square: device.Square, op.Sqrt: device.Sqrt, op.Softplus: device.Softplus,
		op.SoftplusGrad: device.SoftplusGrad, op.Sigmoid: device.Sigmoid, op.SigmoidGrad: device.SigmoidGrad, op.SignedSqrt: device.SignedSqrt,
		op.Clamp: device.Clamp, op.ClampGrad: device.ClampGrad, op.Minimum: device.Minimum, op.Maximum: device.Maximum,
		op.Div: device.Div, op.Keep: device.Keep, op.ColScale: device.ColScale,
		op.ColAdd: device.ColAdd, op.AddColumns: device.AddColumns, op.Members: device.Members, op.SumMembers: device.SumMembers, op.SumColumns: device.SumColumns,
		op.SpreadColumns: device.SpreadColumns, op.Sum: device.Sum, op.SumGrad: device.SumGrad,
		op.BCE: device.BCE, op.BCEGrad: device.BCEGrad, op.GaussianKL: device.GaussianKL,
		op.GaussianKLGrad: device.GaussianKLGrad, op.Gather: device.Gather,
		op.GatherGrad: device.GatherGrad, op.LayerNorm: device.LayerNorm, op.LayerNormDX: device.LayerNormDX,
		op.LayerNormDGamma: device.LayerNormDGamma, op.MinMembersGrad: device.MinMembersGrad, op.LogSumExp: device.LogSumExp,
		op.LogSumExpGrad: device.LogSumExpGrad, op.Softmax: device.Softmax, op.SoftmaxGrad: device.SoftmaxGrad,
		op.CrossEntropy: device.CrossEntropy, op.CrossEntropyGrad: device.CrossEntropyGrad, op.TwoHotAt: device.TwoHotAt,
		op.Shift: device.Shift, op.SplitColumns: device.SplitColumns, op.JoinMembers: device.JoinMembers,
		op.RMSNorm: device.RMSNorm, op.RMSNormDX: device.RMSNormDX, op.RMSNormDGamma: device.RMSNormDGamma,
		op.GroupSoftmax: device.GroupSoftmax, op.GroupSoftmaxGrad: device.GroupSoftmaxGrad, op.GroupSample: device.GroupSample,
		op.BinMean: device.BinMean, op.GatedUpdate: device.GatedUpdate, op.GatedUpdateGrad: device.GatedUpdateGrad, op.GatedUpdateKeep: device.GatedUpdateKeep,
		op.Conv: device.Conv, op.ConvDX: device.ConvDX, op.ConvDW: device.ConvDW, op.ConvDB: device.ConvDB,
		op.MaxPool: device.MaxPool, op.MaxPoolGrad: device.MaxPoolGrad, op.Upsample: device.Upsample, op.UpsampleGrad: device.UpsampleGrad, op.FromBytes: device.FromBytes,
	} {
		codes[kind] = code
	}
}
