// Package format writes numbers, times and amounts in readable form: 184,250, 12m46s, 12.5 MB. It
// does not deal with colours or widths.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes an integer with thousands separated: 184,250.
func Count(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Known is Number of a value that there may not be yet: "-" for NaN.
func Known(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return Number(v)
}

// Number writes a measured value with two or three digits.
func Number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(fmt.Sprint(v), "+")
	case a == 0:
		return "0"
	case a >= 1e5:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 1e-2:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a >= 1e-3:
		return strconv.FormatFloat(v, 'f', 4, 64)
	default:
		return strings.Replace(strconv.FormatFloat(v, 'e', 1, 64), "e-0", "e-", 1)
	}
}

// SpreadOf writes a mean and its deviation, both with the decimals of the mean, or of the larger one where
// both are small.
func SpreadOf(mean, std float64) (string, string) {
	decimals, a := 2, math.Abs(mean)
	larger := max(a, std)
	switch {
	case math.IsNaN(mean) || a >= 1e6 || larger > 0 && larger < 1e-3:
		return Number(mean), Number(std)
	case a >= 100:
		decimals = 0
	case a >= 10:
		decimals = 1
	case larger > 0 && larger < 0.01:
		decimals = 4
	case larger > 0 && larger < 0.1:
		decimals = 3
	}
	return fixed(mean, decimals), fixed(std, decimals)
}

// fixed writes v with so many decimals, and without the sign of a rounded -0.
func fixed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// Rate writes a speed: 412, 8.3.
func Rate(v float64) string {
	if v >= 10 || v == 0 {
		return Count(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// Duration writes a remaining time: 8s, 12m46s, 3h05m.
func Duration(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return "<1s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 100*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd", s/86400)
	}
}

// Lasting is an estimate of a duration.
func Lasting(d time.Duration) string {
	if d < time.Second {
		return "under 1s"
	}
	return "about " + Duration(d)
}

// Counted is a number of things.
func Counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Percent writes a share from 0 to 1 in per cent, such as 12%; what is neither none nor all is <1% or >99%.
func Percent(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return Number(x)
	case x > 0 && x < 0.005:
		return "<1%"
	case x >= 0.995 && x < 1:
		return ">99%"
	}
	return strconv.Itoa(int(100*x+0.5)) + "%"
}

// BytesText writes a number of bytes: 950 B, 12 MiB, 1.5 GiB.
func BytesText(v float64) string {
	switch {
	case v < 0:
		return "-"
	case v >= 1<<30:
		return strconv.FormatFloat(v/(1<<30), 'f', 1, 64) + " GiB"
	case v >= 1<<20:
		return strconv.FormatFloat(v/(1<<20), 'f', 0, 64) + " MiB"
	case v >= 1<<10:
		return strconv.FormatFloat(v/(1<<10), 'f', 0, 64) + " KiB"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " B"
	}
}

// Plural is the word for n things; the plural gets an s.
func Plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Signed is Number with a + before positive numbers.
func Signed(v float64) string {
	if v > 0 {
		return "+" + Number(v)
	}
	return Number(v)
}

// Seconds is a duration of s seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
