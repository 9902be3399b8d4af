package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// longVariant is the most characters of a variant that stands in full in each table.
const longVariant = 20

// nameRows gives each row the name that tables call it by. Long variants have a number in it
// instead, the same one in all rows of the variant.
func nameRows(tasks []*Task) {
	var long []string
	for _, t := range tasks {
		for _, r := range t.Rows {
			r.name = r.Label
			if utf8.RuneCountInString(r.Variant) <= longVariant {
				continue
			}
			at := slices.Index(long, r.Variant)
			if at < 0 {
				at = len(long)
				long = append(long, r.Variant)
			}
			number := fmt.Sprintf("variant %d", at+1)
			r.name = strings.Replace(r.Label, r.Variant, number, 1)
			if text := fmt.Sprintf("%s: %s", number, r.Variant); !slices.Contains(t.variants, text) {
				t.variants = append(t.variants, text)
			}
		}
	}
}
