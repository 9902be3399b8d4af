package kernel

func (x *machine) largestOf(a []float32) float32 {
	if len(a) < x.lanes {
		return plainLargest(a)
	}
	most := a[0]
	for i := 0; i < len(a); i += chunk {
		// the vectors of a call may overlap: another look at an element changes nothing
		at0 := min(i, len(a)-x.lanes)
		most = max(most, callLargest(x.largest, min(chunk, len(a)-at0), at(a, at0)))
	}
	return most
}

func (x *machine) exps(dst, a []float32, shift float32) (sum float64) {
	for i := 0; i < len(dst); i += chunk {
		sum += callExpSum(x.expSum, min(chunk, len(dst)-i), at(dst, i), at(a, i), shift)
	}
	return sum
}

func (x *machine) total(a []float32) (sum float64) {
	for i := 0; i < len(a); i += chunk {
		sum += callSquares1(x.sum, min(chunk, len(a)-i), at(a, i))
	}
	return sum
}

func (x *machine) dotOf(a, b []float32) (sum float64) {
	for i := 0; i < len(a); i += chunk {
		sum += callSquares2(x.dot, min(chunk, len(a)-i), at(a, i), at(b, i))
	}
	return sum
}

func (x *machine) mirroredDots(a, b []float32) (sum float64) {
	n, pairs := len(a), len(a)/2/x.lanes*x.lanes
	if n%2 == 1 {
		sum = float64(a[n/2]) * float64(b[n/2])
	}
	for i := 0; i < pairs; i += chunk {
		count := min(chunk, pairs-i)
		low, high := n/2-x.lanes-i, (n+1)/2+i
		sum += callMirrored(x.mirrored, count/x.lanes, at(a, low), at(a, high), at(b, low), at(b, high))
	}
	return sum + mirroredFrom(a, b, pairs)
}

func (x *machine) softmaxOf4(dst, a []float32, rest, even float32) {
	for i := 0; i < len(dst); i += chunk {
		callGroups(x.groupSoftmax4, min(chunk, len(dst)-i), at(dst, i), at(a, i), rest, even)
	}
}

func (x *machine) gated(dst, r, c, u, h []float32) {
	for i := 0; i < len(dst); i += chunk {
		x.callGated(min(chunk, len(dst)-i), at(dst, i), at(r, i), at(c, i), at(u, i), at(h, i))
	}
}

func (x *machine) gatedSlopes(dr, dc, du, r, c, u, h, d []float32) {
	for i := 0; i < len(dr); i += chunk {
		x.callGatedGrad(min(chunk, len(dr)-i), at(dr, i), at(dc, i), at(du, i), at(r, i), at(c, i), at(u, i), at(h, i), at(d, i))
	}
}

// rmsNorms leaves rows that are no whole vectors, or too long for a call, to the plain function.
func (x *machine) rmsNorms(dst, a, gamma []float32, eps float64) {
	n := len(gamma)
	if n == 0 || n%x.lanes != 0 || n > 4*chunk {
		plainRMSNorm(dst, a, gamma, eps)
		return
	}
	for i, some := 0, max(1, chunk/n)*n; i < len(dst); i += some {
		x.callRMSNorm(min(some, len(dst)-i)/n, n, at(dst, i), at(a, i), at(gamma, 0), eps)
	}
}

func (x *machine) rmsSlopes(dst, a, gamma, dy []float32, eps float64) {
	n := len(gamma)
	if n == 0 || n%x.lanes != 0 || n > 4*chunk {
		plainRMSNormDX(dst, a, gamma, dy, eps)
		return
	}
	for i, some := 0, max(1, chunk/n)*n; i < len(dst); i += some {
		x.callRMSNormDX(min(some, len(dst)-i)/n, n, at(dst, i), at(a, i), at(gamma, 0), at(dy, i), eps)
	}
}

func (x *machine) rmsGamma(sums, a, dy []float32, eps float64) {
	n := len(sums)
	if n == 0 || n%x.lanes != 0 || n > 4*chunk {
		plainRMSNormDGamma(sums, a, dy, eps)
		return
	}
	for i, some := 0, max(1, chunk/n)*n; i < len(a); i += some {
		x.callRMSNormDGamma(min(some, len(a)-i)/n, n, at(sums, 0), at(a, i), at(dy, i), eps)
	}
}

//go:noinline
func callLargest(f func(n int, a *float32) float32, n int, a *float32) float32 { return f(n, a) }

//go:noinline
func callExpSum(f func(n int, dst, x *float32, shift float32) float64, n int, dst, x *float32, shift float32) float64 {
	return f(n, dst, x, shift)
}

//go:noinline
func callMirrored(f func(vectors int, lowA, highA, lowB, highB *float32) float64, vectors int, lowA, highA, lowB, highB *float32) float64 {
	return f(vectors, lowA, highA, lowB, highB)
}

//go:noinline
func callGroups(f func(n int, dst, x *float32, rest, even float32), n int, dst, x *float32, rest, even float32) {
	f(n, dst, x, rest, even)
}

//go:noinline
func (x *machine) callGated(n int, dst, r, c, u, h *float32) { x.gatedUpdate(n, dst, r, c, u, h) }

//go:noinline
func (x *machine) callGatedGrad(n int, dr, dc, du, r, c, u, h, d *float32) {
	x.gatedGrad(n, dr, dc, du, r, c, u, h, d)
}

//go:noinline
func (x *machine) callRMSNorm(rows, n int, dst, a, gamma *float32, eps float64) {
	x.rmsNorm(rows, n/x.lanes, dst, a, gamma, 1/float64(n), eps)
}

//go:noinline
func (x *machine) callRMSNormDX(rows, n int, dst, a, gamma, dy *float32, eps float64) {
	x.rmsNormDX(rows, n/x.lanes, dst, a, gamma, dy, 1/float64(n), eps)
}

//go:noinline
func (x *machine) callRMSNormDGamma(rows, n int, sums, a, dy *float32, eps float64) {
	x.rmsNormDGamma(rows, n/x.lanes, sums, a, dy, 1/float64(n), eps)
}
