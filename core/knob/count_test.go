package knob

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "7": 7, "20000": 20_000, "20_000": 20_000, "20,000": 20_000, "1,234,567": 1_234_567, "20k": 20_000, "20K": 20_000,
		"1.5M": 1_500_000, "1.1M": 1_100_000, "0.001k": 1, "1e6": 1_000_000, "1.5e+3": 1_500, "2G": 2_000_000_000, " 20 k ": 20_000,
		"9223372036854775807": 9223372036854775807, "007": 7,
	} {
		if got, err := ParseCount(text); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "k", "many", "-1", "1.5", "1.2345k", "0x10", "1/3", "1e-3", "1e99", "1e999999999", "9223372036854775808", "1,5", "1,50", "12345,678",
		"1k5", "20kk", "NaN", "Inf", "1e", ".5k", "20 000", "_1", "1 M 2",
	} {
		if got, err := ParseCount(text); err == nil {
			t.Errorf("ParseCount(%q) = %d, want an error", text, got)
		} else if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("ParseCount(%q): %v", text, err)
		}
	}
}

// A step may be written as a count, and a knob as its symbol; both are stored in their plain form.
func TestScheduledSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"20k:guidance=3": "20000:guidance=3", "1.5M/fit:2k:ω=3!": "1500000/fit:2000:guidance=3!", "1e3:UTD=4": "1000:utd=4", "5:F=td": "5:relevance=td",
	} {
		s, err := ParseScheduled(text)
		if err != nil || s.String() != want {
			t.Errorf("ParseScheduled(%q) = %q, %v; want %q", text, s.String(), err, want)
		}
	}
	for _, k := range All() {
		for _, name := range []string{k.Name, k.Symbol, "knobs." + k.Name} {
			if name == "" {
				continue
			}
			found, err := Find(name)
			if err != nil || found.Name != k.Name {
				t.Errorf("Find(%q) = %q, %v; want %q", name, found.Name, err, k.Name)
			}
			s, err := ParseScheduled("1:" + name + "=1")
			if err != nil || s.Knob != k.Name {
				t.Errorf("schedule of %q names %q, %v; want %q", name, s.Knob, err, k.Name)
			}
		}
	}
	k, err := Find("generator_steps")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := k.Parse("2.5k"); err != nil || v != Number(2500) {
		t.Errorf("generator_steps 2.5k is %v, %v", v, err)
	}
}

func FuzzParseCount(f *testing.F) {
	for _, s := range []string{"20k", "1.5M", "1e6", "20,000", "1e99", "-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseCount(text)
		if err == nil && n < 0 {
			t.Fatalf("ParseCount(%q) = %d", text, n)
		}
		if again, e := ParseCount(fmt.Sprint(n)); err == nil && (e != nil || again != n) {
			t.Fatalf("%d does not read back: %d, %v", n, again, e)
		}
	})
}
