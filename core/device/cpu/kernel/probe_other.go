//go:build !amd64

package kernel

import "runtime"

func probe() ([]*Family, map[string]string) {
	why := "there is no assembly for " + runtime.GOARCH + " yet"
	return []*Family{plain}, map[string]string{"avx2": why, "avx512": why}
}
