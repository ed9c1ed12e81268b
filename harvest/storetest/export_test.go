package storetest

var Cases = cases
