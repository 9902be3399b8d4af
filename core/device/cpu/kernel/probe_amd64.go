package kernel

import "golang.org/x/sys/cpu"

// probe finds what this CPU runs, and runs right: an assembly family that
// disagrees with the plain one is refused, not used.
func probe() (found []*Family, refused map[string]string) {
	x := cpu.X86
	hasAVX2 := x.HasAVX2 && x.HasFMA && x.HasBMI2
	refused = map[string]string{}
	for _, candidate := range []struct {
		name, needs string
		has         bool
		machine     *machine
	}{
		{"avx512", "AVX-512 (F, BW, DQ, VL)", hasAVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL, avx512},
		{"avx2", "AVX2, FMA or BMI2", hasAVX2, avx2},
	} {
		if !candidate.has {
			refused[candidate.name] = "this CPU lacks " + candidate.needs
			continue
		}
		f := candidate.machine.family(candidate.name)
		if err := agrees(f); err != nil {
			refused[candidate.name] = "its self-check failed: " + err.Error()
			continue
		}
		found = append(found, f)
	}
	return append(found, plain), refused
}
