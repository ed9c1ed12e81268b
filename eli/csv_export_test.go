package eli

var CheckUnchanged = checkUnchanged
