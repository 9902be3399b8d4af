package kernel

import "golang.org/x/sys/cpu"

// probe finds what this CPU runs.
func probe() (found []*Family, refused map[string]string) {
	refused = map[string]string{"avx512": "not built in yet"}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2 {
		found = append(found, avx2.family("avx2"))
	} else {
		refused["avx2"] = "this CPU lacks AVX2 or FMA"
	}
	return append(found, plain), refused
}
