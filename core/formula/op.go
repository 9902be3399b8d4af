package formula

import "math"

// op is an operation of a program.
type op uint8

const (
	opNone   op = iota
	opRead      // elements of a quantity
	opDraw      // random numbers
	opJoin      // numbers and vectors one after another
	opSelect    // args[0] ? args[1] : args[2]
	opColumn    // what a column says of args[0], or in itself: its slot is the number of the column

	// Of one number.
	opNegate
	opNot
	opAbs
	opSign
	opSqrt
	opExp
	opLog
	opLog1p
	opTanh
	opSigmoid
	opFloor
	opSin
	opCos
	opTolerance

	// Of two numbers.
	opAdd
	opSubtract
	opMultiply
	opDivide
	opRemainder
	opPower
	opMin
	opMax
	opLess
	opLessEqual
	opEqual
	opUnequal
	opAnd
	opOr

	// Of the elements of a vector.
	opSum
	opMean
	opLeast
	opMost
	opNorm
	opDot
)

// do is the operation of in for each number.
func (in *instruction) do(out, a, b []float64) {
	switch {
	case in.op == opTolerance:
		for i, x := range a[:len(out)] {
			out[i] = in.shape.Of(x)
		}
	case b == nil:
		unaryOps(in.op, out, a)
	default:
		binaryOps(in.op, out, a, b)
	}
}

func unaryOps(o op, out, a []float64) {
	a = a[:len(out)]
	switch o {
	case opNegate:
		for i, x := range a {
			out[i] = -x
		}
	case opNot:
		for i, x := range a {
			out[i] = of(x == 0)
		}
	case opAbs:
		for i, x := range a {
			out[i] = math.Abs(x)
		}
	case opSqrt:
		for i, x := range a {
			out[i] = math.Sqrt(x)
		}
	case opFloor:
		for i, x := range a {
			out[i] = math.Floor(x)
		}
	default:
		f := ofNumber[o]
		for i, x := range a {
			out[i] = f(x)
		}
	}
}

// ofNumber has the operations that take longer than a call.
var ofNumber = [...]func(float64) float64{
	opExp: math.Exp, opLog: math.Log, opLog1p: math.Log1p, opTanh: math.Tanh, opSin: math.Sin, opCos: math.Cos,
	opSigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	opSign: func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x // 0, and what is no number
	},
}

func binaryOps(o op, out, a, b []float64) {
	a, b = a[:len(out)], b[:len(out)]
	switch o {
	case opAdd:
		for i, x := range a {
			out[i] = x + b[i]
		}
	case opSubtract:
		for i, x := range a {
			out[i] = x - b[i]
		}
	case opMultiply:
		for i, x := range a {
			out[i] = x * b[i]
		}
	case opDivide:
		for i, x := range a {
			out[i] = x / b[i]
		}
	case opMin:
		for i, x := range a {
			out[i] = min(x, b[i])
		}
	case opMax:
		for i, x := range a {
			out[i] = max(x, b[i])
		}
	case opRemainder:
		for i, x := range a {
			out[i] = math.Mod(x, b[i])
		}
	case opPower:
		for i, x := range a {
			out[i] = math.Pow(x, b[i])
		}
	default:
		compareOps(o, out, a, b)
	}
}

func compareOps(o op, out, a, b []float64) {
	switch o {
	case opLess:
		for i, x := range a {
			out[i] = of(x < b[i])
		}
	case opLessEqual:
		for i, x := range a {
			out[i] = of(x <= b[i])
		}
	case opEqual:
		for i, x := range a {
			out[i] = of(x == b[i])
		}
	case opUnequal:
		for i, x := range a {
			out[i] = of(x != b[i])
		}
	case opAnd:
		for i, x := range a {
			out[i] = of(x != 0 && b[i] != 0)
		}
	case opOr:
		for i, x := range a {
			out[i] = of(x != 0 || b[i] != 0)
		}
	}
}
