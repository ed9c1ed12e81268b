package catalogsuite

var Cases = cases
