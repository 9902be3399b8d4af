package ptx

type asyncQueue struct{}

func (w *warp) endAsync(in *inst, at uint32) error { return nil }
