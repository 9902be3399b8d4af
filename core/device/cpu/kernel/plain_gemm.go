package kernel

// plainGemm computes tiles of 2×4, whose eight sums stay in registers, and the
// rest element by element. Both add in the order of l.
func plainGemm(m, n, k int, a []float32, ars, aks int, b []float32, brs, bcs int, c []float32, ldc int, ep Epilogue) {
	if ep.Read != nil {
		plainGemmRead(m, n, k, a, ars, aks, b, brs, bcs, c, ldc, ep)
		return
	}
	i := 0
	for ; i+2 <= m; i += 2 {
		c0, c1 := c[i*ldc:i*ldc+n], c[(i+1)*ldc:(i+1)*ldc+n]
		if ep.From != nil {
			copy(c0, ep.From[i*ldc:])
			copy(c1, ep.From[(i+1)*ldc:])
		}
		j := 0
		for ; bcs == 1 && j+4 <= n; j += 4 {
			plainTile(k, a, i*ars, ars, aks, b, j, brs, c0[j:j+4], c1[j:j+4], ep.Accumulate)
		}
		for ; j < n; j++ {
			plainElement(k, a, i*ars, aks, b, j*bcs, brs, &c0[j], ep.Accumulate)
			plainElement(k, a, (i+1)*ars, aks, b, j*bcs, brs, &c1[j], ep.Accumulate)
		}
		plainFinish(c0, i*ldc, ep)
		plainFinish(c1, (i+1)*ldc, ep)
	}
	if i < m {
		c0 := c[i*ldc : i*ldc+n]
		if ep.From != nil {
			copy(c0, ep.From[i*ldc:])
		}
		for j := range c0 {
			plainElement(k, a, i*ars, aks, b, j*bcs, brs, &c0[j], ep.Accumulate)
		}
		plainFinish(c0, i*ldc, ep)
	}
}

// plainGemmRead is plainGemm with a function of A, two rows at a time.
func plainGemmRead(m, n, k int, a []float32, ars, aks int, b []float32, brs, bcs int, c []float32, ldc int, ep Epilogue) {
	p, read := takePanels(), ep.Read
	if len(p.a) < 2*k {
		p.a = make([]float32, 2*k)
	}
	ep.Read = nil
	for i := 0; i < m; i += 2 {
		rows := min(2, m-i)
		for r := range rows {
			to := p.a[r*k : (r+1)*k]
			for l := range to {
				to[l] = a[(i+r)*ars+l*aks]
			}
			read(to, to)
		}
		at := i * ldc
		part := ep
		if ep.From != nil {
			part.From = ep.From[at:]
		}
		if ep.Mask != nil {
			part.Mask = ep.Mask[at:]
		}
		plainGemm(rows, n, k, p.a, k, 1, b, brs, bcs, c[at:], ldc, part)
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

// plainTranspose goes in 8×8 blocks, so that both sides stay in cache lines.
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
