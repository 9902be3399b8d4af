package knob

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// counts matches the forms of a whole number: 20000, 20_000, 20,000, 20k, 1.5M, 1e6.
var counts = regexp.MustCompile(`^([0-9][0-9_]*|[0-9]{1,3}(?:,[0-9]{3})+)(\.[0-9]+)?(?:[eE]\+?([0-9]{1,2}))?(?: ?([kKmMgG]))?$`)

// powers holds the power of ten for each letter.
var powers = map[string]string{"": "0", "k": "3", "m": "6", "g": "9"}

// ParseCount reads a count in the forms that people and the charts write:
// 20000, 20_000, 20,000, 20k, 1.5M, 1e6. It must be whole and not negative.
func ParseCount(text string) (int, error) {
	parts := counts.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("%q is no count: want a whole number, for example 20000, 20k or 1.5M", text)
	}
	x, _ := new(big.Rat).SetString(strings.NewReplacer("_", "", ",", "").Replace(parts[1]) + parts[2])
	exponents := []string{powers[strings.ToLower(parts[4])]}
	if parts[3] != "" {
		exponents = append(exponents, parts[3])
	}
	for _, e := range exponents { // two digits at most, so the number stays short
		power, _ := new(big.Rat).SetString("1e" + e)
		x.Mul(x, power)
	}
	if !x.IsInt() {
		return 0, fmt.Errorf("%q is no count: it is not whole", text)
	}
	if x.Num().Cmp(big.NewInt(math.MaxInt)) > 0 {
		return 0, fmt.Errorf("%q is no count: it is too large", text)
	}
	return int(x.Num().Int64()), nil
}

// FormatCount writes 10000 as 10,000.
func FormatCount(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
