package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// eventType is the message Event, as far as a run needs it, from its definition
// (tensorflow/tensorflow: tensorflow/core/util/event.proto, framework/summary.proto).
func eventType(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: &name, Number: &number, Type: &kind, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	message := func(name string, number int32, of string) *descriptorpb.FieldDescriptorProto {
		f := field(name, number, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
		f.TypeName = &of
		return f
	}
	values := message("value", 1, ".tensorflow.Summary.Value")
	values.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("event.proto"), Package: proto.String("tensorflow"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Event"), Field: []*descriptorpb.FieldDescriptorProto{
				field("wall_time", 1, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE),
				field("step", 2, descriptorpb.FieldDescriptorProto_TYPE_INT64),
				field("file_version", 3, descriptorpb.FieldDescriptorProto_TYPE_STRING),
				message("summary", 5, ".tensorflow.Summary"),
				message("session_log", 7, ".tensorflow.SessionLog"),
			}},
			{Name: proto.String("SessionLog"), Field: []*descriptorpb.FieldDescriptorProto{field("status", 1, descriptorpb.FieldDescriptorProto_TYPE_INT32)}}, // an enum there
			{Name: proto.String("Summary"), Field: []*descriptorpb.FieldDescriptorProto{values},
				NestedType: []*descriptorpb.DescriptorProto{{Name: proto.String("Value"), Field: []*descriptorpb.FieldDescriptorProto{
					field("tag", 1, descriptorpb.FieldDescriptorProto_TYPE_STRING),
					field("simple_value", 2, descriptorpb.FieldDescriptorProto_TYPE_FLOAT),
				}}}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName("Event")
}

// readEvents reads records according to the specification of TFRecord files, checksums included,
// and lists their events: step, tag and value.
func readEvents(t *testing.T, r io.Reader, of protoreflect.MessageDescriptor) (all []string) {
	t.Helper()
	check := func(what string, data []byte, sum uint32) {
		crc := sum - 0xa282ead8 // unmasked like in LevelDB's and TensorFlow's readers
		crc = crc>>17 | crc<<15
		if got := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)); got != crc {
			t.Fatalf("checksum of %s is %08x, want %08x", what, crc, got)
		}
	}
	for {
		head := make([]byte, 12)
		if _, err := io.ReadFull(r, head); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		check("a length", head[:8], binary.LittleEndian.Uint32(head[8:]))
		data := make([]byte, binary.LittleEndian.Uint64(head)+4)
		if _, err := io.ReadFull(r, data); err != nil {
			t.Fatal(err)
		}
		data, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
		check("a record", data, sum)
		e := dynamicpb.NewMessage(of)
		if err := proto.Unmarshal(data, e); err != nil {
			t.Fatal(err)
		}
		if left := e.GetUnknown(); len(left) > 0 {
			t.Errorf("an event has fields that TensorBoard does not know: %x", left)
		}
		get := func(m protoreflect.Message, name string) protoreflect.Value {
			return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
		}
		if v := get(e, "file_version").String(); v != "" {
			all = append(all, v)
		}
		if s := get(get(e, "session_log").Message(), "status").Int(); s != 0 {
			all = append(all, fmt.Sprintf("session %d at %d", s, get(e, "step").Int()))
		}
		values := get(get(e, "summary").Message(), "value").List()
		for i := range values.Len() {
			v := values.Get(i).Message()
			all = append(all, fmt.Sprintf("%g %d %s %g", get(e, "wall_time").Float(), get(e, "step").Int(), get(v, "tag").String(), get(v, "simple_value").Float()))
		}
	}
}

// An independent reader reads the events of a run.
func TestEventsAreReadBack(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "m", 1, []float64{1.5, -2, math.Inf(1)})
	var b bytes.Buffer
	if err := r.TensorBoard(&b); err != nil {
		t.Fatal(err)
	}
	got := readEvents(t, &b, eventType(t))
	if len(got) < 4 || got[0] != "brain.Event:2" || got[1] != "session 1 at 0" {
		t.Fatalf("%q", got)
	}
	for i, want := range []string{"1000 evaluated/return_mean 1.5", "2000 evaluated/return_mean -2", "3000 evaluated/return_mean +Inf"} {
		found := 0
		for _, e := range got {
			if strings.HasSuffix(e, " "+want) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d: %d events %s in %q", i, found, want, got)
		}
	}
}

// numpy, if it is installed, reads the npz file.
func TestNumpyReadsTransitions(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy").Run() == nil {
			python = p
		}
	}
	if python == "" {
		t.Skip("no python3 with numpy here")
	}
	path := filepath.Join(t.TempDir(), "b.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := NPZ(f, rows{{1, 2, 3, 4, 5, 6, 0}, {7, 8, 9, 10, 11, 12, 1}}, &Episodes{[]int32{3, 7}, []float32{1, 0}}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	out, err := exec.Command(python, "-c", `
import numpy, sys
z = numpy.load(sys.argv[1])
for name in sorted(z.files): print(name, z[name].dtype, z[name].shape, z[name].ravel().tolist())`, path).CombinedOutput()
	want := `actions float32 (2, 1) [3.0, 9.0]
episode int32 (2,) [3, 7]
next_observations float32 (2, 2) [5.0, 6.0, 11.0, 12.0]
observations float32 (2, 2) [1.0, 2.0, 7.0, 8.0]
rewards float32 (2,) [4.0, 10.0]
terminals float32 (2,) [0.0, 1.0]
timeouts float32 (2,) [1.0, 0.0]
`
	if err != nil || string(out) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, out, want)
	}
}
