// Pgrlab is a terminal lab for prioritized generative replay (Wang et al., ICLR 2025).
package main

import (
	"context"
	"os"

	"pgrlab/tui/program"
)

func main() {
	os.Exit(program.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
