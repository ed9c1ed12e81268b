package sourcetest

var Cases = cases
