package envs

import (
	"testing"

	"pgrlab/envs/render"
)

// Frames are drawn through the camera that is named.
func TestCamerasByTheirNames(t *testing.T) {
	for _, task := range Tasks() {
		name := task.Camera()
		if name == "" {
			t.Errorf("%s has no name for its camera", task.Name)
		}
		in, err := instance()
		if err != nil {
			t.Fatal(err)
		}
		p, err := newPhysics(in, &task)
		if err != nil {
			t.Fatal(err)
		}
		var drawn, named, other render.Scene
		if err := setCamera(&drawn, p, cameraOf(task.Name)); err != nil {
			t.Fatal(err)
		}
		if err := setCamera(&named, p, name); err != nil {
			t.Errorf("%s: camera %q: %v", task.Name, name, err)
		}
		if drawn.Camera != named.Camera {
			t.Errorf("%s: camera %q is another one than it is drawn through", task.Name, name)
		}
		if setCamera(&other, p, "nosuch") == nil {
			t.Errorf("%s has a camera that it has not", task.Name)
		}
		in.Close()
	}
}
