package kernel

import "golang.org/x/sys/cpu"

// probe finds the families that this CPU runs, and runs correctly: an assembly family that
// disagrees with the plain one is refused.
func probe() (found []*Family, refused map[string]string) {
	x := cpu.X86
	hasAVX2 := x.HasAVX2 && x.HasFMA && x.HasBMI2
	hasAVX512 := hasAVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
	refused = map[string]string{}
	for _, candidate := range []struct {
		name, needs string
		has         bool
		make        func() (*Family, error)
	}{
		{"amx", "AMX (tile, bf16) or AVX-512", hasAVX512 && x.HasAMXTile && x.HasAMXBF16, tiledFamily},
		{"avx512", "AVX-512 (F, BW, DQ, VL)", hasAVX512, func() (*Family, error) { return avx512.family("avx512"), nil }},
		{"avx2", "AVX2, FMA or BMI2", hasAVX2, func() (*Family, error) { return avx2.family("avx2"), nil }},
	} {
		if !candidate.has {
			refused[candidate.name] = "this CPU lacks " + candidate.needs
			continue
		}
		f, err := candidate.make()
		if err != nil {
			refused[candidate.name] = err.Error()
			continue
		}
		if err := agrees(f); err != nil {
			refused[candidate.name] = "its self-check failed: " + err.Error()
			continue
		}
		found = append(found, f)
	}
	return append(found, plain), refused
}
