package dataset

import _ "embed"

// Adapter is a Python file that converts recorded transitions with the libraries that their
// formats need.
//
//go:embed pgrlab_data.py
var Adapter []byte
