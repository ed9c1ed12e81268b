package catalogtest

var Cases = cases
