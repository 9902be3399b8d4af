package command

import (
	"github.com/spf13/cobra"

	"pgrlab/core/relevance"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// relevanceValue is a relevance function as JSON.
type relevanceValue struct {
	Name     string `json:"name"`
	Doc      string `json:"doc"`
	Equation string `json:"equation"`
	Source   string `json:"source"`
}

func relevanceValues() []relevanceValue {
	var all []relevanceValue
	for _, s := range relevance.Specs() {
		all = append(all, relevanceValue{s.Name, s.Doc, s.Equation, s.Source})
	}
	return all
}

func relevanceRows(cli.Deps) [][]string {
	var rows [][]string
	for _, s := range relevance.Specs() {
		rows = append(rows, []string{s.Name, s.Equation, s.Doc})
	}
	return rows
}

// relevanceFoot says that F may be a formula, and lists those that presets have names for.
func relevanceFoot() []string {
	return []string{
		"F is also a formula of these and of the transition: --set relevance='0.7*rank(td) + 0.3*rank(curiosity)'",
		"pgrlab list formulas: what a formula can name; [relevance.NAME] formula = '…' in a preset gives one a name",
	}
}

// formulaValue is a name or a function of formulas as JSON.
type formulaValue struct {
	Name string `json:"name"`
	Use  string `json:"use"` // as in a formula
	Doc  string `json:"doc"`
}

func formulaValues() []formulaValue {
	var all []formulaValue
	for _, w := range relevance.Words() {
		all = append(all, formulaValue{w.Name, w.Use, w.Doc})
	}
	return all
}

func formulaRows(cli.Deps) [][]string {
	var rows [][]string
	for _, v := range formulaValues() {
		rows = append(rows, []string{v.Use, v.Doc})
	}
	return rows
}

// listsFormulas makes the list of functions one of the formulas in a preset as well, if one is given.
func listsFormulas(c *cobra.Command, asJSON *bool) {
	preset := ""
	c.Flags().StringVar(&preset, "preset", "", "list the formulas that this `NAME|FILE` has names for")
	c.Example = `  pgrlab list relevance
  pgrlab list relevance --preset mine.toml`
	functions := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if preset == "" {
			return functions(c, args)
		}
		made, err := presets.Resolve(presets.Choice{Preset: preset})
		if err != nil {
			return err
		}
		values, rows := []relevanceValue{}, [][]string{}
		for _, name := range made.FormulaNames() {
			f := made.Formulas[name]
			values, rows = append(values, relevanceValue{name, f.Doc, f.Formula, preset}), append(rows, []string{name, f.Formula, f.Doc})
		}
		if *asJSON {
			return cli.WriteJSON(c.OutOrStdout(), values)
		}
		return cli.WriteTable(c.OutOrStdout(), []string{"F", "FORMULA", ""}, rows)
	}
}
