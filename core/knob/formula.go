package knob

import (
	"fmt"

	"pgrlab/core/relevance"
)

// TakesFormulas says whether a value may also be a formula, "=" and its text.
func (k Knob) TakesFormulas() bool { return k.Name == "relevance" }

// Word is what a formula can contain: a name, or a function with its arguments.
type Word = relevance.Word

// Words lists what a formula for the knob can contain; nil if it takes none.
func (k Knob) Words() []Word {
	if !k.TakesFormulas() {
		return nil
	}
	return relevance.Words()
}

// canonical is a formula as runs keep it; a name stays as it is.
func (k Knob) canonical(text string) (string, error) {
	text, err := relevance.Canonical(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", k.Name, err)
	}
	return text, nil
}
