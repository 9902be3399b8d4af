package driver

import (
	"fmt"
	"regexp"
	"strconv"
)

// Need is what a PTX text requires of driver and device, according to its first directives.
type Need struct {
	ISA [2]int // .version: the PTX language, 7.0
	SM  int    // .target: 80 of sm_80
	// Only means that the text uses features that later devices may lack (sm_90a) and runs only on
	// that compute capability. Other texts run on it and on all later ones.
	Only bool
}

var (
	versionDirective = regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`)
	targetDirective  = regexp.MustCompile(`(?m)^\s*\.target\s+sm_(\d+)([a-z]?)`)
)

// ReadNeed reads .version and .target.
func ReadNeed(ptx string) (Need, error) {
	v, t := versionDirective.FindStringSubmatch(ptx), targetDirective.FindStringSubmatch(ptx)
	if v == nil || t == nil {
		return Need{}, fmt.Errorf("read PTX: it has no .version or no .target sm_…")
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // only digits, by the pattern
	return Need{ISA: [2]int{number(v[1]), number(v[2])}, SM: number(t[1]), Only: t[2] != ""}, nil
}

// Suits reports whether a device of that compute capability can run the text.
func (n Need) Suits(capability [2]int) bool {
	has := 10*capability[0] + capability[1]
	if n.Only {
		return has == n.SM
	}
	return has >= n.SM
}

// Release is a release of NVIDIA's driver for Linux.
type Release struct {
	CUDA   int    // in the form of Driver.Version
	Driver string // the first Linux driver with that CUDA
}

func (r Release) String() string {
	return fmt.Sprintf("%s (CUDA %s)", r.Driver, VersionText(r.CUDA))
}

// releases lists the first driver that compiles each version of PTX, from the table of PTX releases
// in NVIDIA's PTX ISA and the driver versions in the release notes of the CUDA toolkit. The
// compatibility within one major version of CUDA does not apply to PTX, which the driver itself
// must understand. For CUDA 11.0 it is the release that NVIDIA names for all of 11.x; earlier ones
// were previews.
var releases = []struct {
	isa [2]int
	Release
}{
	{[2]int{6, 0}, Release{9000, "384.81"}},
	{[2]int{6, 1}, Release{9010, "390.46"}},
	{[2]int{6, 2}, Release{9020, "396.26"}},
	{[2]int{6, 3}, Release{10000, "410.48"}},
	{[2]int{6, 4}, Release{10010, "418.39"}},
	{[2]int{6, 5}, Release{10020, "440.33"}},
	{[2]int{7, 0}, Release{11000, "450.80.02"}},
	{[2]int{7, 1}, Release{11010, "455.23"}},
	{[2]int{7, 2}, Release{11020, "460.27.03"}},
	{[2]int{7, 3}, Release{11030, "465.19.01"}},
	{[2]int{7, 4}, Release{11040, "470.42.01"}},
	{[2]int{7, 5}, Release{11050, "495.29.05"}},
	{[2]int{7, 6}, Release{11060, "510.39.01"}},
	{[2]int{7, 7}, Release{11070, "515.43.04"}},
	{[2]int{7, 8}, Release{11080, "520.61.05"}},
	{[2]int{8, 0}, Release{12000, "525.60.13"}},
	{[2]int{8, 1}, Release{12010, "530.30.02"}},
	{[2]int{8, 2}, Release{12020, "535.54.03"}},
	{[2]int{8, 3}, Release{12030, "545.23.06"}},
	{[2]int{8, 4}, Release{12040, "550.54.14"}},
	{[2]int{8, 5}, Release{12050, "555.42.02"}},
	{[2]int{8, 7}, Release{12080, "570.26"}},
	{[2]int{8, 8}, Release{12090, "575.51.03"}},
	{[2]int{9, 0}, Release{13000, "580.65.06"}},
}

// first is the minimum release for every driver, whatever the PTX: the functions that the binding
// calls came with it.
const first = 11000

// Least returns the first driver that can run the text; false if the table ends before the text's
// .version.
func (n Need) Least() (Release, bool) {
	for _, r := range releases {
		if r.CUDA >= first && !older(r.isa, n.ISA) {
			return r.Release, true
		}
	}
	return Release{}, false
}

func older(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// MinDriver returns the first driver that can run all these PTX texts.
func MinDriver(ptx ...string) (Release, error) {
	all := Need{}
	for _, text := range ptx {
		n, err := ReadNeed(text)
		if err != nil {
			return Release{}, err
		}
		if older(all.ISA, n.ISA) {
			all.ISA = n.ISA
		}
	}
	r, known := all.Least()
	if !known {
		return r, fmt.Errorf("find the least driver: PTX %d.%d is newer than the table: add it to the driver's releases", all.ISA[0], all.ISA[1])
	}
	return r, nil
}

// VersionText writes 12040 as 12.4.
func VersionText(version int) string { return fmt.Sprintf("%d.%d", version/1000, version%1000/10) }

// Accepts refuses PTX that the driver or the device cannot run; the error says what would run it.
func Accepts(ptx string, version int, d Info) error {
	need, err := ReadNeed(ptx)
	if err != nil {
		return err
	}
	if least, known := need.Least(); known && version < least.CUDA {
		return fmt.Errorf("load kernels: they need driver %s, and this one has CUDA %s: install a newer driver or use --device cpu", least, VersionText(version))
	}
	if !need.Suits(d.Capability) {
		return fmt.Errorf("load kernels: they are for sm_%d, and %s has compute capability %d.%d: use another GPU or --device cpu", need.SM, d.Name, d.Capability[0], d.Capability[1])
	}
	return nil
}
