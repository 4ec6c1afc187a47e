package small

import "testing"

func TestCount(t *testing.T) {
	if count := Count([]int{1, 2, 3}, 2); count != 2 {
		t.Error(count)
	}
}

func TestIsMeagre(t *testing.T) {
	for n, want := range map[int]bool{5: false, 19: true, 20: false} {
		if is := IsMeagre(n); is != want {
			t.Error(n, is)
		}
	}
}

func TestCheck(t *testing.T) {
	if Check(0) == nil || Check(1) != nil {
		t.Error("checks nothing")
	}
}

func TestEqual(t *testing.T) {
	if !Equal(1, 1) {
		t.Error("differ")
	}
}

func TestTold(t *testing.T) {
	if told := Told(); len(told) != 1 {
		t.Error(told)
	}
}
