package driver

import (
	"strings"
	"testing"
)

func TestNeed(t *testing.T) {
	text := func(version, target string) string {
		return "// by a compiler\n.version " + version + "\n.target " + target + "\n.address_size 64\n"
	}
	for _, c := range []struct {
		version, target string
		want            Need
		least           string
		runs, not       [2]int
	}{
		{"7.0", "sm_80", Need{[2]int{7, 0}, 80, false}, "450.80.02 (CUDA 11.0)", [2]int{9, 0}, [2]int{7, 5}},
		{"8.0", "sm_90a", Need{[2]int{8, 0}, 90, true}, "525.60.13 (CUDA 12.0)", [2]int{9, 0}, [2]int{10, 0}},
		{"6.0", "sm_70", Need{[2]int{6, 0}, 70, false}, "450.80.02 (CUDA 11.0)", [2]int{8, 6}, [2]int{6, 1}}, // the binding needs 11.0
		{"8.6", "sm_100", Need{[2]int{8, 6}, 100, false}, "570.26 (CUDA 12.8)", [2]int{12, 0}, [2]int{9, 0}}, // 8.6 had no release of its own
	} {
		n, err := ReadNeed(text(c.version, c.target))
		if err != nil || n != c.want {
			t.Errorf("%s %s: %+v, %v", c.version, c.target, n, err)
		}
		if least, known := n.Least(); !known || least.String() != c.least {
			t.Errorf("%s: least driver %v, want %s", c.version, least, c.least)
		}
		if !n.Suits(c.runs) || n.Suits(c.not) {
			t.Errorf("%s: on %v %t, on %v %t", c.target, c.runs, n.Suits(c.runs), c.not, n.Suits(c.not))
		}
	}
	least, err := MinDriver(text("7.0", "sm_80"), text("8.0", "sm_90a"), text("6.0", "sm_70"))
	if err != nil || least.CUDA != 12000 {
		t.Errorf("for all of them: %v, %v", least, err)
	}
	if _, err := MinDriver(text("99.0", "sm_80")); err == nil {
		t.Error("a PTX of the future has a least driver")
	}
	if _, err := ReadNeed("int main() {}"); err == nil {
		t.Error("C is read as PTX")
	}
}

// The table of releases is in order: the first release that fits is the lowest.
func TestReleasesAreInOrder(t *testing.T) {
	for i := 1; i < len(releases); i++ {
		a, b := releases[i-1], releases[i]
		if !older(a.isa, b.isa) || a.CUDA >= b.CUDA || len(a.Driver) == 0 || strings.Compare(a.Driver, b.Driver) >= 0 {
			t.Errorf("%v stands before %v", a, b)
		}
	}
}
