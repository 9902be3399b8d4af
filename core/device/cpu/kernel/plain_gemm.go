package kernel

// plainGemm computes tiles of 2×4, whose eight sums stay in registers, and the remainder element by
// element. Both add in the order of l.
func plainGemm(o operands) {
	if o.ep.Read != nil {
		plainGemmRead(o)
		return
	}
	i := 0
	for ; i+2 <= o.m; i += 2 {
		c0, c1 := o.c[i*o.ldc:i*o.ldc+o.n], o.c[(i+1)*o.ldc:(i+1)*o.ldc+o.n]
		if o.ep.From != nil {
			copy(c0, o.ep.From[i*o.ldc:])
			copy(c1, o.ep.From[(i+1)*o.ldc:])
		}
		j := 0
		for ; o.bcs == 1 && j+4 <= o.n; j += 4 {
			plainTile(o.k, o.a, i*o.ars, o.ars, o.aks, o.b, j, o.brs, c0[j:j+4], c1[j:j+4], o.ep.Accumulate)
		}
		for ; j < o.n; j++ {
			plainElement(o.k, o.a, i*o.ars, o.aks, o.b, j*o.bcs, o.brs, &c0[j], o.ep.Accumulate)
			plainElement(o.k, o.a, (i+1)*o.ars, o.aks, o.b, j*o.bcs, o.brs, &c1[j], o.ep.Accumulate)
		}
		plainFinish(c0, i*o.ldc, o.ep)
		plainFinish(c1, (i+1)*o.ldc, o.ep)
	}
	if i < o.m {
		c0 := o.c[i*o.ldc : i*o.ldc+o.n]
		if o.ep.From != nil {
			copy(c0, o.ep.From[i*o.ldc:])
		}
		for j := range c0 {
			plainElement(o.k, o.a, i*o.ars, o.aks, o.b, j*o.bcs, o.brs, &c0[j], o.ep.Accumulate)
		}
		plainFinish(c0, i*o.ldc, o.ep)
	}
}

// plainGemmRead is plainGemm with a function applied to A, two rows at a time.
func plainGemmRead(o operands) {
	p, read := takePanels(), o.ep.Read
	if len(p.a) < 2*o.k {
		p.a = make([]float32, 2*o.k)
	}
	o.ep.Read = nil
	for i := 0; i < o.m; i += 2 {
		rows := min(2, o.m-i)
		for r := range rows {
			to := p.a[r*o.k : (r+1)*o.k]
			for l := range to {
				to[l] = o.a[(i+r)*o.ars+l*o.aks]
			}
			read(to, to)
		}
		at := i * o.ldc
		part := o
		if o.ep.From != nil {
			part.ep.From = o.ep.From[at:]
		}
		if o.ep.Mask != nil {
			part.ep.Mask = o.ep.Mask[at:]
		}
		part.m, part.a, part.ars, part.aks, part.c = rows, p.a, o.k, 1, o.c[at:]
		plainGemm(part)
	}
	p.give()
}

// plainTile computes two rows by four columns of C; ai is the index of the
// first row's first element in a, j the first column.
func plainTile(k int, a []float32, ai, ars, aks int, b []float32, j, ldb int, c0, c1 []float32, accumulate bool) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	_, _ = c0[3], c1[3]
	if accumulate {
		s00, s01, s02, s03 = c0[0], c0[1], c0[2], c0[3]
		s10, s11, s12, s13 = c1[0], c1[1], c1[2], c1[3]
	}
	for range k {
		x, y := a[ai], a[ai+ars]
		r := b[j : j+4 : j+4]
		s00 += x * r[0]
		s01 += x * r[1]
		s02 += x * r[2]
		s03 += x * r[3]
		s10 += y * r[0]
		s11 += y * r[1]
		s12 += y * r[2]
		s13 += y * r[3]
		ai += aks
		j += ldb
	}
	c0[0], c0[1], c0[2], c0[3] = s00, s01, s02, s03
	c1[0], c1[1], c1[2], c1[3] = s10, s11, s12, s13
}

// plainElement computes one element of C.
func plainElement(k int, a []float32, ai, aks int, b []float32, j, ldb int, c *float32, accumulate bool) {
	var s float32
	if accumulate {
		s = *c
	}
	for range k {
		s += a[ai] * b[j]
		ai += aks
		j += ldb
	}
	*c = s
}

// plainFinish applies bias, ReLU and mask to the row that begins at index at of C.
func plainFinish(row []float32, at int, ep Epilogue) {
	if ep.Bias != nil {
		plainAdd(row, row, ep.Bias)
	}
	if ep.ReLU {
		plainReLU(row, row)
	}
	if ep.Mask != nil {
		plainReLUGrad(row, row, ep.Mask[at:at+len(row)])
	}
}

func plainRowDot(m, k int, a []float32, lda int, w []float32, bias float32, out []float32, ldo int) {
	for i := range m {
		row := a[i*lda:]
		var s0, s1, s2, s3 float32
		l := 0
		for ; l+4 <= k; l += 4 {
			r, v := row[l:l+4:l+4], w[l:l+4:l+4]
			s0 += r[0] * v[0]
			s1 += r[1] * v[1]
			s2 += r[2] * v[2]
			s3 += r[3] * v[3]
		}
		for ; l < k; l++ {
			s0 += row[l] * w[l]
		}
		out[i*ldo] = (s0 + s1) + (s2 + s3) + bias
	}
}

func plainColSum(m, n int, a []float32, lda int, out []float32) {
	copy(out, a[:n])
	for i := 1; i < m; i++ {
		plainAdd(out, out, a[i*lda:i*lda+n])
	}
}

// plainTranspose works in 8×8 blocks, so that both sides stay in cache lines.
func plainTranspose(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	const block = 8
	for i0 := 0; i0 < rows; i0 += block {
		for j0 := 0; j0 < cols; j0 += block {
			for j := j0; j < min(j0+block, cols); j++ {
				for i := i0; i < min(i0+block, rows); i++ {
					dst[j*ldd+i] = src[i*lds+j]
				}
			}
		}
	}
}
