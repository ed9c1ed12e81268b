//go:build !race

package sitemap_test

const race = false
