package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/printable"
)

// written matches the numbers that results files are written with. strconv reads others too, such as
// 0x10, NaN and Infinity, which come from other programs or from a mistake.
var written = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]Inf$`)

// neverNegative are quantities of which a negative number is a mistake.
var neverNegative = []string{
	"evaluated/return_std", "evaluated/episodes", dormantRatio, "generated/coverage", "generated/copies",
}

// measured reads the number of a quantity. An infinite one is what a run wrote that diverged, and so is
// a return of NaN; of other quantities NaN is never written.
func measured(name, text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case name == Return && text == "NaN":
		return value, nil
	case err != nil || !written.MatchString(text):
		return 0, badCell(name, text, "want a number such as 12.5 or 1e-06")
	case value < 0 && slices.Contains(neverNegative, name):
		return 0, badCell(name, text, "want a number of at least 0")
	}
	return value, nil
}

func badCell(column, text, want string) error {
	if text == "" {
		return fmt.Errorf("column %s is empty: %s", printable.Line(column), want)
	}
	return fmt.Errorf("column %s: %.40q: %s", printable.Line(column), printable.Line(text), want)
}

// checkResultRow returns an error if a row cannot be one of a results file.
func (f *resultsFile) checkResultRow(row []string, one *Run, at Point) error {
	for _, column := range []int{0, 1, 2, 4} { // a run of any variant has them
		if strings.TrimSpace(row[column]) == "" {
			return badCell(resultColumns[column], row[column], "want its name")
		}
	}
	switch {
	case one.Step < 0:
		return badCell(resultColumns[6], row[6], "want a number of at least 0")
	case at.Step < 0 || at.Step > one.Step:
		return badCell(resultColumns[9], row[9], fmt.Sprintf("want a step from 0 to %d", one.Step))
	case !written.MatchString(row[10]) || at.WallS < 0 || math.IsInf(at.WallS, 0):
		return badCell(resultColumns[10], row[10], "want a number of at least 0")
	}
	cell := func(name string) string {
		if i := slices.Index(f.quantities, name); i >= 0 {
			return row[len(resultColumns)+i]
		}
		return ""
	}
	if cell(Return) == "" && cell("evaluated/return_std") != "" {
		return badCell(Return, "", "an evaluation has a return beside its evaluated/return_std")
	}
	return nil
}
