package presets

import (
	"fmt"
	"strings"

	"pgrlab/core/config"
)

// Set changes one key of a configuration, by its dotted name as in config.toml:
// generator.width to 512. Text needs no quotes.
func Set(c *config.Config, key, value string) error {
	if strings.ContainsAny(key+value, "\n\r") {
		return fmt.Errorf("set %q=%q: want a key and one value", key, value)
	}
	before, err := tree(*c)
	if err != nil {
		return err
	}
	tables := strings.Split(key, ".")
	last := len(tables) - 1
	var present any = before
	for _, name := range tables {
		table, _ := present.(map[string]any)
		present = table[name]
	}
	if _, isText := present.(string); isText && !strings.HasPrefix(value, `"`) {
		value = fmt.Sprintf("%q", value)
	}
	doc := fmt.Sprintf("%s = %s\n", tables[last], value)
	if last > 0 {
		doc = fmt.Sprintf("[%s]\n%s", strings.Join(tables[:last], "."), doc)
	}
	changed := *c
	if err := decode("--set", doc, &changed); err != nil {
		return fmt.Errorf("set %s=%s: %s", key, value, strings.TrimPrefix(err.Error(), "read preset: "))
	}
	*c = changed
	return nil
}
