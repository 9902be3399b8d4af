package plan

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/op"
)

// A state is read as it was written and no byte beyond; one that ends anywhere before its end is cut off.
func TestTheParts(t *testing.T) {
	type numbers struct {
		Step uint64
		On   bool
	}
	made := func() (*numbers, []float32, Tensors) {
		return &numbers{}, make([]float32, 2), Tensors{Of: []*op.Tensor{op.NewTensor("w", 3)}}
	}
	n, list, w := made()
	n.Step, n.On = 7, true
	copy(list, []float32{1, 2})
	copy(w.Of[0].Data, []float32{3, 4, 5})
	var file bytes.Buffer
	if err := SaveAll(&file, *n, list, w); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(file.Bytes())
	file.WriteString("more")
	n2, list2, w2 := made()
	if err := LoadAll(&file, n2, list2, w2); err != nil || file.String() != "more" {
		t.Fatal(err, file.String())
	}
	if *n2 != *n || !slices.Equal(list2, list) || !slices.Equal(w2.Of[0].Data, w.Of[0].Data) {
		t.Errorf("%v, %v and %v were read", *n2, list2, w2.Of[0].Data)
	}
	for i := range whole {
		if err := LoadAll(bytes.NewReader(whole[:i]), n2, list2, w2); err == nil || !strings.HasSuffix(err.Error(), "the file is cut off") {
			t.Errorf("%d of %d bytes: %v", i, len(whole), err)
		}
	}
}
